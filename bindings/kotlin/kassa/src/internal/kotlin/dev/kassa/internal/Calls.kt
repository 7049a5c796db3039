package dev.kassa.internal

import java.lang.reflect.Method
import java.nio.ByteBuffer
import kotlin.coroutines.EmptyCoroutineContext

// Both ways to make a call of the core that takes time. The call is one message, and so is what it ends with.
// Why: docs/adr/0002-runtime-and-boundary.md.

/** So long a thread stays in the core before it looks whether it was interrupted. */
private const val LOOK_EVERY_MILLISECONDS = 20L

/** Makes a call and waits for it in the coroutine. Cancelling the coroutine gives the call up at once. */
internal suspend fun <T> await(call: AsyncCall, receipt: Receipt, read: (ByteBuffer) -> T): T =
    Completions.await(call, receipt).value(read)

/**
 * Makes a call and waits for it on this thread, which for a query drives the network meanwhile and wakes no other thread. Not for
 * [virtual threads][isOnVirtualThread]: in the core, one would hold its carrier.
 */
internal fun <T> callHere(call: AsyncCall, read: (ByteBuffer) -> T): T {
    if (Thread.interrupted()) throw InterruptedException()
    return Observers.observing(EmptyCoroutineContext) { observed -> callHere(call, observed, read) }
}

private fun <T> callHere(call: AsyncCall, observed: Long, read: (ByteBuffer) -> T): T =
    Memory.send(call) { memory, length ->
        var status = -1L
        try {
            do {
                status = Direct.kassa_call(memory.address, memory.capacity, length, observed, LOOK_EVERY_MILLISECONDS, memory.waiting)
                if (status < 0 && Thread.interrupted()) throw InterruptedException()
            } while (status < 0)
            val value = valueOf(status, memory, read)
            if (isToBeReceived(status)) Direct.kassa_call_received(memory.waiting)
            value
        } catch (error: Throwable) {
            if (isError(status) && isToBeReceived(status)) {
                // An error of the core is a result, too, and the caller gets it.
                Direct.kassa_call_received(memory.waiting)
            } else {
                // Whatever it is: the thread's next call would otherwise go on with this one.
                Direct.kassa_call_end(memory.waiting)
            }
            throw error
        }
    }

private fun <T> valueOf(status: Long, memory: Memory, read: (ByteBuffer) -> T): T {
    val length = lengthOf(status)
    if (length <= memory.capacity) return Completion(status, memory.bytes(length)).value(read)
    return readElsewhere(memory.bytes(), length) { Completion(status, it).value(read) }
}

/** Java has virtual threads since 21. */
private val IS_VIRTUAL: Method? =
    try {
        Thread::class.java.getMethod("isVirtual")
    } catch (_: ReflectiveOperationException) {
        null
    }

internal fun isOnVirtualThread() = IS_VIRTUAL?.invoke(Thread.currentThread()) == true

/** Reads a value that may be missing, for which the generator makes no converter. */
internal inline fun <T : Any> ByteBuffer.readOptional(read: (ByteBuffer) -> T): T? =
    if (get() == 0.toByte()) null else read(this)
