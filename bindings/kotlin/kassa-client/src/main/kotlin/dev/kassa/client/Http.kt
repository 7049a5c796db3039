package dev.kassa.client

import kotlinx.serialization.json.JsonArray
import kotlinx.serialization.json.JsonObject
import java.io.IOException
import java.net.ConnectException
import java.net.ProxySelector
import java.net.URI
import java.net.URLEncoder
import java.net.http.HttpClient
import java.net.http.HttpRequest
import java.net.http.HttpRequest.BodyPublishers
import java.net.http.HttpResponse
import java.net.http.HttpResponse.BodyHandlers
import java.time.Duration
import java.util.concurrent.ExecutionException
import java.util.concurrent.ThreadLocalRandom
import java.util.concurrent.TimeUnit.NANOSECONDS
import java.util.concurrent.TimeoutException

private val RETRIED = setOf(408, 429, 502, 503, 504)
private const val FIRST_PAUSE_MILLIS = 100L
private const val LONGEST_PAUSE_MILLIS = 3000L
private const val SHOWN = 200

/** Tokens, secrets of events, and the addresses of hosted pages. */
private val SECRETS = Regex("""\bct_\w+|whsec_[\w+/=]+|(?<=/pay/)\w+""")

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
private class FailedAttempt(val sentence: String, val status: Int? = null, val wait: Duration = Duration.ZERO, val cause: Exception? = null)

/** Sends requests to the server, again where that is safe, and reads its responses. */
internal class Http(url: String, private val key: String, private val timeout: Duration, proxy: ProxySelector?) {
    val url: String = checkedUrl(url)

    // Redirects are never followed: the API key would travel along.
    private val client = HttpClient.newBuilder()
        .version(HttpClient.Version.HTTP_1_1)
        .followRedirects(HttpClient.Redirect.NEVER)
        .proxy(proxy ?: HttpClient.Builder.NO_PROXY)
        .connectTimeout(timeout)
        .build()

    init {
        // HttpRequest refuses other characters, too, and prints the whole value then.
        require(key.isNotEmpty() && key.all { it in '!'..'~' }) {
            "apiKey: must be a key as `kassa-server keys new` prints it, without spaces and line ends"
        }
        require(timeout > Duration.ZERO) { "timeout: must be above zero" }
    }

    fun <T> send(call: Call, read: (JsonObject) -> T): T {
        val limit = call.timeout ?: timeout
        val deadline = System.nanoTime() + limit.toNanos()
        var attempts = 0
        while (true) {
            attempts++
            val failure = try {
                val response = attempt(call, deadline)
                if (response.statusCode() !in RETRIED) return result(call, response, read)
                FailedAttempt("answered ${response.statusCode()}", response.statusCode(), retryAfter(response))
            } catch (error: IOException) {
                FailedAttempt("could not be reached: ${error.message ?: error.javaClass.simpleName}", cause = error)
            } catch (error: TimeoutException) {
                FailedAttempt("did not answer within ${limit.toMillis()} ms", cause = error)
            }
            val wait = maxOf(backoff(attempts), failure.wait)
            // Nothing was sent where no connection was made.
            val isRepeatable = call.isRepeatable || failure.cause is ConnectException
            if (!isRepeatable || failure.cause is TimeoutException || System.nanoTime() + wait.toNanos() >= deadline) {
                val doubt = if (isRepeatable) "" else "; whether it was carried out is unknown, and it was not sent again"
                val message = "$call: the server at $url ${failure.sentence}$doubt"
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
        val response = client.sendAsync(request.build(), BodyHandlers.ofString(Charsets.UTF_8))
        try {
            return response.get(left, NANOSECONDS)
        } catch (error: ExecutionException) {
            throw error.cause as? IOException ?: IOException(error.cause)
        } catch (error: InterruptedException) {
            throw interrupted(error)
        } finally {
            response.cancel(true)
        }
    }

    private fun <T> result(call: Call, response: HttpResponse<String>, read: (JsonObject) -> T): T {
        val status = response.statusCode()
        val why = when (status) {
            in 200..299 -> try {
                return read(parsed(response.body()))
            } catch (error: MalformedJson) {
                error.message
            }
            in 300..399 -> "it redirects, which is not followed: set the url that it leads to"
            else -> {
                refusal(call, status, response.body())?.let { throw it }
                "it is no problem details (RFC 9457), so it comes from something else: check the url"
            }
        }
        val shown = response.body().take(SHOWN + key.length).replace(key, "(hidden)").replace(SECRETS, "(hidden)").take(SHOWN)
        val message = "$call: the response of $url ($status) cannot be used: $why. It begins: $shown"
        throw KassaClientException.BadResponse(message, status)
    }
}

/** The refusal that the body of a response describes; null if it is none of kassa-server's. */
private fun refusal(call: Call, status: Int, body: String): KassaClientException.Refused? {
    val problem: JsonObject
    val violations: List<Violation>
    try {
        problem = parsed(body)
        violations = if (problem["violations"] !is JsonArray) emptyList() else {
            problem.objects("violations") { Violation(it.text("field"), it.text("rule"), it.text("text")) }
        }
    } catch (_: MalformedJson) {
        return null
    }
    val kind = problem.textOrNull("type")?.substringAfter("urn:kassa:problem:", "")?.takeIf { it.isNotEmpty() } ?: return null
    val detail = problem.textOrNull("detail")
    val summary = detail ?: problem.textOrNull("title") ?: "no detail"
    val said = violations.joinToString("; ") { if (it.text.startsWith(it.field)) it.text else "${it.field} ${it.text}" }.ifEmpty { summary }
    val message = "$call was refused ($status $kind): ${said.removeSuffix(".")}"
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

private fun checkedUrl(url: String): String {
    val uri = runCatching { URI(url) }.getOrNull()
    val isAddress = uri != null && uri.scheme?.lowercase() in setOf("http", "https") && uri.host != null
    require(isAddress && uri?.rawUserInfo == null && uri?.rawQuery == null && uri?.rawFragment == null) {
        "url: must be the server's address, such as https://pay.example.kg, without credentials, query or fragment"
    }
    return url.trimEnd('/')
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
