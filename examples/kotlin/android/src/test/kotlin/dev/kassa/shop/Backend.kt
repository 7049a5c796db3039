package dev.kassa.shop

import com.sun.net.httpserver.HttpExchange
import com.sun.net.httpserver.HttpServer
import dev.kassa.server.KassaServer
import org.json.JSONObject
import java.net.InetAddress
import java.net.InetSocketAddress
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.atomic.AtomicInteger

/** The shop's back end as the app knows it, with the real `kassa-server` and a sandbox behind it. */
class Backend : AutoCloseable {
    val server: KassaServer = KassaServer.start()

    /** The checkouts, by the numbers of their orders. */
    private val checkouts = ConcurrentHashMap<String, String>()
    private val count = AtomicInteger()
    private val http = HttpServer.create(InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0).apply {
        createContext("/orders") { exchange -> exchange.use { answer(it) } }
        start()
    }

    val url: String = "http://127.0.0.1:${http.address.port}"

    /** The newest order's number. */
    val newest: String get() = "honey-$count"

    /** How many orders there were. */
    val orders: Int get() = count.get()

    private fun answer(exchange: HttpExchange) {
        val number = exchange.requestURI.path.removePrefix("/orders").removePrefix("/").ifEmpty { newOrder() }
        val token = request("/v1/checkouts/${checkouts.getValue(number)}/tokens").getString("token")
        val body = JSONObject(mapOf("number" to number, "server_url" to server.url, "client_token" to token)).toString().toByteArray()
        exchange.sendResponseHeaders(200, body.size.toLong())
        exchange.responseBody.write(body)
    }

    private fun newOrder(): String {
        val number = "honey-${count.incrementAndGet()}"
        val order = mapOf("reference" to number, "amount" to "390", "description" to "A jar of honey", "return_url" to "kassa-shop://paid")
        checkouts[number] = request("/v1/checkouts", JSONObject(order).toString()).getString("id")
        return number
    }

    private fun request(path: String, body: String? = null) = JSONObject(server.request("POST", path, body))

    override fun close() {
        http.stop(0)
        server.close()
    }
}
