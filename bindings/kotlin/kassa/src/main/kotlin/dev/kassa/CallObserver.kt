package dev.kassa

import dev.kassa.internal.Observers
import dev.kassa.internal.observeCall
import dev.kassa.internal.stopObservingCall
import java.time.Instant
import kotlin.time.Duration
import kotlin.time.toJavaDuration
import kotlin.time.toKotlinDuration
import dev.kassa.internal.CallAttempt as CoreCallAttempt
import dev.kassa.internal.CallObserver as CoreCallObserver
import dev.kassa.internal.CompletedCall as CoreCompletedCall

/**
 * Observes each request to the gateway that has ended; see [Kassa.onCall]. [OpenTelemetryObserver] makes spans and metrics of them.
 *
 * It is called on a thread of Kassa, for one request at a time, and no call waits for it. If more than a thousand requests are waiting,
 * further ones are dropped.
 */
public fun interface CallObserver {
    /** Receives a request that has ended. What it throws is ignored. */
    public fun onCall(call: CompletedCall)

    /**
     * The observer of one call, which may make several requests, or none. It is called on the caller's thread before the call begins,
     * so that an observer can capture what belongs to the caller, such as the current span. It must return at once. By default the
     * observer itself; also if this throws.
     */
    public fun forCall(): CallObserver = this
}

/** Ends with [close] what [Kassa.onCall] began. */
public class CallObservation internal constructor(private val stop: () -> Unit) : AutoCloseable {
    /** Ends it. Calls that have begun are still observed. */
    override fun close(): Unit = stop()
}

/**
 * A request to the gateway that has ended, with its attempts. It has no secrets and no bodies. `docs/telemetry.md` lists all values, which
 * are the same in every language.
 *
 * @property operation the gateway's endpoint, as logs and dialects name it: `card_payment`, `provider_status`
 * @property orderNumber the number by which logs name the payment, if any
 * @property outcome how it ended: `accepted`; of a status query `charged`, `rejected` or `pending`; `refused`; `unknown`; `invalid`,
 * `misconfigured`, `unauthorized`, `unavailable`, `unexpected`; or `cancelled`. **No reason to ship**: a report of the gateway becomes a
 * [Verdict] only when it is compared with the payment
 * @property errorType the kind of the error, such as `OutcomeUnknown`; null if the gateway answered, also if it refused
 * @property method the HTTP method
 * @property path the path below the gateway's base URL, without a query
 * @property serverAddress the gateway's host
 * @property serverPort the gateway's port
 * @property startedAt when it began
 * @property duration how long it took, with its retries and the pauses between them
 * @property attempts each HTTP request, in order; empty if nothing was tried
 */
public class CompletedCall internal constructor(
    public val operation: String,
    public val orderNumber: String?,
    public val outcome: String,
    public val errorType: String?,
    public val method: String,
    public val path: String,
    public val serverAddress: String,
    public val serverPort: Int,
    public val startedAt: Instant,
    public val duration: Duration,
    public val attempts: List<CallAttempt>,
) {
    /** The duration, for Java. */
    public fun getDuration(): java.time.Duration = duration.toJavaDuration()

    /** Its operation, outcome and attempts. */
    override fun toString(): String = "CompletedCall($operation, $outcome, $duration, attempts=$attempts)"
}

/**
 * One HTTP request of a [CompletedCall].
 *
 * @property startedAt when it began
 * @property duration how long it took
 * @property httpStatus the HTTP status of its response, if one came
 * @property errorType why it failed: an HTTP status from 400 on, or `not_connected`, `lost`, `misconfigured` or `cancelled`
 */
public class CallAttempt internal constructor(
    public val startedAt: Instant,
    public val duration: Duration,
    public val httpStatus: Int?,
    public val errorType: String?,
) {
    /** The duration, for Java. */
    public fun getDuration(): java.time.Duration = duration.toJavaDuration()

    /** How it ended. */
    override fun toString(): String = "CallAttempt(${listOfNotNull(httpStatus, errorType).distinct()}, $duration)"
}

/** All observers of the program. */
internal object CallObservers {
    @Volatile
    private var all: List<CallObserver> = emptyList()

    fun add(observer: CallObserver): CallObservation {
        // The same observer may be there twice, and each is ended by its own.
        val own = Own(observer)
        change { it + own }
        return CallObservation { change { it - own } }
    }

    @Synchronized
    private fun change(change: (List<CallObserver>) -> List<CallObserver>) {
        all = change(all)
        Observers.begin = if (all.isEmpty()) null else ::ofCall
        if (all.isEmpty()) stopObservingCall(UNNUMBERED) else observeCall(UNNUMBERED, CoreObserver(all))
    }

    private fun ofCall() = CoreObserver(all.map(CallObserver::forCall))

    private class Own(private val observer: CallObserver) : CallObserver {
        override fun onCall(call: CompletedCall) = observer.onCall(call)

        override fun forCall(): CallObserver = try {
            observer.forCall()
        } catch (_: Throwable) {
            // Also a class that is missing: an observer must not keep a payment from being made.
            observer
        }
    }

    private const val UNNUMBERED: ULong = 0u
}

private class CoreObserver(private val observers: List<CallObserver>) : CoreCallObserver {
    override fun completed(call: CoreCompletedCall) {
        val completed = call.toKassa()
        for (observer in observers) {
            try {
                observer.onCall(completed)
            } catch (_: Throwable) {
                // The next one gets it all the same.
            }
        }
    }
}

private fun CoreCompletedCall.toKassa() = CompletedCall(
    operation,
    orderNumber,
    outcome,
    errorType,
    method,
    path,
    serverAddress,
    serverPort.toInt(),
    startedAt,
    duration.toKotlinDuration(),
    attempts.map(CoreCallAttempt::toKassa),
)

private fun CoreCallAttempt.toKassa() = CallAttempt(startedAt, duration.toKotlinDuration(), httpStatus?.toInt(), errorType)
