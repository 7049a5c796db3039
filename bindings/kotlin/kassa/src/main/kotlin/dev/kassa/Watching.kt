package dev.kassa

import kotlin.time.Duration
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds
import kotlin.time.toJavaDuration
import kotlin.time.toKotlinDuration
import dev.kassa.internal.PollPolicy as CorePollPolicy
import dev.kassa.internal.WatchReport as CoreWatchReport

/**
 * How a watch polls.
 *
 * @property interval the time from the start of one query to the start of the next
 * @property deadline the time limit while the payment is pending, from the first query
 */
public data class PollPolicy(
    public val interval: Duration = 10.seconds,
    public val deadline: Duration = 20.minutes,
) {
    /** A policy by Java's durations. */
    public constructor(interval: java.time.Duration, deadline: java.time.Duration) :
        this(interval.toKotlinDuration(), deadline.toKotlinDuration())

    /** The interval, for Java. */
    public fun getInterval(): java.time.Duration = interval.toJavaDuration()

    /** The deadline, for Java. */
    public fun getDeadline(): java.time.Duration = deadline.toJavaDuration()
}

/** What one query of a watch brought: a [Verdict] or a [QueryFailed]. The verdict that ends the watch is the last report. */
public sealed interface WatchReport

/**
 * A query failed, or the gateway does not know the payment (yet). The watch continues.
 *
 * @property error why
 */
public data class QueryFailed(public val error: PaymentException) : WatchReport

internal fun PollPolicy.toCore() = CorePollPolicy(sendable(interval), sendable(deadline))

internal fun CoreWatchReport.toKassa(): WatchReport = when (this) {
    is CoreWatchReport.Status -> verdict.toKassa()
    is CoreWatchReport.QueryFailed -> QueryFailed(error.toKassa())
}
