package dev.kassa.android.ui.support

import com.sun.net.httpserver.HttpExchange
import com.sun.net.httpserver.HttpServer
import java.net.InetSocketAddress
import java.util.concurrent.CopyOnWriteArrayList
import java.util.concurrent.Executors

private const val LONG_POLL_MILLIS = 20_000L

/** A server that says of each checkout whatever its token is named after: for states that the real one comes to after long. */
class StandIn {
    private val threads = Executors.newCachedThreadPool { Thread(it).apply { isDaemon = true } }
    private val http = HttpServer.create(InetSocketAddress("127.0.0.1", 0), 0).apply {
        executor = threads
        createContext("/", ::answer)
        start()
    }

    /** The payments that were requested, of any checkout. */
    val sent = CopyOnWriteArrayList<String>()

    val url = "http://127.0.0.1:${http.address.port}"

    private fun answer(exchange: HttpExchange) {
        val scene = Scene.entries.find { exchange.requestHeaders.getFirst("Authorization") == "Bearer ${it.token}" }
        // Nothing ever changes, so a long poll gets no answer earlier. No test waits for it.
        if (exchange.requestURI.query.orEmpty().startsWith("after=")) Thread.sleep(LONG_POLL_MILLIS)
        when {
            scene == null || scene.isLockedOut -> exchange.send(401, """{"type": "urn:kassa:problem:unauthorized", "title": "no"}""")
            scene.isUnreachable -> exchange.send(503, "")
            exchange.requestURI.path == "/v1/checkout/payments" -> exchange.takePayment(scene)
            exchange.requestMethod == "POST" -> exchange.send(202, "{}")
            else -> exchange.send(200, scene.view())
        }
    }

    private fun HttpExchange.takePayment(scene: Scene) {
        sent += requestBody.readBytes().decodeToString()
        when (scene.refusal) {
            null -> send(202, """{"id": "pay_2", "method": "mbank", "state": "sending"}""")
            else -> send(409, """{"type": "urn:kassa:problem:${scene.refusal}", "title": "no"}""")
        }
    }

    private fun HttpExchange.send(status: Int, text: String) {
        val bytes = text.toByteArray()
        sendResponseHeaders(status, if (bytes.isEmpty()) -1 else bytes.size.toLong())
        responseBody.use { it.write(bytes) }
    }
}
