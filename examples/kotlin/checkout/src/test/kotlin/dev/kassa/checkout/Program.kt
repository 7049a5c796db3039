package dev.kassa.checkout

import dev.kassa.sandbox.Sandbox
import kotlinx.serialization.json.Json
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.contentOrNull
import kotlinx.serialization.json.jsonArray
import kotlinx.serialization.json.jsonObject
import org.junit.jupiter.api.Assertions.assertEquals
import java.io.BufferedReader
import java.net.URI
import java.net.http.HttpClient
import java.net.http.HttpRequest
import java.net.http.HttpRequest.BodyPublishers
import java.net.http.HttpResponse.BodyHandlers
import java.nio.file.Files
import java.nio.file.Path
import java.util.concurrent.TimeUnit
import kotlin.concurrent.thread

/** The secrets that a run is given. None of them occurs in a number or a URL by chance. */
const val CVC = "~Q7"
const val PASSWORD = "sesame-Öffne-42"

/** The real program, in a JVM of its own, with a folder for its state file. */
class Program(private val folder: Path, private val gateway: Sandbox? = null, private val password: String = PASSWORD) {
    val state: Path = folder.resolve("state.json")

    /** Every payment in the state file: its reference's text, and where it stands. */
    val payments: List<Pair<String, String>>
        get() = Json.parseToJsonElement(Files.readString(state)).jsonObject.getValue("payments").jsonArray
            .map { it.text("payment")!! to it.text("state")!! }

    fun start(vararg arguments: String, environment: Map<String, String> = emptyMap()): Running {
        val java = Path.of(System.getProperty("java.home"), "bin", "java").toString()
        val jvm = listOf(java, "-XX:TieredStopAtLevel=1", "-Xshare:auto", "-cp", System.getProperty("java.class.path"))
        val all = jvm + MAIN + arguments + listOf("--state", "$state") + reach()
        val builder = ProcessBuilder(all).directory(folder.toFile())
        builder.environment().keys.removeIf { it.startsWith("KASSA_") && it != "KASSA_SANDBOX_BINARY" }
        if (gateway != null) {
            builder.environment() += mapOf("KASSA_URL" to gateway.baseUrl, "KASSA_LOGIN" to "kassa", "KASSA_PASSWORD" to password)
            // Without it, nobody can say that a pay-form's number is not that of a QR payment.
            builder.environment() += "KASSA_DIALECT" to "$SANDBOX_DIALECT"
        }
        builder.environment() += environment
        return Running(builder.start())
    }

    fun run(vararg arguments: String, input: String = "", environment: Map<String, String> = emptyMap()): Run {
        val running = start(*arguments, environment = environment)
        running.say(input)
        return running.end()
    }

    /** Runs it with `--json`, and expects an exit code. */
    fun json(exitCode: Int, vararg arguments: String): JsonObject = run(*arguments, "--json").expect(exitCode).line

    private fun reach() = if (gateway == null) emptyList() else listOf("--poll-interval", "200ms")
}

/** What the gateway sent as its first callback: it writes a delivery down after its receiver has the answer. */
fun firstCallback(gateway: Sandbox): String {
    val end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60)
    while (true) {
        gateway.callbacks().firstOrNull()?.let { return it.body }
        check(System.nanoTime() < end) { "no callback is on record" }
        Thread.sleep(10)
    }
}

private val SANDBOX_DIALECT = Path.of("../../sandbox-dialect.json").toAbsolutePath()

private const val MAIN = "dev.kassa.checkout.MainKt"

/** A program that runs, and is read line by line. */
class Running(val process: Process) {
    private val output: BufferedReader = process.inputStream.bufferedReader()
    private val errors = StringBuilder()
    private val reader = thread { process.errorStream.bufferedReader().forEachLine { errors.appendLine(it) } }

    /** Reads on to the line with these words. */
    fun lineWith(words: String): String =
        generateSequence { output.readLine() }.find { words in it } ?: throw AssertionError("it ended without $words\n$errors")

    /** The URL in the next line with these words. */
    fun urlAfter(words: String): String = lineWith(words).substringAfter("http://").substringBefore(" ").let { "http://$it" }

    /** Writes what its standard input is, or a part of it. */
    fun type(line: String) {
        process.outputStream.write("$line\n".toByteArray())
        process.outputStream.flush()
    }

    /** Writes all of its standard input. A command line that is refused closes the pipe. */
    fun say(input: String) = try {
        process.outputStream.use { it.write(input.toByteArray()) }
    } catch (_: java.io.IOException) {
        // Nobody reads it.
    }

    fun end(): Run {
        val rest = output.readText()
        val exitCode = process.waitFor()
        reader.join()
        return Run(exitCode, rest, errors.toString())
    }
}

/** How a run ended. */
class Run(val exitCode: Int, val stdout: String, val stderr: String) {
    /** The only line of standard output. */
    val line: JsonObject get() = Json.parseToJsonElement(stdout.trim().lines().single()).jsonObject

    fun expect(code: Int): Run = also { assertEquals(code, exitCode, "stdout:\n$stdout\nstderr:\n$stderr") }
}

/** A value in JSON, by the names of the way to it. */
fun JsonElement.at(vararg path: Any): JsonElement =
    path.fold(this) { it, name -> if (name is Int) it.jsonArray[name] else it.jsonObject.getValue("$name") }

fun JsonElement.text(vararg path: Any): String? = (at(*path) as JsonPrimitive).contentOrNull

/** Posts a body to a URL on this machine; the HTTP status of the answer. */
fun post(url: String, body: String, type: String = "application/x-www-form-urlencoded"): Int {
    val request = HttpRequest.newBuilder(URI(url)).header("Content-Type", type).POST(BodyPublishers.ofString(body)).build()
    return HttpClient.newHttpClient().send(request, BodyHandlers.ofString()).statusCode()
}
