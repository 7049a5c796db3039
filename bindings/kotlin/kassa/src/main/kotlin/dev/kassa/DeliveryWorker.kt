package dev.kassa

import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Deferred
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
    handler: DeliveryHandler,
) {
    private val recovery = RecoveryPolicy(policy.interval, SESSION, policy.atOnce, followNew = true)
    private val deliverer = Deliverer(core, handler)

    /** By the entry's id. They outlive a recovery, so that a restart calls no handler sooner or twice. */
    private val tasks = LinkedHashMap<String, Task>()

    /** What a person should look at stays in the journal, and each recovery reports it: the state that the handler has had, by the id. */
    private val handledOtherwise = HashMap<String, JournalState?>()

    private val isStopped get() = stop.isStopped || core.isClosed

    suspend fun run(): DeliverySummary {
        policy.check()
        core.recover(recovery).close() // without a journal it is refused now
        deliverer.log(LogLevel.INFO, "a worker begins to deliver")
        return deliverer.untilEnd("the worker") { restartUntilStopped() }
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
            deliverer.log(LogLevel.ERROR, "recovery failed, and is restarted error=\"${error.message}\" pause=$pause")
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
        val error = deliverer.attempt(task)
        if (error == null) {
            tasks -= task.id
            if (task.isHandled && !task.isCharged && task.state != JournalState.REJECTED) handledOtherwise[task.id] = task.state
            return
        }
        task.failures++
        val pause = policy.pauseAfter(task.failures)
        task.due = TimeSource.Monotonic.markNow() + pause
        val what = if (task.isHandled) "a delivered payment could not be finished" else "the handler failed, and is called again"
        deliverer.log(LogLevel.ERROR, "$what entry=\"${task.id}\" failures=${task.failures} error=\"$error\" pause=$pause")
    }

    /** When its handler may be called. */
    private class Task(recovered: Recovered) : DeliveryTask(recovered) {
        var failures = 0
        var due: ComparableTimeMark = TimeSource.Monotonic.markNow()

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
