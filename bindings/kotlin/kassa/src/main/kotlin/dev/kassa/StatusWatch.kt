package dev.kassa

import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.flow
import java.util.concurrent.CopyOnWriteArraySet

/**
 * Polls one payment: a query at once, then one per interval, one at a time, until there is a final [Verdict].
 *
 * Collect its [reports], or wait for its [outcome]. Both throw [PaymentException.DeadlineExpired] if the payment was still pending at the
 * deadline, and [PaymentException.Unauthorized] or [PaymentException.Misconfigured] if further queries are useless. None of these means
 * that the payment failed.
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
     * It is a cold flow: no query is sent before it is collected, each collection polls separately, the next query waits for a slow
     * collector, and cancelling the collector stops polling at once. Failed queries and "not found" are reported and do not end the
     * watch; wrong credentials, a wrong configuration or a report that contradicts the request end it after three in a row. It ends after
     * the final verdict.
     *
     * ```
     * gateway.watch(payment).reports.collect { report -> show(report) }
     * ```
     */
    public val reports: Flow<WatchReport> = flow {
        running.use { watch ->
            while (true) emit(awaited { watch.next(it) } ?: break)
        }
    }

    /**
     * The verdict that ended the watch; **null if it was cancelled**, which says nothing about the payment. It polls until then, like a
     * separate collection; cancelling the coroutine stops it at once.
     *
     * @throws PaymentException as collecting does
     */
    public suspend fun outcome(): Verdict? = running.use { watch -> awaited { watch.outcome(it) } }

    /** Makes the next query due at once, for example when the payer has just come back. Without a running collection it does nothing. */
    public fun checkNow(): Unit = running.checkNow()

    /** Stops polling permanently: every collection ends, and there is no outcome unless the watch had already ended. */
    public fun cancel(): Unit = running.cancel()

    /** The class name only, not whether it has ended. */
    override fun toString(): String = "StatusWatch()"

    /** The core's watches that poll just now: one for each collection. */
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
