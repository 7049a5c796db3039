package dev.kassa

import java.io.Serializable
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.Job
import kotlinx.coroutines.runInterruptible
import kotlin.time.Duration
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.nanoseconds
import kotlin.time.Duration.Companion.seconds
import kotlin.time.toJavaDuration
import kotlin.time.toKotlinDuration

/**
 * What a program does with the payments that [Gateway.deliverForever] and [Gateway.deliverUnfinished] bring to their end. A lambda is
 * [deliver] alone.
 *
 * If a method throws, `deliverForever` calls it again later, and `deliverUnfinished` leaves the payment to the next delivery. **It may be
 * called twice for one payment**, after a crash between delivering and finishing: let a second call do nothing, for example by the
 * entry's id in the transaction that delivers.
 */
public fun interface DeliveryHandler {
    /** The money was taken: deliver what the entry's note says. Its entry is finished after this has returned. */
    public suspend fun deliver(entry: JournalEntry)

    /**
     * Any other result: a payment of which nothing was taken ([JournalState.REJECTED]; release what was reserved), and what a person should
     * look at: a payment of another amount ([JournalState.MISMATCH]), one that the gateway does not answer about, an entry that cannot be
     * read. It is logged before. **A rejected payment may still be [delivered][deliver] later**, as a gateway may correct its report. The
     * journal keeps no note of this call, so it can be missed where the process ends.
     */
    public suspend fun otherwise(recovered: Recovered): Unit = Unit
}

/**
 * The same as [DeliveryHandler] for Java and other blocking programs.
 *
 * ```java
 * gateway.deliverForever(entry -> shop.deliver(entry.getNote()));
 * ```
 */
public fun interface BlockingDeliveryHandler {
    /** The money was taken: deliver what the entry's note says. Its entry is finished after this has returned. */
    @Throws(Exception::class)
    public fun deliver(entry: JournalEntry)

    /**
     * Any other result: a payment of which nothing was taken ([JournalState.REJECTED]; release what was reserved), and what a person should
     * look at: a payment of another amount ([JournalState.MISMATCH]), one that the gateway does not answer about, an entry that cannot be
     * read. It is logged before. **A rejected payment may still be [delivered][deliver] later**, as a gateway may correct its report. The
     * journal keeps no note of this call, so it can be missed where the process ends.
     */
    @Throws(Exception::class)
    public fun otherwise(recovered: Recovered): Unit = Unit
}

/**
 * How a worker polls and repeats.
 *
 * @property interval the time from one query of a young payment to the next; [RecoveryPolicy.interval] says how older ones are polled
 * @property atOnce how many payments are queried concurrently
 * @property firstPause the time until the handler is called again after it threw, and until a failed recovery is restarted. It is doubled
 *   after each failure in a row
 * @property longestPause the longest of these times; a recovery is restarted after a minute at most
 */
public data class DeliveryPolicy(
    public val interval: Duration = 10.seconds,
    public val atOnce: Int = 8,
    public val firstPause: Duration = 1.seconds,
    public val longestPause: Duration = 5.minutes,
) {
    /** A policy by Java's durations. */
    @JvmOverloads
    public constructor(
        interval: java.time.Duration,
        atOnce: Int = 8,
        firstPause: java.time.Duration = java.time.Duration.ofSeconds(1),
        longestPause: java.time.Duration = java.time.Duration.ofMinutes(5),
    ) : this(interval.toKotlinDuration(), atOnce, firstPause.toKotlinDuration(), longestPause.toKotlinDuration())

    /** The interval, for Java. */
    public fun getInterval(): java.time.Duration = interval.toJavaDuration()

    /** The first pause, for Java. */
    public fun getFirstPause(): java.time.Duration = firstPause.toJavaDuration()

    /** The longest pause, for Java. */
    public fun getLongestPause(): java.time.Duration = longestPause.toJavaDuration()

    /** A recovery has its own rules, which it checks itself. */
    internal fun check() {
        val violations = listOf("firstPause" to firstPause, "longestPause" to longestPause - firstPause + 1.nanoseconds)
            .filterNot { (_, pause) -> pause.isPositive() }
            .map { (field, _) -> Violation(field, Rule.MINIMUM, null, "$field is too short: 0 < firstPause <= longestPause") }
        if (violations.isNotEmpty()) throw PaymentException.Invalid(violations)
    }

    /** After this many failures in a row. */
    internal fun pauseAfter(failures: Int): Duration =
        (firstPause * (1 shl (failures - 1).coerceIn(0, 20))).coerceAtMost(longestPause)
}

/**
 * Ends a [Gateway.deliverForever] from any thread, for example when the program gets a signal to end. The call of the handler that is running is
 * waited for.
 */
public class StopSignal : AutoCloseable {
    internal val job = Job()

    /** Whether it was stopped. */
    public val isStopped: Boolean get() = job.isCompleted

    /** Stops it. Another call does nothing. */
    public fun stop() {
        job.complete()
    }

    /** The same as [stop]. */
    override fun close(): Unit = stop()

    /** Whether it was stopped. */
    override fun toString(): String = "StopSignal(isStopped=$isStopped)"
}

/**
 * What [Gateway.deliverForever] or [Gateway.deliverUnfinished] delivered, and what it left open when it ended. It is [Serializable].
 *
 * @property delivered how many payments the handler delivered and the journal has as finished
 * @property leftOpen the journal's unfinished entries, the oldest first: the next delivery goes on with them. Null if the journal could
 *   not be read
 */
public data class DeliverySummary(public val delivered: Int, public val leftOpen: List<Unfinished>?) : Serializable {
    /** Charged, and not delivered yet. */
    public val undelivered: List<JournalEntry> get() = payments(JournalState.CHARGED)

    /** Pending or unknown: money may have moved, or may still move. */
    public val undecided: List<JournalEntry> get() = payments(JournalState.PENDING, JournalState.UNKNOWN)

    /** Payments of another amount, and entries that cannot be read. */
    public val forAPerson: List<Unfinished>
        get() = leftOpen.orEmpty().filter { it !is Unfinished.Payment || it.entry.state == JournalState.MISMATCH }

    private fun payments(vararg states: JournalState) =
        leftOpen.orEmpty().filterIsInstance<Unfinished.Payment>().map { it.entry }.filter { it.state in states }

    /** The counts: a page's address in an entry is not to be logged. */
    override fun toString(): String = "$delivered delivered; " + when {
        leftOpen == null -> "the journal could not be read"
        leftOpen.isEmpty() -> "left open: nothing"
        else -> "left open: ${undelivered.size} charged and not delivered, ${undecided.size} undecided, ${forAPerson.size} for a person"
    }
}

/** The same handler for a delivery; [run] makes its calls. */
internal fun BlockingDeliveryHandler.suspending(run: suspend (() -> Unit) -> Unit): DeliveryHandler {
    val blocking = this
    return object : DeliveryHandler {
        override suspend fun deliver(entry: JournalEntry) = run { blocking.deliver(entry) }

        override suspend fun otherwise(recovered: Recovered) = run { blocking.otherwise(recovered) }
    }
}

/** Makes a call that a cancellation interrupts. If it returns all the same, it was made, and counts. */
internal suspend fun interruptibly(call: () -> Unit) {
    var hasReturned = false
    try {
        runInterruptible {
            call()
            hasReturned = true
        }
    } catch (error: CancellationException) {
        if (!hasReturned) throw error
    }
}
