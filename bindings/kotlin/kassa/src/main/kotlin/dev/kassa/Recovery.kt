package dev.kassa

import java.io.ObjectInputStream
import java.io.Serializable
import java.util.concurrent.CancellationException
import kotlin.time.Duration
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds
import kotlin.time.toJavaDuration
import kotlin.time.toKotlinDuration
import dev.kassa.internal.AsyncCall
import dev.kassa.internal.FfiConverterTypeRecovered
import dev.kassa.internal.Receipt
import dev.kassa.internal.await
import dev.kassa.internal.readOptional
import dev.kassa.internal.RecoveryPolicy as CoreRecoveryPolicy
import dev.kassa.internal.Recovered as CoreRecovered
import dev.kassa.internal.Recovery as CoreRecovery

/**
 * The polling policy of [Gateway.recover] and [Gateway.deliverUnfinished].
 *
 * ```
 * gateway.recover(RecoveryPolicy(deadline = 30.seconds)) // once through, at a start, and not for long
 * ```
 *
 * @property interval the time from the start of one query of a payment to the start of the next, while the payment is younger than 20
 *   minutes. Older payments are queried less often: until 2 hours of age a sixth as often, until a day a sixtieth, until three days every
 *   360th time, then every 8640th: daily
 * @property deadline the time limit. Without [followNew], the time in which your code handles a result does not count
 * @property atOnce how many payments are queried concurrently
 * @property followNew whether it also polls payments that begin later, for a back-end worker: it reads the journal again after each
 *   interval and runs until its deadline, even if nothing is left. **Then only the recovery must deliver**: code that created such a
 *   payment and also watches it would deliver it twice
 */
public data class RecoveryPolicy(
    public val interval: Duration = 10.seconds,
    public val deadline: Duration = 20.minutes,
    public val atOnce: Int = 8,
    public val followNew: Boolean = false,
) {
    /** A policy by Java's durations. */
    @JvmOverloads
    public constructor(
        interval: java.time.Duration,
        deadline: java.time.Duration,
        atOnce: Int = 8,
        followNew: Boolean = false,
    ) : this(interval.toKotlinDuration(), deadline.toKotlinDuration(), atOnce, followNew)

    /** The interval, for Java. */
    public fun getInterval(): java.time.Duration = interval.toJavaDuration()

    /** The deadline, for Java. */
    public fun getDeadline(): java.time.Duration = deadline.toJavaDuration()
}

/**
 * A result of recovery: a payment that has ended, or an entry that only a person can read. It is [Serializable], and is read back as the
 * same type.
 */
public sealed class Recovered : Serializable {
    /**
     * A payment that is [JournalState.CHARGED] (deliver, then finish its entry), [JournalState.REJECTED] (nothing was taken; its entry is
     * listed no more), or [JournalState.MISMATCH] (for a person). **A rejected payment may come again, as charged**: a gateway may
     * correct its report. One that is still [JournalState.UNKNOWN] or [JournalState.PENDING] is for a person, too: the gateway answers
     * about others, and about this one with errors alone, as its reason says. It stays unfinished.
     *
     * @property entry its entry. The state says how it ended
     */
    public data class Payment(public val entry: JournalEntry) : Recovered() {
        private fun readObject(stream: ObjectInputStream): Unit = whole(stream) { listOf(entry) }
    }

    /**
     * An entry that cannot be read, as [Unfinished.Unreadable].
     *
     * @property id the file's name
     * @property why the error
     */
    public data class Unreadable(public val id: String, public val why: String) : Recovered() {
        private fun readObject(stream: ObjectInputStream): Unit = whole(stream) { listOf(id, why) }
    }
}

/** One recovery of the core's, with this package's values. Another one may recover once it has ended or is closed. */
internal class RecoveryCore(private val core: CoreRecovery) : AutoCloseable {
    @Volatile
    private var isClosed = false

    suspend fun next(receipt: Receipt): Recovered? = try {
        if (isClosed) null else calling { nextOf(core, receipt) }
    } catch (error: IllegalStateException) {
        // Closed in between: the core's object is gone. A cancelled coroutine is another thing.
        if (isClosed && error !is CancellationException) null else throw error
    }

    private suspend fun nextOf(core: CoreRecovery, receipt: Receipt) = await(AsyncCall.RecoveryNext(core), receipt) { answer ->
        answer.readOptional { FfiConverterTypeRecovered.read(it).toKassa() }
    }

    /** Other processes wait until it is closed, also after its end and after the gateway was closed. */
    fun holdLock(): Unit = calling { core.holdLock() }

    /** Whoever is waiting is told that there is nothing more, and with the object goes the lock. */
    override fun close() {
        isClosed = true
        calling {
            try {
                core.cancel()
            } catch (_: IllegalStateException) {
                // It is closed already.
            }
            core.close()
        }
    }
}

internal fun RecoveryPolicy.toCore() =
    CoreRecoveryPolicy(sendable(interval), sendable(deadline), atOnce.coerceAtLeast(0).toUInt(), followNew)

private fun CoreRecovered.toKassa(): Recovered = when (this) {
    is CoreRecovered.Payment -> Recovered.Payment(entry.toKassa())
    is CoreRecovered.Unreadable -> Recovered.Unreadable(id, why)
}
