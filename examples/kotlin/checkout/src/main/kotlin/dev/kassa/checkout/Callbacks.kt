package dev.kassa.checkout

import com.sun.net.httpserver.HttpExchange
import com.sun.net.httpserver.HttpServer
import dev.kassa.Callback
import dev.kassa.CallbackKey
import dev.kassa.Gateway
import dev.kassa.PaymentException
import dev.kassa.PaymentRef
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.asExecutor
import kotlinx.coroutines.delay
import kotlinx.coroutines.flow.MutableStateFlow
import kotlinx.coroutines.flow.first
import kotlinx.coroutines.runBlocking
import java.net.InetSocketAddress
import kotlin.time.Duration.Companion.seconds

/** Receives callbacks. The URL has the signed payment reference; only the gateway's report says whether the payment is paid. */
class Callbacks(private val gateway: Gateway) : AutoCloseable {
    // It has no default: whoever knows the secret can sign anything. `openssl rand -base64 32` makes one.
    val key = CallbackKey(setting("KASSA_CALLBACK_SECRET", ""))
    private val paid = MutableStateFlow(emptySet<PaymentRef>())
    private val server = HttpServer.create(InetSocketAddress("127.0.0.1", setting("KASSA_PORT", "8500").toInt()), 0).apply {
        executor = Dispatchers.IO.asExecutor()
        createContext("/callbacks") { it.use(::hear) }
        start()
    }
    val url = setting("KASSA_CALLBACK_URL", "http://127.0.0.1:${server.address.port}/callbacks")

    suspend fun untilPaid(payment: PaymentRef) = paid.first { payment in it }

    override fun close() = server.stop(0)

    private fun hear(exchange: HttpExchange) = try {
        if (exchange.requestMethod == "POST") {
            val payment = key.readCallbackUrl("${exchange.requestURI}")
            val callback = Callback.parse(exchange.requestBody.readAllBytes())
            exchange.sendResponseHeaders(200, -1)
            runBlocking { prove(callback, payment) }
        } else {
            exchange.sendResponseHeaders(204, -1) // the payer who comes back
        }
    } catch (_: PaymentException.Invalid) {
        exchange.sendResponseHeaders(400, -1) // forged, or no callback
    }

    /** Queries until there is an answer: the callback may not come again. */
    private suspend fun prove(callback: Callback, payment: PaymentRef): Unit = try {
        if (gateway.verifyCallback(callback, payment).isCharged) {
            val entry = entryOf(gateway, payment)
            if (!entry.isFinished) deliver(gateway, entry) // else the callback came again
            paid.value += payment
        } else {
            println("not paid by ${callback.orderNumber}: the payer may try again")
        }
    } catch (error: PaymentException) {
        println(error.message)
        if (error.isRetryable) delay(5.seconds).also { prove(callback, payment) } else Unit
    }
}
