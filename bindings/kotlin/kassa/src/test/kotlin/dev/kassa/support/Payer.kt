package dev.kassa.support

import java.net.URI
import java.net.http.HttpClient
import java.net.http.HttpRequest
import java.net.http.HttpResponse
import java.net.http.HttpResponse.BodyHandlers

/** Plays the payer on a page of the gateway; where it sends the payer to, if anywhere. */
fun submit(page: URI, form: String): URI? {
    val answer = post(page, form)
    check(answer.statusCode() in setOf(200, 303)) { answer.body() }
    return answer.headers().firstValue("location").map(page::resolve).orElse(null)
}

/** The HTTP status with which a page of the gateway answers its payer. */
fun statusOfPost(page: URI, form: String): Int = post(page, form).statusCode()

private val client: HttpClient by lazy(HttpClient::newHttpClient)

private fun post(page: URI, form: String): HttpResponse<String> {
    val request = HttpRequest.newBuilder(page)
        .header("content-type", "application/x-www-form-urlencoded")
        .POST(HttpRequest.BodyPublishers.ofString(form))
    return client.send(request.build(), BodyHandlers.ofString())
}
