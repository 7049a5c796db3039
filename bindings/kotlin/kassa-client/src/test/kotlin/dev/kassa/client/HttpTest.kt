package dev.kassa.client

import com.sun.net.httpserver.HttpExchange
import com.sun.net.httpserver.HttpServer
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows
import java.math.BigDecimal
import java.net.InetAddress
import java.net.InetSocketAddress
import java.net.ServerSocket
import java.time.Duration
import java.util.concurrent.CopyOnWriteArrayList
import java.util.concurrent.Executors

private const val KEY = "a-very-secret-key"

/** Retries, redirects and invalid responses: a local server sends what the real server cannot be made to send. */
class HttpTest {
    private val requests = CopyOnWriteArrayList<String>()
    private var respond: (HttpExchange, Int) -> Unit = { exchange, _ -> exchange.send(500, "") }
    private val threads = Executors.newCachedThreadPool()
    private val server = HttpServer.create(InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0).apply {
        executor = threads
        createContext("/") { exchange ->
            requests += "${exchange.requestMethod} ${exchange.requestURI}"
            exchange.requestBody.readAllBytes()
            respond(exchange, requests.size)
            exchange.close()
        }
        start()
    }
    private val url = "http://127.0.0.1:${server.address.port}"
    private val client = KassaClient(url, KEY, timeout = Duration.ofSeconds(30))
    private val order = NewCheckout("order-1", BigDecimal("390"), "Honey", "https://shop.example.kg/")

    @AfterEach
    fun stop() {
        server.stop(0)
        threads.shutdownNow()
    }

    private fun HttpExchange.send(status: Int, body: String, vararg headers: Pair<String, String>) {
        headers.forEach { (name, value) -> responseHeaders.add(name, value) }
        val bytes = body.toByteArray()
        sendResponseHeaders(status, if (bytes.isEmpty()) -1 else bytes.size.toLong())
        if (bytes.isNotEmpty()) responseBody.write(bytes)
    }

    @Test
    fun `request to a busy server is retried`() {
        val busy = listOf(503, 429, 408, 502, 504)
        respond = { exchange, number ->
            if (number <= busy.size) exchange.send(busy[number - 1], "busy") else exchange.send(200, CHECKOUT)
        }
        assertEquals("order-17", client.openCheckout(order).reference)
        assertEquals(List(6) { "POST /v1/checkouts" }, requests.toList())
    }

    @Test
    fun `broken connection is repeated`() {
        respond = { exchange, number -> if (number > 2) exchange.send(200, CHECKOUT) }
        assertEquals(CHECKOUT_ID, client.checkout(CHECKOUT_ID).id)
        assertEquals(3, requests.size)
    }

    @Test
    fun `what is not safe is sent once`() {
        respond = { exchange, _ -> exchange.send(503, "", "Retry-After" to "0") }
        val failed = assertThrows<KassaClientException.Unavailable> { client.resolve() }
        assertEquals(503, failed.status)
        assertEquals(1, failed.attempts)
        assertTrue("whether it was carried out is unknown" in failed.message!!, failed.message)
        assertEquals(1, requests.size)
    }

    private fun KassaClient.resolve() = resolvePayment("pay_1", Outcome.CHARGED, "seen", "Aida")

    @Test
    fun `what was refused for the number of requests is repeated, and a token, too`() {
        respond = { exchange, number -> if (number == 1) exchange.send(429, "") else exchange.send(404, problem("not_found")) }
        assertThrows<KassaClientException.NotFound> { client.resolve() }
        assertEquals(2, requests.size)
        respond = { exchange, number -> if (number == 3) exchange.send(503, "") else exchange.send(200, """{"token":"ct_1","lifetime_s":9}""") }
        assertEquals("ct_1", client.newToken(CHECKOUT_ID).token)
    }

    @Test
    fun `what an earlier attempt may have done stays unknown`() {
        respond = { exchange, number -> if (number > 1) exchange.send(429, "", "Retry-After" to "60") }
        val failed = assertThrows<KassaClientException.Unavailable> { client.openCheckout(order) }
        assertEquals(listOf(429, 2), listOf(failed.status, failed.attempts))
        assertTrue("whether it was carried out is unknown" in failed.message!!, failed.message)
    }

