package dev.kassa.support

import kotlinx.serialization.json.JsonElement
import java.io.BufferedInputStream
import java.io.IOException
import java.io.InputStream
import java.net.InetAddress
import java.net.ServerSocket
import java.net.Socket
import java.util.concurrent.TimeUnit
import java.util.concurrent.locks.ReentrantLock
import kotlin.concurrent.thread
import kotlin.concurrent.withLock

/** A request as it came; the names of its headers are in lower case. */
class Received(val method: String, val target: String, val headers: Map<String, String>, val body: String)

/**
 * Serves scripted bytes from a loopback socket. The first request gets the first response, and so on; the last response is repeated.
 */
class ScriptedServer(private val responses: List<JsonElement>) : AutoCloseable {
    private val listener = ServerSocket(0, 1024, InetAddress.getByName("127.0.0.1"))
    private val lock = ReentrantLock()
    private val changed = lock.newCondition()
    private val requests = mutableListOf<Received>()
    private var answeredCount = 0
    private var isReleased = false

    val url: String = "http://127.0.0.1:${listener.localPort}"
    val received: List<Received> get() = lock.withLock { requests.toList() }
    val answered: Int get() = lock.withLock { answeredCount }

    init {
        inBackground {
            while (true) {
                val connection = listener.accept()
                inBackground { connection.use(::serve) }
            }
        }
    }

    /** False where they do not come. */
    fun waitForRequests(count: Int): Boolean = waitUntil { requests.size >= count }

    /** Lets the responses go that were held back. */
    fun release() = change { isReleased = true }

    override fun close() {
        release()
        listener.close()
    }

    private fun serve(connection: Socket) {
        connection.tcpNoDelay = true
        val input = BufferedInputStream(connection.getInputStream())
        while (true) {
            val request = readRequest(input) ?: return
            var number = 0
            change { requests += request; number = requests.size }
            val response = responses.getOrNull(number - 1) ?: responses.lastOrNull() ?: return
            if (response.at("hold").isTrue) waitUntil { isReleased }
            change { answeredCount++ }
            connection.getOutputStream().apply { write(responseBytes(response)) }.flush()
            when (val then = response.at("then").optionalText ?: "keep") {
                "keep" -> continue
                "close" -> connection.shutdownOutput()
                "reset" -> return connection.setSoLinger(true, 0)
                "silence" -> Unit
                else -> error("a response cannot $then")
            }
            // Read on, so that bytes still under way do not turn a close into a reset.
            input.readAllBytes()
            return
        }
    }

    private fun change(block: () -> Unit) = lock.withLock {
        block()
        changed.signalAll()
    }

    private fun waitUntil(isThere: () -> Boolean): Boolean = lock.withLock {
        var nanos = TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS)
        while (!isThere() && nanos > 0) nanos = changed.awaitNanos(nanos)
        isThere()
    }
}

private fun inBackground(block: () -> Unit) = thread(isDaemon = true) {
    try {
        block()
    } catch (_: IOException) {
        // The other side is gone, or the server was closed.
    }
}

private fun responseBytes(response: JsonElement): ByteArray {
    val status = response.at("status").optionalLong ?: return response.at("raw").bytes
    val body = response.at("body").bytes
    val headers = response.at("headers").keys.joinToString("") { "$it: ${response.at("headers").at(it).text}\r\n" }
    return "HTTP/1.1 $status X\r\n${headers}Content-Length: ${body.size}\r\n\r\n".encodeToByteArray() + body
}

private fun readRequest(input: InputStream): Received? {
    val words = (readLine(input) ?: return null).split(' ')
    val lines = generateSequence { readLine(input)?.ifEmpty { null } }
    val headers = lines.associate { it.substringBefore(':').lowercase() to it.substringAfter(':').trim() }
    val body = input.readNBytes(headers["content-length"]?.toInt() ?: 0)
    return Received(words[0], words[1], headers, body.decodeToString())
}

private fun readLine(input: InputStream): String? {
    val line = StringBuilder()
    while (true) {
        when (val byte = input.read()) {
            -1 -> return null
            '\n'.code -> return line.removeSuffix("\r").toString()
            else -> line.append(byte.toChar())
        }
    }
}
