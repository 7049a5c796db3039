package dev.kassa.server

import kotlinx.serialization.json.Json
import kotlinx.serialization.json.jsonObject
import kotlinx.serialization.json.jsonPrimitive
import java.io.IOException
import java.nio.file.Files
import java.nio.file.Path
import java.util.concurrent.CompletableFuture
import java.util.concurrent.TimeUnit.SECONDS

/** A start takes milliseconds; the rest is for an overloaded machine. */
private const val START_PATIENCE_SECONDS = 60L

/** An end in order takes five seconds at most. */
private const val STOP_PATIENCE_SECONDS = 15L

/** Of the end of the log, for the exception of a start that failed. */
private const val SHOWN = 4000

/**
 * A running server. It lives as long as the pipe to its standard input, which only this JVM holds, and which the system closes when
 * the JVM ends, by SIGKILL too.
 */
internal class Child(program: Path, environment: Map<String, String>, private val log: Path) {
    private val began = if (Files.exists(log)) Files.size(log).toInt() else 0
    private val process = start(program, environment, log)

    /** Where it listens. */
    val url: String

    val pid: Long get() = process.pid()
    val isRunning: Boolean get() = process.isAlive

    init {
        try {
            url = waitUntilReady()
        } catch (error: KassaServerException) {
            kill()
            throw error
        }
    }

    /** Shuts it down gracefully: running requests are answered first. */
    fun stop() = bury {
        letGo()
        if (!process.waitFor(STOP_PATIENCE_SECONDS, SECONDS)) process.destroyForcibly()
    }

    /** Ends it without giving it a chance to put anything in order. */
    fun kill() = bury {
        process.destroyForcibly()
        letGo()
    }

    private fun bury(end: () -> Unit) {
        try {
            end()
            process.waitFor()
        } catch (_: InterruptedException) {
            process.destroyForcibly()
            Thread.currentThread().interrupt()
        }
    }

    private fun letGo() = try {
        process.outputStream.close()
    } catch (_: IOException) {
        // It has ended already.
    }

    private fun waitUntilReady(): String {
        val later = CompletableFuture.delayedExecutor(START_PATIENCE_SECONDS, SECONDS)
        val deadline = CompletableFuture.runAsync({ process.destroyForcibly() }, later)
        val line = try {
            process.inputStream.bufferedReader().readLine()
        } catch (_: IOException) {
            null
        } finally {
            deadline.cancel(false)
        }
        if (line == null) throw KassaServerException.NotStarted("the server did not start", process.waitFor(), told())
        try {
            return Json.parseToJsonElement(line).jsonObject.getValue("url").jsonPrimitive.content
        } catch (error: RuntimeException) {
            val detail = "this is not a server of the same version: its announcement cannot be read"
            throw KassaServerException.NotStarted(detail, cause = error)
        }
    }

    private fun told(): String {
        val bytes = Files.readAllBytes(log)
        return String(bytes, began, bytes.size - began).trim().takeLast(SHOWN)
    }
}

private fun start(program: Path, environment: Map<String, String>, log: Path): Process {
    val builder = ProcessBuilder(program.toString(), "serve", "--announce", "json", "--exit-with-stdin")
    builder.redirectError(ProcessBuilder.Redirect.appendTo(log.toFile()))
    try {
        return builder.apply { take(environment) }.start()
    } catch (error: IOException) {
        throw KassaServerException.NotStarted("$program cannot be started: ${error.message}", cause = error)
    }
}

/** Settings of the user's own server must not affect this one. */
internal fun ProcessBuilder.take(environment: Map<String, String>) {
    environment().keys.removeIf { it.startsWith(PREFIX) }
    environment().putAll(environment)
}