    @Test
    fun `attempts are limited`() {
        respond = { exchange, _ -> exchange.send(429, "") }
        val failed = assertThrows<KassaClientException.Unavailable> { client.resolve() }
        assertEquals(8, failed.attempts)
        assertEquals(8, requests.size)
        assertTrue("nothing was carried out" in failed.message!!, failed.message)
    }

    @Test
    fun `failure of TLS is not repeated`() {
        ServerSocket(0, 9, InetAddress.getLoopbackAddress()).use { socket ->
            threads.execute { runCatching { while (true) socket.accept().use { it.getOutputStream().write("no TLS at all\r\n\r\n".toByteArray()) } } }
            val plain = KassaClient("https://127.0.0.1:${socket.localPort}", KEY)
            assertEquals(1, assertThrows<KassaClientException.Unavailable> { plain.checkout(CHECKOUT_ID) }.attempts)
        }
    }

    @Test
    fun `failure of the server leaves the outcome open`() {
        respond = { exchange, _ -> exchange.send(500, problem("internal")) }
        val failed = assertThrows<KassaClientException.Unavailable> { client.openCheckout(order) }
        assertEquals(listOf(500, 1), listOf(failed.status, failed.attempts))
        val message = failed.message!!
        assertTrue("failed (500 internal)" in message && "carried out is unknown, and it can be repeated" in message, message)
        assertFalse("unknown" in assertThrows<KassaClientException.Unavailable> { client.checkout(CHECKOUT_ID) }.message!!)
    }

    @Test
    fun `response without end is given up`() {
        respond = { exchange, _ ->
            exchange.sendResponseHeaders(200, 0)
            runCatching { repeat(40) { exchange.responseBody.write(ByteArray(1024 * 1024) { ' '.code.toByte() }) } }
        }
        val failed = assertThrows<KassaClientException.BadResponse> { client.checkout(CHECKOUT_ID) }
        assertEquals(200, failed.status)
        assertTrue("larger than 32 MiB" in failed.message!!, failed.message)
        assertEquals(1, requests.size)
    }

    @Test
    fun `events are followed across a failure that outlasts the timeout`() {
        val hasty = KassaClient(url, KEY, timeout = Duration.ofMillis(300))
        respond = { exchange, number ->
            when {
                number == 1 -> exchange.send(200, page("1.a", "2.b"))
                number < 4 -> exchange.send(503, "", "Retry-After" to "1")
                number == 4 -> exchange.send(502, "<html>", "Retry-After" to "1")
                number == 5 -> exchange.send(500, "<html>")
                else -> exchange.send(200, page("3.c", "3.c"))
            }
        }
        assertEquals(listOf("1.a", "3.c"), hasty.followEvents(interval = Duration.ofMillis(10)).take(2).map { it.cursor })
        assertEquals(listOf("after=0") + List(5) { "after=2.b" }, requests.take(6).map { it.substringAfter('?').substringBefore('&') })
        respond = { exchange, _ -> exchange.send(503, "") }
        assertThrows<KassaClientException.Unavailable> { hasty.events().first() }
        respond = { exchange, _ -> exchange.send(401, problem("unauthorized")) }
        assertThrows<KassaClientException.WrongKey> { hasty.followEvents().first() }
    }

    private fun page(cursor: String, next: String): String {
        val event = Events.sign("whsec_" + "A".repeat(32)).body
        return """{"events": [{"cursor": "$cursor", "event": $event}], "next": "$next"}"""
    }

    private fun problem(kind: String, detail: String = "Nothing more") =
        """{"type": "urn:kassa:problem:$kind", "title": "Problem", "detail": "$detail"}"""

    @Test
    fun `problems are shown without secrets`() {
        val violation = """"violations": [{"field": "ak_0123", "rule": "format", "text": "was $KEY"}]}"""
        respond = { exchange, _ -> exchange.send(400, problem("invalid", "$KEY sk_0123 ak_0123").replace("}", ", $violation")) }
        val refused = assertThrows<KassaClientException.Refused> { client.openCheckout(order) }
        for (secret in listOf(KEY, "k_0123")) assertFalse(secret in refused.run { "$message $detail $violations" }, "$refused")
    }

