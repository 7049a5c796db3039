package dev.kassa.checkout

import dev.kassa.sandbox.Sandbox.Provider
import dev.kassa.sandbox.TestCards
import dev.kassa.sandbox.TestPhones
import kotlinx.coroutines.future.await
import java.io.IOException
import java.net.URI
import java.net.URLEncoder
import java.net.http.HttpClient
import java.net.http.HttpRequest
import java.net.http.HttpRequest.BodyPublishers
import java.net.http.HttpResponse
import java.net.http.HttpResponse.BodyHandlers
import java.time.Duration

/** A page of the sandbox answers at once. */
private val PATIENCE = Duration.ofSeconds(15)

/** The fields of one form. */
typealias Form = Map<String, String>

/** How a visit ended. */
enum class Visit {
    /** The gateway sent the payer back to the shop, and the payer went. */
    RETURNED,

    /** It ended on a page of the gateway. */
    STAYED_THERE,
}

/** Plays the payer over real HTTP: opens the sandbox's pages, posts their forms, goes where they send it. On this machine only. */
class Robot {
    private val client = HttpClient.newBuilder()
        .version(HttpClient.Version.HTTP_1_1)
        .proxy(HttpClient.Builder.NO_PROXY)
        .build()

    /** Opens a page and fills in one form after the other, each on the page that the one before led to. */
    suspend fun visit(first: URI, forms: List<Form>): Visit {
        var page = onThisMachine(first)
        for (form in forms) {
            open(page)
            val answer = send(page) { header("Content-Type", FORM_TYPE).POST(BodyPublishers.ofString(encoded(form))) }
            when (answer.statusCode()) {
                303 -> page = onThisMachine(page.resolve(answer.headers().firstValue("Location").orElse("")))
                // A result page: there is nothing left to fill in.
                200 -> return Visit.STAYED_THERE
                else -> throw notExpected(page, answer)
            }
        }
        open(page)
        return Visit.RETURNED
    }

    private suspend fun open(page: URI) {
        val answer = send(page) { GET() }
        if (answer.statusCode() != 200) throw notExpected(page, answer)
    }

    private suspend fun send(page: URI, build: HttpRequest.Builder.() -> Unit): HttpResponse<String> = try {
        val request = HttpRequest.newBuilder(page).timeout(PATIENCE).apply(build).build()
        client.sendAsync(request, BodyHandlers.ofString()).await()
    } catch (error: IOException) {
        throw Failure.Machine("the page at ${page.path} cannot be reached: $error")
    }

    private fun notExpected(page: URI, answer: HttpResponse<String>) =
        Failure.Machine("the page at ${page.path} answered HTTP ${answer.statusCode()}")
}

private const val FORM_TYPE = "application/x-www-form-urlencoded"

private fun encoded(form: Form) = form.entries.joinToString("&") { (name, value) ->
    "$name=${URLEncoder.encode(value, Charsets.UTF_8)}"
}

/** A robot with test data has no business on anybody else's pages. */
private fun onThisMachine(page: URI): URI {
    if (page.scheme == "http" && isLoopback(page)) return page
    throw Failure.Machine("the robot visits pages on this machine only; use --interactive")
}

/** True where a URL leads to this machine. */
fun isLoopback(url: URI): Boolean {
    val host = url.host.orEmpty().trim('[', ']').removeSuffix(".")
    return host.equals("localhost", ignoreCase = true) || host == "::1" || host.matches(Regex("""127(\.\d{1,3}){3}"""))
}

/** The one-time password of the sandbox's test card. */
fun otpOfCard(pan: String): String? = TestCards.ALL.find { it.pan == digits(pan) }?.otp

/** The one-time password of the sandbox's test phone. */
fun otpOfPhone(provider: Provider, phone: String): String? =
    TestPhones.ALL.find { it.provider == provider && it.phone == digits(phone) }?.otp

private fun digits(text: String) = text.filter { it in '0'..'9' }

/** The form of a one-time password. */
fun otpForm(otp: String): Form = mapOf("otp" to otp)

/** The pay-form, filled in with a card. */
fun cardForm(card: CardFields): Form = mapOf(
    "provider" to "Cards",
    "pan" to card.pan,
    "expiryMonth" to card.expiryMonth,
    "expiryYear" to card.expiryYear,
    "cvc" to card.cvc,
    "name" to card.name,
)

/** The pay-form, filled in with a wallet's phone. */
fun walletForm(provider: String, phone: String): Form = mapOf("provider" to provider, "phone" to phone)

/** The QR payment page. */
fun qrForm(isDeclined: Boolean, amount: String?): Form =
    mapOf("action" to if (isDeclined) "decline" else "approve") + listOfNotNull(amount?.let { "amount" to it })
