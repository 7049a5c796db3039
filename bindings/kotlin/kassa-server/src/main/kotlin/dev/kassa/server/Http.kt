package dev.kassa.server

import java.io.IOException
import java.net.URI
import java.net.URLEncoder
import java.net.http.HttpClient
import java.net.http.HttpRequest
import java.net.http.HttpRequest.BodyPublishers
import java.net.http.HttpResponse
import java.net.http.HttpResponse.BodyHandlers
import java.time.Duration

/** Longer than the server itself waits for a change. */
private val PATIENCE = Duration.ofSeconds(90)

/** Sends HTTP requests. It uses no proxy, and follows no redirect. */
internal class Http {
    private val client = HttpClient.newBuilder()
        .version(HttpClient.Version.HTTP_1_1)
        .proxy(HttpClient.Builder.NO_PROXY)
        .connectTimeout(PATIENCE)
        .build()

    /** Sends a request to the server; throws if it refused it. */
    fun request(method: String, url: String, headers: Map<String, String>, body: String?): String {
        val publisher = body?.let(BodyPublishers::ofString) ?: BodyPublishers.noBody()
        val request = HttpRequest.newBuilder(URI(url)).timeout(PATIENCE).method(method, publisher)
        request.header("Content-Type", "application/json")
        headers.forEach(request::header)
        val answer = send(request.build())
        if (answer.statusCode() >= 400) throw KassaServerException.Refused(answer.statusCode(), answer.body())
        return answer.body()
    }

    private fun send(request: HttpRequest): HttpResponse<String> = try {
        client.send(request, BodyHandlers.ofString())
    } catch (error: IOException) {
        throw KassaServerException.NotRunning("${request.uri().authority} does not answer: $error", error)
    }
}

internal fun encoded(text: String): String = URLEncoder.encode(text, Charsets.UTF_8).replace("+", "%20")