    @Test
    fun `wait is rounded up and bounded`() {
        respond = { exchange, _ -> exchange.send(200, CHECKOUT) }
        for (wait in listOf(-1L, 0, 1, 1000, 1001, 600_000)) client.waitForChange(CHECKOUT_ID, 3, Duration.ofMillis(wait))
        assertEquals(listOf("0", "0", "1", "1", "2", "60"), requests.map { it.substringAfter("&wait=") })
    }

    @Test
    fun `time limit holds for the whole call`() {
        val hasty = KassaClient(url, KEY, timeout = Duration.ofMillis(400))
        respond = { exchange, _ -> exchange.send(503, "", "Retry-After" to "30") }
        val began = System.nanoTime()
        assertEquals(1, assertThrows<KassaClientException.Unavailable> { hasty.checkout(CHECKOUT_ID) }.attempts)
        respond = { exchange, _ ->
            exchange.sendResponseHeaders(200, 1000)
            exchange.responseBody.run { write('{'.code); flush() }
            Thread.sleep(60_000) // the rest of the body never comes
        }
        val slow = assertThrows<KassaClientException.Unavailable> { hasty.checkout(CHECKOUT_ID) }
        assertTrue("did not answer within 400 ms" in slow.message!!, slow.message)
        assertTrue(Duration.ofNanos(System.nanoTime() - began) < Duration.ofSeconds(25))
    }

    @Test
    fun `nobody listens`() {
        val port = ServerSocket(0, 1, InetAddress.getLoopbackAddress()).use { it.localPort }
        val nobody = KassaClient("http://127.0.0.1:$port", KEY, timeout = Duration.ofSeconds(2))
        val failed = assertThrows<KassaClientException.Unavailable> { nobody.resolve() }
        assertTrue(failed.attempts > 1, "$failed") // nothing was sent, so it is safe
        assertTrue("http://127.0.0.1:$port could not be reached" in failed.message!!, failed.message)
    }

    @Test
    fun `redirect is not followed`() {
        respond = { exchange, _ -> exchange.send(307, "", "Location" to "$url/elsewhere") }
        val failed = assertThrows<KassaClientException.BadResponse> { client.openCheckout(order) }
        assertEquals(307, failed.status)
        assertEquals(1, requests.size)
    }

    @Test
    fun `odd responses are shown, without secrets`() {
        val page = CHECKOUT.replace(""""state":"open",""", "").replace("\"id\"", "\"ct_0123\": \"$KEY\", \"id\"")
        val odd = listOf(
            200 to "<html>a proxy's page ${"x".repeat(1000)}",
            200 to "[]",
            200 to page,
            200 to "${"x".repeat(195)}$KEY",
            200 to "$KEY ct_01234 ak_0123 sk_0123 whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw= $url/pay/9d2e41f07c",
            404 to "not here",
            404 to """{"type": "about:blank", "status": 404}""",
            500 to """{"violations": [1]}""",
            400 to """{"type": "urn:kassa:problem:invalid", "detail": 7}""",
        )
        val optional = CHECKOUT.replace("\"page_url\":null", "\"page_url\":7")
        for ((status, body) in odd + (200 to optional)) {
            respond = { exchange, _ -> exchange.send(status, body) }
            val failed = assertThrows<KassaClientException.BadResponse> { client.findCheckout("order-1") }
            assertEquals(status, failed.status)
            val message = failed.message!!
            for (secret in listOf(KEY, KEY.take(5), "ct_0123", "k_0123", "MfKQ9r8", "9d2e41f0")) assertFalse(secret in message, message)
            assertTrue(message.length < 500 && "GET /v1/checkouts" in message, message)
        }
        respond = { exchange, _ -> exchange.send(200, page) }
        val lacking = assertThrows<KassaClientException.BadResponse> { client.checkout(CHECKOUT_ID) }
        assertTrue("`state` is no text" in lacking.message!!, lacking.message)
    }

