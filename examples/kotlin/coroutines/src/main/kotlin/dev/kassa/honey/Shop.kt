package dev.kassa.honey

import com.sun.net.httpserver.HttpExchange
import com.sun.net.httpserver.HttpServer
import dev.kassa.Gateway
import dev.kassa.GatewayConfig
import dev.kassa.Journal
import dev.kassa.MbankPayment
import dev.kassa.PaymentException
import dev.kassa.PaymentRef
import dev.kassa.StopSignal
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import java.net.InetSocketAddress
import java.util.concurrent.ConcurrentHashMap
import kotlin.io.path.Path

// docs: begin orders
/** In a real shop this is a table: a PaymentRef is one text, and `delivered` is set in the transaction that delivers. */
class Orders {
    val payments = ConcurrentHashMap<String, PaymentRef>()
    val delivered: MutableSet<String> = ConcurrentHashMap.newKeySet()

    /** The same payment can be reported again, after a crash for example. */
    fun deliverOnce(order: String) {
        if (delivered.add(order)) println("a jar of honey for $order")
    }
}
// docs: end orders

// docs: begin shop
class Shop(private val gateway: Gateway, private val orders: Orders) {
    suspend fun pay(order: String, phone: String): Reply = answered {
        val payment = MbankPayment(order, phone, amountSom = 390, comment = "A jar of honey")
        orders.payments[order] = gateway.withNote(order).createMbankPayment(payment).payment
    }

    suspend fun confirm(order: String, code: String): Reply = answered {
        gateway.confirmMbankPayment(orders.payments.getValue(order), code)
    }

    fun state(order: String) = Reply(200, if (order in orders.delivered) "delivered" else "waiting")

    private suspend fun answered(call: suspend () -> Unit): Reply = try {
        call()
        Reply(200, "")
    } catch (error: PaymentException) {
        // It may have been charged: the worker finds out, and the payer must not pay again.
        Reply(if (error.paymentMayExist) 202 else 422, error.message)
    }
}

class Reply(val status: Int, val body: String)
// docs: end shop

// docs: begin main
fun main(): Unit = runBlocking {
    val stop = StopSignal()
    val shop = launch(Dispatchers.Default) { sell(stop) }
    // SIGTERM, as an operator's restart.
    Runtime.getRuntime().addShutdownHook(Thread { stop.stop().also { runBlocking { shop.join() } } })
}

suspend fun sell(stop: StopSignal) = Gateway(GatewayConfig.fromEnvironment(), Journal.open(Path("payments"))).use { gateway ->
    coroutineScope {
        val orders = Orders()
        val server = serve(Shop(gateway, orders), port = System.getenv("PORT")?.toInt() ?: 8080)
        try {
            println(gateway.deliverForever(stop) { entry -> orders.deliverOnce(checkNotNull(entry.note)) })
        } finally {
            server.stop(0)
        }
    }
}
// docs: end main

// docs: begin serve
/** The JDK's server. Each request is a coroutine: waiting for the gateway holds no thread. */
fun CoroutineScope.serve(shop: Shop, port: Int): HttpServer = HttpServer.create(InetSocketAddress("127.0.0.1", port), 0).apply {
    createContext("/orders/") { exchange ->
        launch(Dispatchers.IO) { exchange.use { it.answer(shop) } }
    }
    start()
    println("listening on ${address.port}")
}

private suspend fun HttpExchange.answer(shop: Shop) {
    val (order, action) = requestURI.path.removePrefix("/orders/").split('/') + ""
    val value = requestBody.readAllBytes().decodeToString()
    val reply = when ("$requestMethod $action") {
        "POST pay" -> shop.pay(order, phone = value)
        "POST code" -> shop.confirm(order, code = value)
        "GET " -> shop.state(order)
        else -> Reply(404, "")
    }
    val body = reply.body.toByteArray()
    sendResponseHeaders(reply.status, if (body.isEmpty()) -1 else body.size.toLong())
    responseBody.use { it.write(body) }
}
// docs: end serve
