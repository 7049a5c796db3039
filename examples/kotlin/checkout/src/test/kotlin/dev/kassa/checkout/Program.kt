package dev.kassa.checkout

import java.net.URI
import java.net.http.HttpClient
import java.net.http.HttpRequest
import java.net.http.HttpRequest.BodyPublishers
import java.net.http.HttpResponse.BodyHandlers

/** One of the programs, in a JVM of its own, read line by line. */
class Program(arguments: List<String>, environment: Map<String, String>) : AutoCloseable {
    private val java = ProcessHandle.current().info().command().orElse("java")
    private val process = ProcessBuilder(listOf(java, "-XX:TieredStopAtLevel=1", "-cp", System.getProperty("java.class.path")) + arguments)
        .redirectErrorStream(true)
        .apply { environment().keys.removeIf { it.startsWith("KASSA_") } }
        .apply { environment() += environment }
        .start()
    private val output = process.inputStream.bufferedReader()
    private val read = StringBuilder()

    val isAlive: Boolean get() = process.isAlive

    /** Reads on to these words; what follows them in their line. */
    fun after(words: String): String {
        val line = generateSequence { output.readLine()?.also(read::appendLine) }.find { words in it }
        return checkNotNull(line) { "it ended without $words:\n$read" }.substringAfter(words)
    }

    fun type(line: String) = process.outputStream.use { it.write("$line\n".toByteArray()) }

    /** Everything from here to its end. */
    fun all(): String = output.readText()

    /** How it ended. */
    fun end(): Int = all().let { process.waitFor() }

    fun kill() {
        process.destroyForcibly().waitFor()
    }

    override fun close() = kill()
}

/** Posts a form, as a browser does; the HTTP status of the answer. */
fun post(url: String, form: String): Int {
    val request = HttpRequest.newBuilder(URI(url)).header("Content-Type", "application/x-www-form-urlencoded")
    return HttpClient.newHttpClient().send(request.POST(BodyPublishers.ofString(form)).build(), BodyHandlers.ofString()).statusCode()
}
