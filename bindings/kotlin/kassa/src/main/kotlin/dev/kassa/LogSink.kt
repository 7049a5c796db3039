package dev.kassa

import dev.kassa.internal.LogEvent as CoreLogEvent
import dev.kassa.internal.LogSink as CoreLogSink

/** How much an event matters. */
public enum class LogLevel {
    /** Something failed. */
    ERROR,

    /** Something did not go as it should, such as a response that did not come. */
    WARNING,

    /** Something worth knowing. */
    INFO,

    /** Each exchange with the gateway. */
    DEBUG,
}

/**
 * One event, in one line. There is no secret and no body in it.
 *
 * @property level how much it matters
 * @property text what happened, with its details as `name=value`
 */
public data class LogEvent(public val level: LogLevel, public val text: String)

/**
 * Receives Kassa's log events; see [Kassa.logTo]. It is called on a thread of Kassa, one event at a time, and no call waits for it. If
 * more than a thousand events are waiting, further ones are dropped. [Gateway.deliverForever] and
 * [Gateway.deliverUnfinished] call it on their own thread, and wait.
 */
public fun interface LogSink {
    /** Receives one event. Exceptions from it are ignored. */
    public fun log(event: LogEvent)
}

internal class CoreSink(private val sink: LogSink) : CoreLogSink {
    override fun log(event: CoreLogEvent): Unit = log(LogEvent(LogLevel.valueOf(event.level.name), event.text))

    /** One at a time, whoever it comes from. */
    @Synchronized
    fun log(event: LogEvent) {
        try {
            sink.log(event)
        } catch (_: Exception) {
            // The next event is handed on all the same.
        }
    }
}
