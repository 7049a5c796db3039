package dev.kassa.internal

import java.nio.ByteOrder
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.atomic.AtomicBoolean
import java.util.concurrent.atomic.AtomicLong
import java.util.concurrent.atomic.AtomicReference
import kotlin.concurrent.thread
import kotlin.coroutines.resume
import kotlinx.coroutines.CancellableContinuation
import kotlinx.coroutines.suspendCancellableCoroutine

/** Wake-up of a coroutine: one wait for a call of the core to get further, which may happen before anybody waits. */
internal class Wait {
    private val state = AtomicReference<Any?>(null)

    suspend fun untilWoken(): Unit = suspendCancellableCoroutine { waiting ->
        if (!state.compareAndSet(null, waiting)) waiting.resume(Unit)
    }

    fun wake() {
        @Suppress("UNCHECKED_CAST")
        val waiting = state.getAndSet(WOKEN) as CancellableContinuation<Unit>?
        waiting?.resume(Unit)
    }

    private companion object {
        val WOKEN = Any()
    }
}

/**
 * Completion queue, the listener's side: the waits for calls of the core. One thread sleeps in the core and wakes all
 * of them, so that no thread of the core's ever enters the JVM for it. The thread ends where there has been nothing to
 * wait for for a while.
 */
internal object Waits {
    private const val LONGEST_MILLISECONDS = 10_000L
    private const val ROOM = 128

    val wakeups: Long = Direct.kassa_jvm_new()
    private val numbers = AtomicLong()
    private val waits = ConcurrentHashMap<Long, Wait>()
    private val isListening = AtomicBoolean()

    /** Answers with the number that the core is to name. */
    fun add(wait: Wait): Long {
        val number = numbers.incrementAndGet()
        waits[number] = wait
        if (!isListening.get() && isListening.compareAndSet(false, true)) beginToListen(number)
        return number
    }

    private fun beginToListen(number: Long) {
        try {
            thread(isDaemon = true, contextClassLoader = javaClass.classLoader, name = "kassa-waits", block = ::listen)
        } catch (error: Throwable) {
            // There may be no thread left. The next call tries again.
            waits.remove(number)
            isListening.set(false)
            throw error
        }
    }

    /** For a number that the core will not name. */
    fun remove(number: Long) {
        waits.remove(number)
    }

    private fun listen() {
        val room = Memory(ROOM * Long.SIZE_BYTES)
        val numbers = room.bytes().order(ByteOrder.nativeOrder())
        do {
            val count = Direct.kassa_jvm_wait(wakeups, LONGEST_MILLISECONDS, room.address, ROOM.toLong()).toInt()
            for (at in 0 until count) {
                waits.remove(numbers.getLong(at * Long.SIZE_BYTES))?.let(::wake)
            }
        } while (count > 0 || !mayEnd())
    }

    /** A dispatcher that cannot go on fails its own call, and not all others. */
    private fun wake(wait: Wait) {
        try {
            wait.wake()
        } catch (error: Throwable) {
            val thread = Thread.currentThread()
            thread.uncaughtExceptionHandler.uncaughtException(thread, error)
        }
    }

    /** Whoever adds a wait either sees that nobody listens, or is seen here. */
    private fun mayEnd(): Boolean {
        if (waits.isNotEmpty()) return false
        isListening.set(false)
        return waits.isEmpty() || !isListening.compareAndSet(false, true)
    }
}
