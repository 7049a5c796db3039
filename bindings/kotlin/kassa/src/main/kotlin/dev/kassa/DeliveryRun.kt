package dev.kassa

import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.withContext

/** Delivers the results of one recovery, and repeats nothing but a finish that failed. */
internal class DeliveryRun(private val core: GatewayCore, private val policy: RecoveryPolicy, handler: DeliveryHandler) {
    private val deliverer = Deliverer(core, handler)

    /** What is charged and could not be delivered and finished, by the entry's id. A recovery of new payments may report it again. */
    private val failed = LinkedHashMap<String, DeliveryTask>()

    suspend fun run(): DeliverySummary {
        val recovery = core.recover(policy) // without a journal it is refused now
        deliverer.log(LogLevel.INFO, "a delivery of what is unfinished begins")
        return deliverer.untilEnd("the delivery") { recovery.use { deliverAll(it) } }
    }

    private suspend fun deliverAll(recovery: RecoveryCore) {
        recovery.holdLock() // until it is closed: something may have to be finished after its end
        try {
            while (true) {
                val task = DeliveryTask(awaited { recovery.next(it) } ?: break)
                // It stays there also where a cancellation ends the attempt.
                if (task.isCharged && failed.putIfAbsent(task.id, task) != null) continue
                if (attempt(task)) failed.remove(task.id, task)
            }
        } finally {
            withContext(NonCancellable) { failed.values.filter { it.isHandled }.forEach { attempt(it) } }
        }
    }

    private suspend fun attempt(task: DeliveryTask): Boolean {
        val error = deliverer.attempt(task) ?: return true
        val what = when {
            task.isHandled -> "a delivered payment could not be finished"
            task.isCharged -> "a payment was not delivered: it stays unfinished, and the next delivery brings it again"
            else -> "a result of the recovery could not be handled"
        }
        deliverer.log(LogLevel.ERROR, "$what entry=\"${task.id}\" error=\"$error\"")
        return false
    }
}
