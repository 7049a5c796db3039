package dev.kassa.sandbox

import com.sun.net.httpserver.HttpServer
import java.io.IOException
import java.net.InetSocketAddress
import java.net.URI
import java.net.http.HttpClient
import java.net.http.HttpRequest
import java.net.http.HttpRequest.BodyPublishers
import java.net.http.HttpResponse
import java.net.http.HttpResponse.BodyHandlers
import java.util.Base64
import java.util.concurrent.LinkedBlockingQueue
import java.util.concurrent.TimeUnit.SECONDS

/** The upper bound of a wait, in seconds. The environment variable `KASSA_PATIENCE` multiplies it on a slow machine. */
val PATIENCE_SECONDS: Long = (60 * (System.getenv("KASSA_PATIENCE") ?: "1").toDouble()).toLong()

/** Asks the gateway in plain HTTP: what is tested here shares nothing with the SDK. */
class Shop(private val sandbox: Sandbox) {
    private val client = HttpClient.newHttpClient()

    fun payByCard(
        order: String,
        pan: String = TestCards.WITHOUT_3DS_APPROVED.pan,
        callbackUrl: String = "http://127.0.0.1:9/callback",
    ): HttpResponse<String> = post(
        "/api/v1.1.0/payment",
        """{"orderNumber": "$order", "description": "Two coffees", "amount": 100.10, "currency": "KGS", "pan": "$pan",
            "expiryMonth": "12", "expiryYear": 2099, "cvc": "123", "language": "en", "name": "Aibek Asanov",
            "ip": "203.0.113.7", "callbackUrl": "$callbackUrl"}""",
    )

    fun askForOtp(order: String): HttpResponse<String> = post(
        "/api/v1.1.0/mbank/pay",
        """{"orderNumber": "$order", "phone": "${TestPhones.MBANK_APPROVED.phone}", "amount": 250, "comment": "Lunch"}""",
    )

    fun askForPin(order: String): HttpResponse<String> = post(
        "/api/v1.1.0/mega/check",
        """{"orderNumber": "$order", "user": "${TestPhones.MEGAPAY_APPROVED.phone}", "account": "7", "amount": 250.55}""",
    )

    fun makeQr(sum: Int? = null): HttpResponse<String> =
        post("/gen/qr/dynamic/data", if (sum == null) "{}" else """{"sum": $sum}""")

    /** The address of the page. */
    fun makePayForm(callbackUrl: String, returnUrl: String): String {
        val form = """{"amount": 100.10, "serviceName": "Honey", "callbackURL": "$callbackUrl", "returnURL": "$returnUrl"}"""
        val answer = post("/api/v1.1.0/pay-form", form).body()
        return checkNotNull(Regex(""""payFormUrl":"([^"]+)"""").find(answer)) { answer }.groupValues[1]
    }

    fun status(order: String): HttpResponse<String> =
        post("/api/v1.1.0/get-status", """{"orderNumber": "$order", "provider": "Cards"}""")

    private fun post(path: String, body: String): HttpResponse<String> {
        val credentials = Base64.getEncoder().encodeToString("${sandbox.login}:${sandbox.password}".toByteArray())
        val request = HttpRequest.newBuilder(URI(sandbox.baseUrl + path))
            .header("Authorization", "Basic $credentials")
            .POST(BodyPublishers.ofString(body))
        return client.send(request.build(), BodyHandlers.ofString())
    }
}

/** True where the gateway gave no answer. */
fun isLost(call: () -> Unit): Boolean = try {
    call()
    false
} catch (_: IOException) {
    true
}

/** Takes callbacks. */
class Receiver : AutoCloseable {
    private val bodies = LinkedBlockingQueue<String>()
    private val server = HttpServer.create(InetSocketAddress("127.0.0.1", 0), 0).apply {
        createContext("/") { exchange ->
            bodies += exchange.requestBody.readAllBytes().decodeToString()
            exchange.sendResponseHeaders(204, -1)
            exchange.close()
        }
        start()
    }
    val url: String = "http://127.0.0.1:${server.address.port}/callback"

    fun next(): String = checkNotNull(bodies.poll(PATIENCE_SECONDS, SECONDS)) { "no callback came" }

    override fun close() = server.stop(0)
}
