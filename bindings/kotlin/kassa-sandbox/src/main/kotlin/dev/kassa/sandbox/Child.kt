package dev.kassa.sandbox

import kotlinx.serialization.json.Json
import kotlinx.serialization.json.jsonObject
import java.io.IOException
import java.nio.file.Path
import java.util.concurrent.CompletableFuture
import java.util.concurrent.TimeUnit.SECONDS
import java.util.function.Consumer

/** A start takes milliseconds; the rest is for an overloaded machine. */
private const val START_PATIENCE_SECONDS = 60L

/** The sandbox lets go of what is under way after a few seconds. */
private const val STOP_PATIENCE_SECONDS = 15L

/**
 * A running sandbox. It lives as long as the pipe to its standard input, which only this JVM holds: other processes that are
 * started from here do not inherit it, and the system closes it when the JVM ends, by SIGKILL too.
 */
internal class Child(
    program: Path,
    arguments: List<String>,
    environment: Map<String, String>,
    sink: Consumer<String>?,
) {
    private val process = start(program, arguments, environment)
    private val log = LogReader(process.errorStream, sink)

    /** Where it listens. */
    val url: String

    val pid: Long get() = process.pid()
    val isRunning: Boolean get() = process.isAlive

    init {
        try {
            url = waitUntilReady()
        } catch (error: SandboxException) {
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
            log.finish()
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
        if (line == null) {
            val exitCode = process.waitFor()
            throw SandboxException.NotStarted("the sandbox did not start", exitCode, log.finish())
        }
        try {
            return Json.parseToJsonElement(line).jsonObject.text("url")
        } catch (error: IllegalArgumentException) {
            throw notTheSame(error)
        } catch (error: SandboxException) {
            throw notTheSame(error)
        }
    }

    private fun notTheSame(cause: Exception) = SandboxException.NotStarted(
        "this is not a sandbox of the same version: its announcement cannot be read",
        cause = cause,
    )
}

private fun start(program: Path, arguments: List<String>, environment: Map<String, String>): Process {
    val command = listOf(program.toString()) + arguments + listOf("--announce", "json", "--exit-with-stdin")
    try {
        return ProcessBuilder(command).apply { environment().putAll(environment) }.start()
    } catch (error: IOException) {
        throw SandboxException.NotStarted("$program cannot be started: ${error.message}", cause = error)
    }
}
