package dev.kassa

import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Deferred
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.async
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.ensureActive
import kotlinx.coroutines.selects.select
import kotlinx.coroutines.withContext
import kotlinx.coroutines.withTimeoutOrNull
import kotlin.time.ComparableTimeMark
import kotlin.time.Duration.Companion.days
import kotlin.time.Duration.Companion.minutes
import kotlin.time.TimeSource

/** After that, the journal is recovered anew: a recovery has a time limit. */
private val SESSION = 1.days

private val LONGEST_RESTART = 1.minutes

/**
 * Delivers what is charged, one payment after the other: a recovery that follows new payments, restarted as often as it ends.
 *
 * A payment is delivered only while a recovery of this process has the journal's lock, because another process may deliver as soon as none
 * has. So a payment that could not be delivered waits for its next call within the same recovery, or is reported by the next one.
 */
internal class DeliveryWorker(
    private val core: GatewayCore,
    private val policy: DeliveryPolicy,
    private val stop: StopSignal,
    private val handler: DeliveryHandler,
) {
    private val recovery = RecoveryPolicy(policy.interval, SESSION, policy.atOnce, followNew = true)
    private var delivered = 0

    /** By the entry's id. They outlive a recovery, so that a restart calls no handler sooner or twice. */
    private val tasks = LinkedHashMap<String, Task>()

    /** What a person should look at stays in the journal, and each recovery reports it: the state that the handler has had, by the id. */
    private val handledOtherwise = HashMap<String, JournalState?>()

    private val isStopped get() = stop.isStopped || core.isClosed

    suspend fun run(): DeliverySummary {
        policy.check()
        core.recover(recovery).close() // without a journal it is refused now
        log(LogLevel.INFO, "a worker begins to deliver")
        try {
            restartUntilStopped()
            return summary()
        } catch (error: Throwable) {
            withContext(NonCancellable) { summary() } // for the log
            throw error
        }
    }

    private suspend fun restartUntilStopped() {
        var failures = 0
        while (!isStopped) {
            currentCoroutineContext().ensureActive()
            val begun = TimeSource.Monotonic.markNow()
            val error = core.recover(recovery).use {
                it.holdLock()
                session(it)
            } ?: continue
            if (isStopped) return
            // A recovery that worked for a while has nothing to do with the failures before.
            failures = if (begun.elapsedNow() > LONGEST_RESTART) 1 else failures + 1
            val pause = policy.pauseAfter(failures).coerceAtMost(LONGEST_RESTART)
            log(LogLevel.ERROR, "recovery failed, and is restarted error=\"${error.message}\" pause=$pause")
            withTimeoutOrNull(pause) { untilStopped() }
        }
    }

    private suspend fun untilStopped() = select {
        stop.job.onJoin { }
        core.closed.onJoin { }
    }

    /** Why the recovery ended; null if it was stopped, or came to its time limit. */
    private suspend fun session(recovery: RecoveryCore): Exception? = coroutineScope {
        // What is charged comes again; what the recovery before has not reported was finished elsewhere.
        tasks.values.retainAll { it.mayBePerformed }
        tasks.values.forEach { it.isReported = false }
        var next: Deferred<Result<Recovered?>>? = null
        try {
            while (!isStopped) {
                val waiting = next ?: async(start = CoroutineStart.UNDISPATCHED) { attempt { awaited { recovery.next(it) } } }
                next = waiting
                val due = tasks.values.filter { it.mayBePerformed }.minByOrNull { it.due }
                // What has come goes first: handlers that fail, each for a while, must not keep the recovery from going on.
                val result = if (waiting.isCompleted) waiting.await() else withinTime<Result<Recovered?>>(due) {
                    select<Result<Recovered?>> {
                        stop.job.onJoin { END }
                        core.closed.onJoin { END }
                        waiting.onAwait { it }
                    }
                }
                if (isStopped) break
                if (result == null) {
                    perform(checkNotNull(due))
                    continue
                }
                next = null
                result.exceptionOrNull()?.let { return@coroutineScope it as Exception }
                val recovered = result.getOrNull() ?: return@coroutineScope null
                taskOf(recovered)?.let { perform(it) }
            }
            // A rejection is reported only once.
            val last = next?.takeIf { it.isCompleted }?.await()?.getOrNull()?.let(::taskOf)
            if (last != null && !last.isCharged) perform(last)
            null
        } finally {
            // Before others may deliver: what was delivered, and could not be finished.
            withContext(NonCancellable) { tasks.values.filter { it.isHandled }.forEach { performNow(it) } }
            recovery.close() // whoever still waits for its next result gets none
        }
    }

    /** Null once the task is due. */
    private suspend fun <T : Any> withinTime(task: Task?, wait: suspend () -> T): T? {
        if (task == null) return wait()
        val left = task.due - TimeSource.Monotonic.markNow()
        return if (left.isPositive()) withTimeoutOrNull(left) { wait() } else null
    }

    /** Null if the handler had the same before. */
    private fun taskOf(recovered: Recovered): Task? {
        val new = Task(recovered)
        if (!new.isCharged && new.id in handledOtherwise && handledOtherwise[new.id] == new.state) return null
        val known = tasks[new.id]
        // Charged is the last word on a payment, also where its file cannot be read just now.
        if (known != null && known.isCharged && !new.isCharged) return null
        // A payment that was rejected may come again, as charged. That is another task.
        val task = known?.takeIf { it.state == new.state } ?: new
        task.isReported = true
        tasks[task.id] = task
        return task
    }

    private suspend fun perform(task: Task) {
        if (!task.due.hasNotPassedNow()) performNow(task) // else it failed in an earlier recovery
    }

    private suspend fun performNow(task: Task) {
        try {
            if (!task.isHandled && task.isSettledElsewhere()) {
                tasks -= task.id
                log(LogLevel.INFO, "a payment was finished elsewhere entry=\"${task.id}\"")
                return
            }
            if (!task.isHandled) task.handle()
            task.isHandled = true
            when {
                task.isCharged -> withContext(NonCancellable) { finish(task) }
                task.state != JournalState.REJECTED -> handledOtherwise[task.id] = task.state
            }
            tasks -= task.id
        } catch (error: Throwable) {
            currentCoroutineContext().ensureActive() // a handler's own time limit is no cancellation of the worker
            if (error is InterruptedException || error is VirtualMachineError) throw error
            task.failures++
            val pause = policy.pauseAfter(task.failures)
            task.due = TimeSource.Monotonic.markNow() + pause
            val what = if (task.isHandled) "a delivered payment could not be finished" else "the handler failed, and is called again"
            log(LogLevel.ERROR, "$what entry=\"${task.id}\" failures=${task.failures} error=\"$error\" pause=$pause")
        }
    }

    /** Whether a person or another program has finished the payment, or it was charged after all: then this result is no longer true. */
    private suspend fun Task.isSettledElsewhere(): Boolean {
        val payment = (recovered as? Recovered.Payment)?.entry?.payment ?: return false
        val now = withContext(Dispatchers.IO) { journal.entry(payment) }
        return now == null || now.isFinished || (now.state == JournalState.CHARGED && !isCharged)
    }

    private suspend fun Task.handle() {
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
    private suspend fun finish(task: Task) {
        withContext(Dispatchers.IO) { journal.finish(task.id) }
        delivered++
        log(LogLevel.INFO, "a payment was delivered and finished entry=\"${task.id}\"")
    }

    private suspend fun summary(): DeliverySummary {
        val leftOpen = try {
            withContext(Dispatchers.IO) { journal.unfinished().toList() }
        } catch (error: PaymentException) {
            log(LogLevel.ERROR, "the journal could not be read error=\"${error.message}\"")
            null
        }
        val summary = DeliverySummary(delivered, leftOpen)
        log(LogLevel.INFO, "the worker ends: $summary")
        return summary
    }

    private val journal get() = checkNotNull(core.journal)

    private fun log(level: LogLevel, text: String) = Library.log(LogEvent(level, text))

    /** One result of a recovery, and how far its handling is. */
    private class Task(val recovered: Recovered) {
        val id: String = when (recovered) {
            is Recovered.Payment -> recovered.entry.id
            is Recovered.Unreadable -> recovered.id
        }

        /** Null for an entry that cannot be read. */
        val state: JournalState? = (recovered as? Recovered.Payment)?.entry?.state
        val isCharged = state == JournalState.CHARGED
        var failures = 0
        var due: ComparableTimeMark = TimeSource.Monotonic.markNow()
        var isHandled = false

        /** By the recovery that runs. */
        var isReported = true

        /** What is not charged may be reported only once, and what was delivered needs nothing but its end in the journal. */
        val mayBePerformed get() = isReported || isHandled || !isCharged
    }

    private companion object {
        val END: Result<Recovered?> = Result.success(null)
    }
}

/** What can be repeated: a cancellation of the coroutine cannot. */
private suspend fun <T> attempt(call: suspend () -> T): Result<T> = try {
    Result.success(call())
} catch (error: CancellationException) {
    throw error
} catch (error: Exception) {
    Result.failure(error)
}
