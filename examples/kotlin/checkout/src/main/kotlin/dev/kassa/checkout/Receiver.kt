package dev.kassa.checkout

import com.sun.net.httpserver.HttpExchange
import com.sun.net.httpserver.HttpServer
import dev.kassa.Callback
import dev.kassa.PaymentException
import dev.kassa.ReturnRedirect
import kotlinx.coroutines.channels.Channel
import java.io.IOException
import java.net.InetAddress
import java.net.InetSocketAddress
import java.net.URI
import java.net.URLDecoder
import java.net.URLEncoder
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.Executors
import java.util.concurrent.Phaser
import java.util.concurrent.TimeUnit.SECONDS
import java.util.concurrent.TimeoutException
import kotlin.concurrent.thread

/** The name of this program's own reference in the query of a payment's two URLs. */
private const val REFERENCE = "ref"

/** A callback is a few hundred bytes. */
private const val MOST_BYTES = 64 * 1024

/** Longer than an answer takes that anybody reads. */
private const val PATIENCE_SECONDS = 15L

/** How much may lie unread before the gateway is asked to come again. */
private const val MOST_UNREAD = 64

private const val THANKS = "Thank you. The shop is asking for the status of your payment; you may close this page."

/** What came in for one payment. Nothing of it is believed: the status decides. */
sealed interface Arrival {
    /** A callback of the gateway, and whether the same one was here before. */
    class OfCallback(val callback: Callback, val isDuplicate: Boolean) : Arrival

    /** The payer's browser came back. */
    class OfReturn(val redirect: ReturnRedirect) : Arrival
}

/** Where the arrivals for one payment are read. */
class Mailbox {
    val arrivals = Channel<Arrival>(MOST_UNREAD)
    private val seen = mutableSetOf<String>()

    /** Takes a callback in; what cannot be taken in now is not counted as seen, so that its copy gets through. */
    @Synchronized
    fun put(callback: Callback): Boolean {
        val key = callback.dedupKey()
        val isIn = arrivals.trySend(Arrival.OfCallback(callback, isDuplicate = key in seen)).isSuccess
        if (isIn) seen += key
        return isIn
    }
}

/**
 * This program's own port: takes the gateway's callbacks and the payers that come back.
 *
 * Each payment has a reference of this program's own in the query of its two URLs (`?ref=...`), which tells whose callback it is; the
 * gateway preserves it.
 *
 * @param publicCallback a URL that leads here from outside
 */
class Receiver(port: Int, private val publicCallback: URI?) : AutoCloseable {
    private val mailboxes = ConcurrentHashMap<String, Mailbox>()

    /** Requests whose answer is not out yet, and this receiver itself. */
    private val underWay = Phaser(1)

    @Volatile
    private var everything: Mailbox? = null
    private val server = listen(port)
    private val address = "http://127.0.0.1:${server.address.port}"

    /** The callback URL without a reference, as people need to know it. */
    val shownCallbackUrl: String = publicCallback?.toString() ?: "$address/callback"

    /** The callback URL of a payment. */
    fun callbackUrl(reference: String) = withReference(shownCallbackUrl, reference)

    /** The return URL of a payment: a page of this program. */
    fun returnUrl(reference: String) = withReference("$address/return", reference)

    /** Takes in what arrives for a payment from now on. */
    fun expect(reference: String): Mailbox = Mailbox().also { mailboxes[reference] = it }

    /** Takes in every callback that no payment waits for. */
    fun expectEverything(): Mailbox = Mailbox().also { everything = it }

    /** What was taken in is answered first: who sent it would send it again otherwise. */
    override fun close() {
        try {
            underWay.awaitAdvanceInterruptibly(underWay.arriveAndDeregister(), PATIENCE_SECONDS, SECONDS)
        } catch (_: TimeoutException) {
            // Somebody who does not read the answer.
        }
        server.stop(0)
    }

    private fun listen(port: Int): HttpServer = try {
        HttpServer.create(InetSocketAddress(InetAddress.getByName("127.0.0.1"), port), 0).apply {
            // A payer's browser may keep a connection open and say nothing.
            executor = Executors.newCachedThreadPool { thread(start = false, isDaemon = true, block = it::run) }
            createContext("/") { exchange ->
                underWay.register()
                try {
                    exchange.use(::answer)
                } finally {
                    underWay.arriveAndDeregister()
                }
            }
            start()
        }
    } catch (error: IOException) {
        throw Failure.Machine("port $port on 127.0.0.1 cannot be opened for callbacks: ${error.message}")
    }

    private fun answer(exchange: HttpExchange) = when {
        // At any path: a tunnel may change it.
        exchange.requestMethod == "POST" -> exchange.end(takeCallback(exchange))
        exchange.requestURI.path == "/return" -> payerReturns(exchange)
        else -> exchange.end(404)
    }

    private fun takeCallback(exchange: HttpExchange): Int {
        val body = exchange.requestBody.readNBytes(MOST_BYTES + 1)
        if (body.size > MOST_BYTES) return 413
        val callback = try {
            Callback.parse(body)
        } catch (_: PaymentException.Invalid) {
            return 400
        }
        val mailbox = mailboxOf(exchange.requestURI) ?: return 404
        return if (mailbox.put(callback)) 200 else 503
    }

    private fun payerReturns(exchange: HttpExchange) {
        val text = try {
            val redirect = ReturnRedirect.parse("$address${exchange.requestURI}")
            // A payer who comes back often enough to fill the box changes nothing.
            mailboxOf(exchange.requestURI)?.arrivals?.trySend(Arrival.OfReturn(redirect))
            THANKS
        } catch (_: PaymentException.Invalid) {
            "This page is for payers who come back from the gateway."
        }
        val page = "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>Checkout</title>" +
            "<h1>Checkout</h1><p>$text</p></html>\n"
        exchange.responseHeaders["Content-Type"] = "text/html; charset=utf-8"
        exchange.responseHeaders["Cache-Control"] = "no-store"
        exchange.end(200, page)
    }

    private fun mailboxOf(uri: URI): Mailbox? {
        val own = uri.rawQuery.orEmpty().split("&").find { it.startsWith("$REFERENCE=") }
        val reference = own?.let { URLDecoder.decode(it.substringAfter("="), Charsets.UTF_8) }
        return mailboxes[reference.orEmpty()] ?: everything
    }
}

private fun HttpExchange.end(status: Int, body: String = "") {
    val bytes = body.encodeToByteArray()
    sendResponseHeaders(status, if (bytes.isEmpty()) -1 else bytes.size.toLong())
    responseBody.write(bytes)
}

private fun HttpExchange.use(work: (HttpExchange) -> Unit) = try {
    work(this)
} finally {
    close()
}

private fun withReference(url: String, reference: String): String {
    val own = "$REFERENCE=${URLEncoder.encode(reference, Charsets.UTF_8)}"
    return if ("?" in url) "$url&$own" else "$url?$own"
}
