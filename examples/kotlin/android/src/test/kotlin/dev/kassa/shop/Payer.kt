package dev.kassa.shop

import dev.kassa.Card
import dev.kassa.PollPolicy
import dev.kassa.sandbox.Sandbox
import dev.kassa.sandbox.TestCard
import java.net.URI
import java.net.http.HttpClient
import java.net.http.HttpRequest
import java.net.http.HttpRequest.BodyPublishers
import java.net.http.HttpResponse.BodyHandlers
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.minutes

/** A payer who does not come back is waited for in vain: no test passes by asking often enough. */
val SELDOM = PollPolicy(10.minutes, 20.minutes)
val OFTEN = PollPolicy(50.milliseconds, 5.minutes)

fun card(card: TestCard) = Card(card.pan, "12", 2099, "123", "Aibek Asanov")

fun backend(sandbox: Sandbox, policy: PollPolicy = SELDOM) = DemoBackend(sandbox.baseUrl, policy)

/** What the payer's browser does on the bank's page; where it is sent to then. */
fun enterOtp(page: String, otp: String): String {
    val request = HttpRequest.newBuilder(URI(page))
        .header("Content-Type", "application/x-www-form-urlencoded")
        .POST(BodyPublishers.ofString("otp=$otp"))
        .build()
    val answer = HttpClient.newHttpClient().send(request, BodyHandlers.ofString())
    return answer.headers().firstValue("Location").orElseThrow()
}