    @Test
    fun `what a newer server adds is read over`() {
        val words = CHECKOUT.replace("\"open\"", "\"frozen\"").replace("\"qr\"", "\"barter\"")
        val newer = words.replaceFirst("{", """{"new": {"a": [1]}, """)
        respond = { exchange, _ -> exchange.send(200, newer) }
        val checkout = client.checkout(CHECKOUT_ID)
        assertEquals("frozen", checkout.state)
        assertEquals(listOf("barter"), checkout.methods)
        assertFalse(checkout.isPaid)
        assertTrue("\"new\"" in checkout.json)
    }

    @Test
    fun `restored history says where to read on`() {
        val gone = """{"type": "urn:kassa:problem:history_gone", "title": "Gone", "status": 410, "next": "7.a.bcdefghijklmnopa"}"""
        respond = { exchange, _ -> exchange.send(410, gone) }
        val error = assertThrows<KassaClientException.HistoryGone> { client.events("9.a.bcdefghijklmnopa").first() }
        assertEquals("7.a.bcdefghijklmnopa", error.next)
        assertTrue("read on after it" in error.message!!, error.message)
        respond = { exchange, _ -> exchange.send(410, problem("history_gone")) }
        val odd = assertThrows<KassaClientException.BadResponse> { client.events("9.a.bcdefghijklmnopa").first() }
        assertTrue("it lacks `next`" in odd.message!!, odd.message)
    }

    @Test
    fun `interrupt ends the wait`() {
        respond = { _, _ -> Thread.sleep(60_000) }
        Thread.currentThread().interrupt()
        assertThrows<KassaClientException.Interrupted> { client.checkout(CHECKOUT_ID) }
        assertTrue(Thread.interrupted())
    }

    @Test
    fun `settings that cannot work are refused`() {
        val host = "pay.example.kg"
        for (wrong in listOf("", host, "ftp://$host", "https://u:p@$host", "https://$host/?a=1", "https://$host#a", "http:// ")) {
            val message = assertThrows<IllegalArgumentException> { KassaClient(wrong, KEY) }.message!!
            assertTrue(message.startsWith("url: "), message)
        }
        for (wrong in listOf("", "$KEY\n", "$KEY é", "a $KEY")) {
            val message = assertThrows<IllegalArgumentException> { KassaClient(url, wrong) }.message!!
            assertTrue(message.startsWith("apiKey: ") && KEY !in message, message)
        }
        val ports = listOf("https://$host:0", "https://$host:70000")
        for (wrong in ports + listOf("https://$host/v1", "http://$host", "http://127.0.0.1.$host", "http://x.localhost")) {
            val message = assertThrows<IllegalArgumentException>(wrong) { KassaClient(wrong, KEY) }.message!!
            assertTrue(message.startsWith("url: "), message)
        }
        for (wrong in listOf(Duration.ZERO, Duration.ofSeconds(-1), Duration.ofDays(1).plusNanos(1), Duration.ofSeconds(Long.MAX_VALUE))) {
            val message = assertThrows<IllegalArgumentException> { KassaClient(url, KEY, wrong) }.message!!
            assertTrue(message.startsWith("timeout: "), message)
        }
        for (right in listOf("http://localhost:1", "http://[::1]:1", "http://127.9.9.9", "https://$host/kassa/")) KassaClient(right, KEY)
        KassaClient("http://pay:8080", KEY, plainHttpHosts = listOf("PAY"))
        val environment = mapOf("KASSA_SERVER_URL" to "http://pay:8080", "KASSA_API_KEY" to KEY)
        assertThrows<IllegalArgumentException> { KassaClient.fromEnvironment(environment, Duration.ofSeconds(1)) }
        KassaClient.fromEnvironment(environment + ("KASSA_PLAIN_HTTP_HOSTS" to "db, pay"), Duration.ofSeconds(1))
        assertThrows<IllegalArgumentException> { client.checkout("") }
    }

    private companion object {
        const val CHECKOUT_ID = "co_7c1e05b893f44d2aa6d05e381b9fc247"
        const val CHECKOUT = """{"id":"$CHECKOUT_ID","reference":"order-17","amount":"390","currency":"KGS","description":"Honey",""" +
            """"methods":["qr"],"return_url":"https://shop.example.kg/paid","state":"open","version":0,""" +
            """"expires_at_ms":1767207600000,"metadata":{},"opened_at_ms":1767204000000,"page_url":null,"paid_by":null,"is_overpaid":false,"payments":[]}"""
    }
}
