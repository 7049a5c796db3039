package dev.kassa

import kotlin.time.Duration
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds
import kotlin.time.toJavaDuration
import kotlin.time.toKotlinDuration
import dev.kassa.internal.PollPolicy as CorePollPolicy
import dev.kassa.internal.WatchOutcome as CoreWatchOutcome
import dev.kassa.internal.WatchReport as CoreWatchReport

/**
 * How a watch asks.
 *
 * @property interval the time from the start of one query to the start of the next
 * @property deadline how long to go on while the payment is open, from the first query
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

/** What one query of a watch brought: a [StatusReport] or a [QueryFailed]. A final status is the last report. */
public sealed interface WatchReport

/**
 * A query failed, or the gateway does not know the payment (yet). The watch goes on.
 *
 * @property error why
 */
public data class QueryFailed(public val error: PaymentException) : WatchReport

/** How a watch ended. */
public sealed interface WatchOutcome {
    /**
     * The money was taken.
     *
     * @property report the report that says so
     */
    public data class Charged(public val report: StatusReport) : WatchOutcome

    /**
     * The payment ended without the money being taken.
     *
     * @property report the report that says so
     */
    public data class Rejected(public val report: StatusReport) : WatchOutcome

    /** The watch was cancelled. This says nothing about the payment. */
    public data object Cancelled : WatchOutcome
}

internal fun PollPolicy.toCore() = CorePollPolicy(sendable(interval), sendable(deadline))

internal fun CoreWatchReport.toKassa(): WatchReport = when (this) {
    is CoreWatchReport.Status -> report.toKassa()
    is CoreWatchReport.QueryFailed -> QueryFailed(error.toKassa())
}

internal fun CoreWatchOutcome.toKassa(): WatchOutcome = when (this) {
    is CoreWatchOutcome.Charged -> WatchOutcome.Charged(report.toKassa())
    is CoreWatchOutcome.Rejected -> WatchOutcome.Rejected(report.toKassa())
    CoreWatchOutcome.Cancelled -> WatchOutcome.Cancelled
}
