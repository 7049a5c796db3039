package dev.kassa.android.ui.support

import dev.kassa.android.ui.KassaCheckout
import dev.kassa.server.KassaServer
import dev.kassa.server.KassaServerOptions
import kotlinx.serialization.json.Json
import kotlinx.serialization.json.jsonObject
import kotlinx.serialization.json.jsonPrimitive
import java.net.URI
import java.net.http.HttpClient
import java.net.http.HttpRequest
import java.net.http.HttpRequest.BodyPublishers
import java.net.http.HttpResponse.BodyHandlers
import java.time.Duration
import java.util.concurrent.atomic.AtomicInteger

/** Where payers come back to. */
const val RETURN_URL = "my-shop://paid"

/** The shop's back end, with the real server and a sandbox behind it. */
class Shop : AutoCloseable {
    val server: KassaServer = KassaServer.start(KassaServerOptions(settings = mapOf("cards.enabled" to "true")))

    /** Opens a checkout of 390 som that can be paid in these ways. */
    fun order(vararg methods: String): Order {
        val reference = "order-${number.incrementAndGet()}"
        val named = methods.joinToString { "\"$it\"" }
        val body = """{"reference": "$reference", "amount": "390", "description": "A jar of honey", "return_url": "$RETURN_URL",
            "methods": [$named]}"""
        return Order(reference, text(server.request("POST", "/v1/checkouts", body), "id"))
    }

    fun token(order: Order) = text(server.request("POST", "/v1/checkouts/${order.id}/tokens"), "token")

    fun request(order: Order) = KassaCheckout.Request(server.url, token(order), order.reference)

    /** How often money was really taken for it. */
    fun timesCharged(order: Order): Int {
        server.waitFor("checkout.paid", order.reference, Duration.ofSeconds(PATIENCE_SECONDS))
        return server.sandbox.ledger().filter { it.isOf(order) }.sumOf { it.timesCharged }
    }

    /** The number at the gateway of its newest payment. */
    fun payment(order: Order): String = server.sandbox.ledger().last { it.isOf(order) }.orderNumber

    // The server sends the description with each payment, and numbers of its own.
    private fun dev.kassa.sandbox.Payment.isOf(order: Order) = orderNumber in server.checkout(order.reference)

    override fun close() = server.close()

    companion object {
        private val number = AtomicInteger()
    }
}

class Order(val reference: String, val id: String)

/** What the payer's browser does on the bank's page (3DS). */
fun enterOtp(page: String, otp: String) {
    val request = HttpRequest.newBuilder(URI(page))
        .header("Content-Type", "application/x-www-form-urlencoded")
        .POST(BodyPublishers.ofString("otp=$otp"))
        .build()
    HttpClient.newHttpClient().send(request, BodyHandlers.ofString())
}

private fun text(json: String, name: String) = Json.parseToJsonElement(json).jsonObject.getValue(name).jsonPrimitive.content
