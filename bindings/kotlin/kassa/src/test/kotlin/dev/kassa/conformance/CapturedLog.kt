package dev.kassa.conformance

import dev.kassa.support.PATIENCE_SECONDS
import java.util.concurrent.LinkedBlockingQueue
import java.util.concurrent.TimeUnit.SECONDS
import java.util.logging.Handler
import java.util.logging.Level
import java.util.logging.LogRecord
import java.util.logging.Logger

/**
 * Everything that anybody in this JVM logs, at every level and without times: the digits of a moment could be those of a secret.
 */
class CapturedLog : Handler() {
    private val root = Logger.getLogger("")
    private val previous = root.handlers.toList()
    private val lines = LinkedBlockingQueue<String>()

    fun start() {
        // In place of the console.
        previous.forEach(root::removeHandler)
        root.addHandler(this)
        root.level = Level.ALL
        level = Level.ALL
    }

    /** All lines, once there is one with [last]: events are logged in their order, but later than they happen. */
    fun stop(last: String): List<String> {
        val logged = mutableListOf<String>()
        do logged += checkNotNull(lines.poll(PATIENCE_SECONDS, SECONDS)) { "$last was never logged" } while (last !in logged.last())
        root.removeHandler(this)
        previous.forEach(root::addHandler)
        root.level = Level.INFO
        lines.drainTo(logged)
        return logged
    }

    override fun publish(record: LogRecord) {
        // Numbers that were made up, here or by the gateway, have digits of any kind.
        val message = record.message.orEmpty().replace(MADE_UP, "")
        lines += "${record.level} ${record.loggerName} $message ${record.thrown?.stackTraceToString().orEmpty()}"
    }

    override fun flush() = Unit

    override fun close() = Unit

    private companion object {
        val MADE_UP = Regex("[0-9a-f]{32}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
    }
}
