package dev.kassa.client

import kotlinx.serialization.json.JsonNull
import kotlinx.serialization.json.JsonObject
import java.io.IOException
import java.net.ConnectException
import java.net.InetAddress
import java.net.ProxySelector
import java.net.URI
import java.net.URLEncoder
import java.net.http.HttpClient
import java.net.http.HttpConnectTimeoutException
import java.net.http.HttpRequest
import java.net.http.HttpRequest.BodyPublishers
import java.net.http.HttpResponse
import java.net.http.HttpResponse.BodyHandler
import java.net.http.HttpResponse.BodySubscriber
import java.net.http.HttpResponse.BodySubscribers
import java.nio.ByteBuffer
import java.time.Duration
import java.util.concurrent.ExecutionException
import java.util.concurrent.Flow
import java.util.concurrent.ThreadLocalRandom
import java.util.concurrent.TimeUnit.NANOSECONDS
import java.util.concurrent.TimeoutException
import javax.net.ssl.SSLException
import javax.net.ssl.SSLHandshakeException

private val RETRIED = setOf(408, 429, 502, 503, 504)
private const val FIRST_PAUSE_MILLIS = 100L
private const val LONGEST_PAUSE_MILLIS = 3000L
private const val ATTEMPTS = 8
private const val SHOWN = 200
private const val LARGEST_RESPONSE_MIB = 32L
private val LONGEST_CONNECT = Duration.ofSeconds(5)
private val LONGEST_TIMEOUT = Duration.ofDays(1)

/** Tokens, API keys, secrets of events, and the addresses of hosted pages. */
private val SECRETS = Regex("""\b(?:ct|ak|sk)_\w+|whsec_[\w+/=]+|(?<=/pay/)\w+""")

/** What is sent. Repeated is only what the server calls safe to retry. */
internal class Call(
    val method: String,
    val path: String,
    val query: String = "",
    val body: JsonObject? = null,
    val isRepeatable: Boolean = true,
    val timeout: Duration? = null,
) {
    override fun toString(): String = "$method $path"
}

/** Why an attempt brought nothing, and how long the server asks to wait. */
private class FailedAttempt(
    val sentence: String,
    val status: Int? = null,
    val wait: Duration = Duration.ZERO,
    val cause: Exception? = null,
) {
    /** Whether the server certainly carried out nothing: it received no request, or refused it because there were too many. */
    val isWithoutEffect: Boolean get() =
        status == 429 || cause is ConnectException || cause is HttpConnectTimeoutException || cause is SSLHandshakeException

    /** Whether the next attempt would end in the same way, or too late. */
    val isFinal: Boolean get() = cause is TimeoutException || cause is SSLException
}

