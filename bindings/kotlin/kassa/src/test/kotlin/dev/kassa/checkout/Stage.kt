package dev.kassa.checkout

import dev.kassa.support.PATIENCE_SECONDS
import dev.kassa.support.at
import dev.kassa.support.jsonOf
import dev.kassa.support.parseJson
import dev.kassa.support.text
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonNull
import java.net.URI
import java.net.http.HttpClient
import java.net.http.HttpRequest
import java.net.http.HttpRequest.BodyPublishers
import java.net.http.HttpResponse.BodyHandlers
import java.time.Duration

/**
 * The program `kassa-stage`, one for all tests: everybody around the payer's app (`tests/stage`). It ends with this JVM, because its standard
 * input does.
 */
object Stage {
    private val http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build()

    private val url: String by lazy {
        val process = ProcessBuilder(System.getProperty("kassa.stage")).redirectError(ProcessBuilder.Redirect.INHERIT).start()
        checkNotNull(process.inputReader().readLine()) { "the stage did not start" }
    }

    /** Sets up a scene, as a vector says. */
    @JvmStatic
    @JvmOverloads
    fun open(plan: JsonElement = jsonOf()): Scene {
        val opened = call("POST", "/scenes", plan)
        return Scene("/scenes/${opened.at("scene")}", opened.at("server_url").text, opened.at("client_token").text)
    }

    internal fun call(method: String, path: String, body: JsonElement = JsonNull): JsonElement {
        val request = HttpRequest.newBuilder(URI(url + path))
            .timeout(Duration.ofSeconds(2 * PATIENCE_SECONDS)) // so that a wait inside the stage times out first
            .header("Content-Type", "application/json")
            .method(method, BodyPublishers.ofString("$body"))
            .build()
        val answer = http.send(request, BodyHandlers.ofString())
        check(answer.statusCode() == 200) { answer.body() }
        return parseJson(answer.body())
    }
}

/** A checkout that is to be paid, with everybody around its payer's app. */
class Scene internal constructor(private val path: String, val serverUrl: String, val clientToken: String) : AutoCloseable {
    /** What somebody does, and what comes of it. */
    @JvmOverloads
    fun step(name: String, input: JsonElement = jsonOf()): JsonElement =
        Stage.call("POST", "$path/steps", jsonOf("do" to name, "input" to input))

    fun newToken(): String = step("new_token").text

    override fun close() {
        Stage.call("DELETE", path)
    }
}
