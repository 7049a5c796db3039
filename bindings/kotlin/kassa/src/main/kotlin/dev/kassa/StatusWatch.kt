package dev.kassa

import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.flow
import java.util.concurrent.CopyOnWriteArraySet

/**
 * Follows one payment: a query at once, then one every interval, one at a time, until there is a final [Verdict].
 *
 * Collect its [reports], or wait for its [outcome]. Either throws [PaymentException.DeadlineExpired] where the payment was still
 * open at the deadline, and [PaymentException.Unauthorized] or [PaymentException.Misconfigured] where asking on is useless. None of
 * them says that the payment failed.
 *
 * ```
 * when (val verdict = gateway.watch(payment).outcome()) {
 *     is Verdict.Charged -> ship(verdict.payment)
 *     is Verdict.Rejected -> tellThePayer()
 *     null -> Unit // the watch was cancelled
 *     else -> letAPersonLook(verdict)
 * }
 * ```
 */
public class StatusWatch internal constructor(private val running: Running) {
    /**
     * What each query brings: a [Verdict] or a [QueryFailed].
     *
     * It is a cold flow: nothing is asked before it is collected, every collection asks on its own, the next query waits for a slow
     * collector, and cancelling the collector stops the asking at once. Failed queries and "not found" are reported and end nothing;
     * wrong credentials, a wrong configuration and a report that contradicts what was asked for do, where three queries in a row end
     * in them. It ends after the final verdict.
     *
     * ```
     * gateway.watch(payment).reports.collect { report -> show(report) }
     * ```
     */
    public val reports: Flow<WatchReport> = flow {
        running.use { watch ->
            while (true) emit(onDefault { watch.next() } ?: break)
        }
    }

    /**
     * The verdict that ended the watch; **null where it was cancelled**, which says nothing about the payment. It asks on until then,
     * on its own, like a collection; cancelling the coroutine stops it at once.
     *
     * @throws PaymentException as collecting does
     */
    public suspend fun outcome(): Verdict? = running.use { onDefault { it.outcome() } }

    /** Makes the next query due at once: when the payer has just come back. Where nothing is being asked, nothing happens. */
    public fun checkNow(): Unit = running.checkNow()

    /**
     * Stops asking, now and for good: every collection ends, and there is no outcome unless the watch had ended before.
     */
    public fun cancel(): Unit = running.cancel()

    /** What it is, and not whether it has ended. */
    override fun toString(): String = "StatusWatch()"

    /** The core's watches that are asking just now: one for each collection. */
    internal class Running(private val start: () -> WatchCore) {
        private val watches = CopyOnWriteArraySet<WatchCore>()

        @Volatile
        private var isCancelled = false

        suspend fun <T> use(block: suspend (WatchCore) -> T): T {
            val watch = start()
            watches += watch
            // Looked at after it was added, so that a cancel in between is not missed.
            if (isCancelled) watch.cancel()
            try {
                return block(watch)
            } finally {
                watches -= watch
            }
        }

        fun checkNow() = watches.forEach { it.checkNow() }

        fun cancel() {
            isCancelled = true
            watches.forEach { it.cancel() }
        }
    }
}