/** Sends requests to the server, again where that is safe, and reads its responses. */
internal class Http(
    url: String,
    private val key: String,
    private val timeout: Duration,
    proxy: ProxySelector?,
    plainHttpHosts: List<String>,
) {
    val url: String = checkedUrl(url, plainHttpHosts)

    init {
        // HttpRequest refuses other characters, too, and prints the whole value then.
        require(key.isNotEmpty() && key.all { it in '!'..'~' }) {
            "apiKey: must be a key as `kassa-server keys new` prints it, without spaces and line ends"
        }
        require(timeout > Duration.ZERO && timeout <= LONGEST_TIMEOUT) { "timeout: must be above zero, and one day at most" }
    }

    // Redirects are never followed: the API key would travel along.
    private val client = HttpClient.newBuilder()
        .version(HttpClient.Version.HTTP_1_1)
        .followRedirects(HttpClient.Redirect.NEVER)
        .proxy(proxy ?: HttpClient.Builder.NO_PROXY)
        .connectTimeout(minOf(timeout, LONGEST_CONNECT))
        .build()

    fun <T> send(call: Call, read: (JsonObject) -> T): T {
        val limit = call.timeout ?: timeout
        val deadline = System.nanoTime() + limit.toNanos()
        var attempts = 0
        var isWithoutEffect = true // as long as each attempt is
        while (true) {
            attempts++
            val failure = try {
                val response = attempt(call, deadline)
                if (response.statusCode() !in RETRIED) return result(call, response, attempts, read)
                FailedAttempt("answered ${response.statusCode()}", response.statusCode(), retryAfter(response))
            } catch (error: IOException) {
                FailedAttempt("could not be reached: ${error.message ?: error.javaClass.simpleName}", cause = error)
            } catch (error: TimeoutException) {
                FailedAttempt("did not answer within ${limit.toMillis()} ms", cause = error)
            }
            isWithoutEffect = isWithoutEffect && failure.isWithoutEffect
            val wait = maxOf(backoff(attempts), failure.wait)
            val isRepeatable = call.isRepeatable || failure.isWithoutEffect
            val isOver = attempts >= ATTEMPTS || System.nanoTime() + wait.toNanos() >= deadline
            if (!isRepeatable || failure.isFinal || isOver) {
                val message = "$call: the server at $url ${failure.sentence}${outcome(call, isWithoutEffect)}"
                throw KassaClientException.Unavailable(message, failure.status, attempts, failure.cause)
            }
            pause(wait)
        }
    }

    private fun attempt(call: Call, deadline: Long): HttpResponse<String> {
        val left = deadline - System.nanoTime()
        if (left <= 0) throw TimeoutException()
        val publisher = call.body?.let { BodyPublishers.ofString(it.toString()) } ?: BodyPublishers.noBody()
        val request = HttpRequest.newBuilder(URI(url + call.path + call.query))
            .method(call.method, publisher)
            .header("Authorization", "Bearer $key")
            .header("Accept", "application/json")
        if (call.body != null) request.header("Content-Type", "application/json")
        // HttpRequest's own limit ends with the headers; this one covers the body.
        val response = client.sendAsync(request.build(), limitedText(call))
        try {
            return response.get(left, NANOSECONDS)
        } catch (error: ExecutionException) {
            val causes = generateSequence<Throwable>(error) { it.cause }
            causes.firstOrNull { it is KassaClientException || it is SSLException || it is Error }?.let { throw it }
            throw error.cause as? IOException ?: IOException(error.cause)
        } catch (error: InterruptedException) {
            throw interrupted(error)
        } finally {
            response.cancel(true)
        }
    }

    /** Reads the body as text, up to a limit: something else than kassa-server could send without end. */
    private fun limitedText(call: Call) = BodyHandler { response ->
        LimitedBody(BodySubscribers.ofString(Charsets.UTF_8)) {
            val message = "$call: the response of $url (${response.statusCode()}) is larger than $LARGEST_RESPONSE_MIB MiB: check the url"
            KassaClientException.BadResponse(message, response.statusCode())
        }
    }

    private fun <T> result(call: Call, response: HttpResponse<String>, attempts: Int, read: (JsonObject) -> T): T {
        val status = response.statusCode()
        val why = when (status) {
            in 200..299 -> try {
                return read(parsed(response.body()))
            } catch (error: MalformedJson) {
                error.message
            }
            in 300..399 -> "it redirects, which is not followed: set the url that it leads to"
            else -> {
                val refused = refusal(call, status, response.body(), ::masked)
                if (refused != null && status >= 500) {
                    val message = "${refused.message.orEmpty()}${outcome(call)}"
                    throw KassaClientException.Unavailable(message, status, attempts, null)
                }
                if (refused is KassaClientException.HistoryGone || (refused != null && status != 410)) throw refused
                if (refused != null) "it lacks `next`" else NO_PROBLEM
            }
        }
        val shown = masked(response.body()).take(SHOWN)
        val message = "$call: the response of $url ($status) cannot be used: $why. It begins: $shown"
        throw KassaClientException.BadResponse(message, status)
    }

    private fun masked(text: String) = text.replace(key, "(hidden)").replace(SECRETS, "(hidden)")
}

private const val NO_PROBLEM = "it is no problem details (RFC 9457), so it comes from something else: check the url"

/** What became of a request that failed. */
private fun outcome(call: Call, isWithoutEffect: Boolean = false): String = when {
    call.method == "GET" -> ""
    isWithoutEffect -> "; nothing was carried out"
    call.isRepeatable -> "; whether it was carried out is unknown, and it can be repeated"
    else -> "; whether it was carried out is unknown, and it was not sent again"
}

/** A body that is given up once it is too large. */
private class LimitedBody(private val whole: BodySubscriber<String>, private val failure: () -> Exception) :
    BodySubscriber<String> by whole {
    private var left = LARGEST_RESPONSE_MIB * 1024 * 1024
    private lateinit var subscription: Flow.Subscription

    override fun onSubscribe(subscription: Flow.Subscription) {
        this.subscription = subscription
        whole.onSubscribe(subscription)
    }

    override fun onNext(item: List<ByteBuffer>) {
        left -= item.sumOf { it.remaining() }
        if (left >= 0) return whole.onNext(item)
        subscription.cancel()
        whole.onError(failure())
    }
}

