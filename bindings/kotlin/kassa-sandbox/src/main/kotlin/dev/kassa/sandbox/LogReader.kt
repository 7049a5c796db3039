package dev.kassa.sandbox

import java.io.IOException
import java.io.InputStream
import java.util.Optional
import java.util.concurrent.ArrayBlockingQueue
import java.util.function.Consumer
import kotlin.concurrent.thread

/** Of the end of the log, for the exception of a start that failed. */
private const val KEPT_LINES = 50

/** For a consumer that is slow. Where it stands still, further lines are lost. */
private const val WAITING_LINES = 10_000
private const val PATIENCE_MILLIS = 5_000L

/** Reads a child's log without pause, so that the child never waits for a reader, and hands it on. */
internal class LogReader(private val stream: InputStream, sink: Consumer<String>?) {
    private val last = ArrayDeque<String>()

    /** What the sink has not taken yet; an empty one is the end. */
    private val waiting = sink?.let { ArrayBlockingQueue<Optional<String>>(WAITING_LINES) }
    private val threads = listOfNotNull(
        thread(name = "kassa-sandbox-log", isDaemon = true) { read() },
        // A sink may wait for whatever it likes, so it is not called by the one who reads.
        sink?.let { thread(name = "kassa-sandbox-log-sink", isDaemon = true) { handOn(it) } },
    )

    /** Waits until all was handed on; the end of the log. */
    fun finish(): String {
        threads.filter { it != Thread.currentThread() }.forEach { it.join(PATIENCE_MILLIS) }
        return synchronized(last) { last.joinToString("\n") }
    }

    private fun read() {
        try {
            stream.bufferedReader().useLines { lines -> lines.forEach(::take) }
        } catch (_: IOException) {
            // The pipe was closed with the child.
        }
        waiting?.put(Optional.empty())
    }

    private fun take(line: String) {
        synchronized(last) {
            last += line
            if (last.size > KEPT_LINES) last.removeFirst()
        }
        waiting?.offer(Optional.of(line))
    }

    private fun handOn(sink: Consumer<String>) {
        while (true) sink.accept(waiting?.take()?.orElse(null) ?: break)
    }
}

/** Hands the log to `System.Logger`. What is a line for each request there is a detail in a test. */
internal object SystemLog : Consumer<String> {
    private val logger = System.getLogger("dev.kassa.sandbox")
    private val line = Regex("""\S+\s+(TRACE|DEBUG|INFO|WARN|ERROR)\s+(.*)""")

    override fun accept(text: String) {
        val (level, message) = line.matchEntire(text)?.destructured ?: return logger.log(System.Logger.Level.DEBUG, text)
        logger.log(
            when (level) {
                "ERROR" -> System.Logger.Level.ERROR
                "WARN" -> System.Logger.Level.WARNING
                "INFO" -> System.Logger.Level.DEBUG
                else -> System.Logger.Level.TRACE
            },
            message,
        )
    }
}
