package dev.kassa.sandbox

import kotlinx.serialization.SerializationException
import kotlinx.serialization.json.Json
import kotlinx.serialization.json.JsonObject
import java.io.IOException
import java.net.URI
import java.net.URLEncoder
import java.net.http.HttpClient
import java.net.http.HttpRequest
import java.net.http.HttpRequest.BodyPublishers
import java.net.http.HttpResponse
import java.net.http.HttpResponse.BodyHandlers
import java.time.Duration

/** A response takes milliseconds; the rest is for an overloaded machine. */
private val PATIENCE = Duration.ofSeconds(30)

/** Sends requests to a running sandbox by its admin interface, from any thread. */
internal class Admin(private val url: String, private val token: String) {
    // It uses no proxy and follows no redirect. Of this start alone: a connection to the last one is worth nothing.
    private val client = HttpClient.newBuilder()
        .version(HttpClient.Version.HTTP_1_1)
        .proxy(HttpClient.Builder.NO_PROXY)
        .connectTimeout(PATIENCE)
        .build()

    /** Sends a request; throws if the sandbox refused it. */
    fun request(method: String, path: String, body: JsonObject? = null, orderNumber: String? = null): JsonObject {
        val query = orderNumber?.let { "?order_number=${encoded(it)}" }.orEmpty()
        val publisher = body?.let { BodyPublishers.ofString(it.toString()) } ?: BodyPublishers.noBody()
        val request = HttpRequest.newBuilder(URI("$url/admin/$path$query"))
            .timeout(PATIENCE)
            .header("Authorization", "Bearer $token")
            .header("Content-Type", "application/json")
            .method(method, publisher)
            .build()
        val answer = send(request)
        if (answer.statusCode() >= 400) throw refusal(answer.statusCode(), answer.body())
        return read(answer.body())
    }

    /** Submits a form of the payer's pages, as a browser does; the address that it leads to. */
    fun submit(page: URI, vararg fields: Pair<String, String>): URI? {
        val form = fields.joinToString("&") { (name, value) -> "$name=${encoded(value)}" }
        val request = HttpRequest.newBuilder(page)
            .timeout(PATIENCE)
            .header("Content-Type", "application/x-www-form-urlencoded")
            .POST(BodyPublishers.ofString(form))
            .build()
        val answer = send(request)
        if (answer.statusCode() >= 400) {
            val status = answer.statusCode()
            throw SandboxException.Refused(status, "the payer's page refused the form, HTTP $status: ${page.path}", emptyList())
        }
        return answer.headers().firstValue("location").map(page::resolve).orElse(null)
    }

    private fun send(request: HttpRequest): HttpResponse<String> = try {
        client.send(request, BodyHandlers.ofString())
    } catch (error: IOException) {
        throw SandboxException.NotRunning("the sandbox does not answer: $error", error)
    }

    /** Acts as the payer. */
    fun decide(number: String, decision: String, body: JsonObject? = null): Payment = try {
        payment(request("POST", "payments/${encoded(number)}/$decision", body))
    } catch (error: SandboxException.Refused) {
        throw if (error.httpStatus == 404) SandboxException.UnknownPayment("no payment has the number $number") else error
    }
}

private fun encoded(text: String) = URLEncoder.encode(text, Charsets.UTF_8).replace("+", "%20")

/** An object in JSON, or nothing. */
private fun read(text: String): JsonObject {
    if (text.isEmpty()) return JsonObject(emptyMap())
    return try {
        Json.parseToJsonElement(text) as JsonObject
    } catch (error: SerializationException) {
        throw SandboxException("this is not the sandbox of this package: it said ${text.take(200)}", error)
    }
}

private fun violation(told: JsonObject) =
    SandboxException.Violation(told.textOrNull("field").orEmpty(), told.textOrNull("message").orEmpty())

private fun refusal(httpStatus: Int, text: String): SandboxException {
    val violations = try {
        read(text).list("errors").map(::violation)
    } catch (_: SandboxException) {
        emptyList()
    }
    val detail = violations.joinToString("; ").ifEmpty { "the sandbox refused, HTTP $httpStatus: ${text.take(200)}" }
    return SandboxException.Refused(httpStatus, detail, violations)
}
