package dev.kassa.sandbox

import kotlinx.serialization.json.JsonNull
import java.time.OffsetDateTime
import kotlin.time.Duration
import kotlin.time.DurationUnit
import kotlin.time.toJavaDuration
import kotlin.time.toKotlinDuration

/**
 * The gateway's clock, and when pending payments become final.
 *
 * @property now what time it is there
 * @property ahead how far it is ahead of the machine's clock
 * @property resolveAfterQueries after how many status queries a pending payment becomes final; null for never
 * @property resolveAfter after how long a pending payment becomes final; null for never
 */
public data class ClockValues(
    public val now: OffsetDateTime,
    public val ahead: Duration,
    public val resolveAfterQueries: Int?,
    public val resolveAfter: Duration?,
) {
    /** How far it is ahead of the machine's clock, for Java. */
    public fun getAhead(): java.time.Duration = ahead.toJavaDuration()

    /** After how long a pending payment becomes final, for Java; null for never. */
    public fun getResolveAfter(): java.time.Duration? = resolveAfter?.toJavaDuration()
}

/** The gateway's clock, and when pending payments become final. [Sandbox.reset] resets it. */
public class Clock internal constructor(private val admin: () -> Admin) {
    /** What time it is there, and when pending payments become final. */
    public fun read(): ClockValues = clockValues(admin().request("GET", "clock"))

    /**
     * Moves the clock forward, by whole milliseconds. What is due by then happens at once: callbacks are sent again, pending payments
     * become final, cards expire.
     *
     * @throws SandboxException.Refused if it would be more than a hundred years ahead
     */
    public fun forward(by: Duration): ClockValues =
        clockValues(admin().request("POST", "clock/forward", objectOf("ms" to by.whole("by", DurationUnit.MILLISECONDS))))

    /** The same, for Java. */
    public fun forward(by: java.time.Duration): ClockValues = forward(by.toKotlinDuration())

    /**
     * Lets pending payments become final by themselves, those that are pending already, too; without either, never.
     *
     * @param afterQueries after this many status queries, each of which still returns `PENDING`
     * @param after after this time by the sandbox's clock, in whole milliseconds
     */
    public fun resolvePending(afterQueries: Int? = null, after: Duration? = null): ClockValues {
        // Settings that are not given stay unchanged; null turns one off.
        val wanted = objectOf(
            "resolve_after_queries" to (afterQueries ?: JsonNull),
            "resolve_after_ms" to (after?.whole("after", DurationUnit.MILLISECONDS) ?: JsonNull),
        )
        return clockValues(admin().request("PATCH", "clock", wanted))
    }

    /** Lets pending payments become final after this many status queries; null for never. For Java. */
    public fun resolvePending(afterQueries: Int?): ClockValues = resolvePending(afterQueries, after = null)

    /** The same, or after this time. For Java. */
    public fun resolvePending(afterQueries: Int?, after: java.time.Duration): ClockValues =
        resolvePending(afterQueries, after.toKotlinDuration())
}
