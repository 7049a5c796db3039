package dev.kassa

import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.ensureActive
import kotlinx.coroutines.withContext

/** Hands the results of a recovery to the handler, and logs what happens: for [DeliveryWorker] and [DeliveryRun]. */
internal class Deliverer(private val core: GatewayCore, private val handler: DeliveryHandler) {
    private var delivered = 0

    /** Runs a delivery. Its end is logged with the summary, also if it throws. */
    suspend fun untilEnd(name: String, deliver: suspend () -> Unit): DeliverySummary {
        try {
            deliver()
            return summary(name)
        } catch (error: Throwable) {
            withContext(NonCancellable) { summary(name) } // for the log
            throw error
        }
    }

    /**
     * Looks a result up in the journal, calls the handler, and finishes what was delivered. Null if nothing is left to do; otherwise the
     * error, and it can be called again. An error that must end the caller is thrown.
     */
    suspend fun attempt(task: DeliveryTask): Throwable? {
        try {
            if (!task.isHandled && task.isSettledElsewhere()) {
                log(LogLevel.INFO, "a payment was finished elsewhere entry=\"${task.id}\"")
                return null
            }
            if (!task.isHandled) task.handle()
            task.isHandled = true
            if (task.isCharged) withContext(NonCancellable) { finish(task) }
            return null
        } catch (error: Throwable) {
            currentCoroutineContext().ensureActive() // a handler's own time limit is no cancellation of the caller
            if (error is InterruptedException || error is VirtualMachineError) throw error
            return error
        }
    }

    /** Whether a person or another program has finished the payment, or it was charged after all: then this result is no longer true. */
    private suspend fun DeliveryTask.isSettledElsewhere(): Boolean {
        val payment = (recovered as? Recovered.Payment)?.entry?.payment ?: return false
        val now = withContext(Dispatchers.IO) { journal.entry(payment) }
        return now == null || now.isFinished || (now.state == JournalState.CHARGED && !isCharged)
    }

    private suspend fun DeliveryTask.handle() {
        val entry = (recovered as? Recovered.Payment)?.entry
        if (isCharged && entry != null) return handler.deliver(entry)
        val (level, what) = when {
            entry == null -> LogLevel.WARNING to "a person should look at an entry: it ${(recovered as Recovered.Unreadable).why}"
            entry.state == JournalState.REJECTED -> LogLevel.INFO to "not paid: ${entry.reason}"
            else -> LogLevel.WARNING to "a person should look at a payment: it is ${entry.state}: ${entry.reason}"
        }
        log(level, "$what entry=\"$id\"")
        handler.otherwise(recovered)
    }

    /** By the journal itself: a gateway that was closed meanwhile finishes nothing. */
    private suspend fun finish(task: DeliveryTask) {
        withContext(Dispatchers.IO) { journal.finish(task.id) }
        delivered++
        log(LogLevel.INFO, "a payment was delivered and finished entry=\"${task.id}\"")
    }

    private suspend fun summary(name: String): DeliverySummary {
        val leftOpen = try {
            withContext(Dispatchers.IO) { journal.unfinished().toList() }
        } catch (error: PaymentException) {
            log(LogLevel.ERROR, "the journal could not be read error=\"${error.message}\"")
            null
        }
        val summary = DeliverySummary(delivered, leftOpen)
        log(LogLevel.INFO, "$name ends: $summary")
        return summary
    }

    private val journal get() = checkNotNull(core.journal)

    fun log(level: LogLevel, text: String) = Library.log(LogEvent(level, text))
}

/** One result of a recovery, and how far its handling is. */
internal open class DeliveryTask(val recovered: Recovered) {
    val id: String = when (recovered) {
        is Recovered.Payment -> recovered.entry.id
        is Recovered.Unreadable -> recovered.id
    }

    /** Null for an entry that cannot be read. */
    val state: JournalState? = (recovered as? Recovered.Payment)?.entry?.state
    val isCharged = state == JournalState.CHARGED

    /** The handler has returned. */
    var isHandled = false
}