/** The refusal that the body of a response describes; null if it is none of kassa-server's. */
private fun refusal(call: Call, status: Int, body: String, masked: (String) -> String): KassaClientException.Refused? = try {
    refusalOf(call, status, parsed(body), masked)
} catch (_: MalformedJson) {
    null
}

private fun refusalOf(call: Call, status: Int, problem: JsonObject, masked: (String) -> String): KassaClientException.Refused? {
    val violations = if ((problem["violations"] ?: JsonNull) is JsonNull) emptyList() else {
        problem.objects("violations") { Violation(masked(it.text("field")), it.text("rule"), masked(it.text("text"))) }
    }
    val kind = problem.textOrNull("type")?.substringAfter("urn:kassa:problem:", "")?.takeIf { it.isNotEmpty() } ?: return null
    val detail = problem.textOrNull("detail")?.let(masked)
    val summary = detail ?: problem.textOrNull("title")?.let(masked) ?: "no detail"
    val said = violations.joinToString("; ") { if (it.text.startsWith(it.field)) it.text else "${it.field} ${it.text}" }.ifEmpty { summary }
    val verb = if (status >= 500) "failed" else "was refused"
    val message = "$call $verb ($status $kind): ${said.removeSuffix(".")}"
    val refused = KassaClientException.Refused(message, status, kind, detail, violations, problem.textOrNull("state"))
    val next = problem.textOrNull("next")
    return when {
        status == 401 -> KassaClientException.WrongKey(refused)
        status == 404 -> KassaClientException.NotFound(refused)
        status == 409 || status == 422 -> KassaClientException.Conflict(refused)
        status == 410 && next != null -> KassaClientException.HistoryGone(refused, next)
        else -> refused
    }
}

private fun checkedUrl(url: String, plainHttpHosts: List<String>): String {
    val uri = runCatching { URI(url) }.getOrNull()
    val isAddress = uri != null && uri.scheme?.lowercase() in setOf("http", "https") && uri.host != null
    require(isAddress && uri?.rawUserInfo == null && uri?.rawQuery == null && uri?.rawFragment == null) {
        "url: must be the server's address, such as https://pay.example.kg, without credentials, query or fragment"
    }
    require(uri!!.port == -1 || uri.port in 1..65535) { "url: its port must be 1 to 65535" }
    val isPlain = uri.scheme.equals("http", ignoreCase = true)
    require(!isPlain || isLoopback(uri.host) || plainHttpHosts.any { bare(it).equals(bare(uri.host), ignoreCase = true) }) {
        "url: must be https, unless its host is this machine or is named in plainHttpHosts: on the way of http anybody can read the API key"
    }
    val trimmed = url.trimEnd('/')
    require(!trimmed.endsWith("/v1")) { "url: must not end in /v1, which the client adds itself" }
    return trimmed
}

private fun bare(host: String) = host.removePrefix("[").removeSuffix("]")

/** Not `x.localhost`: some systems resolve such names by DNS, which could lead anywhere. */
private fun isLoopback(host: String): Boolean = when {
    host.equals("localhost", ignoreCase = true) -> true
    // Addresses only, so that nothing is resolved.
    host.startsWith("[") || host.matches(Regex("""\d+\.\d+\.\d+\.\d+""")) ->
        runCatching { InetAddress.getByName(host).isLoopbackAddress }.getOrDefault(false)
    else -> false
}

/** Longer with each attempt, and different for each client, so that they do not all come back at once. */
private fun backoff(attempt: Int): Duration {
    val most = minOf(FIRST_PAUSE_MILLIS shl minOf(attempt - 1, 10), LONGEST_PAUSE_MILLIS)
    return Duration.ofMillis(ThreadLocalRandom.current().nextLong(most / 2, most + 1))
}

private fun retryAfter(response: HttpResponse<*>): Duration {
    val seconds = response.headers().firstValue("Retry-After").orElse("").toIntOrNull() ?: 0
    return Duration.ofSeconds(seconds.coerceAtLeast(0).toLong())
}

internal fun pause(time: Duration) = try {
    NANOSECONDS.sleep(time.toNanos())
} catch (error: InterruptedException) {
    throw interrupted(error)
}

private fun interrupted(error: InterruptedException): KassaClientException {
    Thread.currentThread().interrupt()
    return KassaClientException.Interrupted(error)
}

internal fun encoded(text: String): String = URLEncoder.encode(text, Charsets.UTF_8).replace("+", "%20")
