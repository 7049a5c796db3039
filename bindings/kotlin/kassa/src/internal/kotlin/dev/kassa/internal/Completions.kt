package dev.kassa.internal

import com.sun.jna.Pointer
import java.nio.Buffer
import java.nio.ByteBuffer
import java.nio.ByteOrder
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.atomic.AtomicBoolean
import java.util.concurrent.atomic.AtomicLong
import kotlin.concurrent.thread
import kotlin.coroutines.resume
import kotlin.coroutines.resumeWithException
import kotlinx.coroutines.CancellableContinuation
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.ensureActive
import kotlinx.coroutines.suspendCancellableCoroutine

/** What a call ended with: its status, and its value in UniFFI's serialization. */
internal class Completion(val status: Long, private val value: ByteBuffer) {
    /** The value; or throws the error. */
    fun <T> value(read: (ByteBuffer) -> T): T = when ((status and CODE).toByte()) {
        UNIFFI_CALL_SUCCESS -> read(value).also {
            if (value.hasRemaining()) throw InternalException("a value of the core is longer than its type")
        }
        UNIFFI_CALL_ERROR -> throw FfiConverterTypePaymentError.read(value)
        else -> throw InternalException(Charsets.UTF_8.decode(value).toString())
    }
}

private const val CODE = 0x7fL
private const val IS_TO_BE_RECEIVED = 0x80L

/** Whether the core has to hear that the caller received the value of this status. */
internal fun isToBeReceived(status: Long): Boolean = status and IS_TO_BE_RECEIVED != 0L

/** Whether a status is that of an error of the core. */
internal fun isError(status: Long): Boolean = status >= 0 && (status and CODE).toByte() == UNIFFI_CALL_ERROR

/** How long the value of a status is. */
internal fun lengthOf(status: Long): Int = Math.toIntExact(status shr Byte.SIZE_BITS)

/** Reads a value that was longer than the memory, which says where it is. It is freed afterwards. */
internal inline fun <T> readElsewhere(memory: ByteBuffer, length: Int, read: (ByteBuffer) -> T): T {
    val address = memory.getLong()
    val capacity = memory.getLong()
    try {
        return read(Pointer(address).getByteBuffer(0, length.toLong()).order(ByteOrder.BIG_ENDIAN))
    } finally {
        Direct.kassa_free(address, capacity)
    }
}

/**
 * The calls of all coroutines. One thread sleeps in the core, takes what is complete, and wakes who waits for it, so that no
 * thread of the core's ever enters the JVM for it. The thread ends where there has been no call for a while.
 */
internal object Completions {
    private const val LONGEST_MILLISECONDS = 10_000L
    private const val CAPACITY = 16 * 1024

    /** The number and the status, before a value. */
    private const val HEAD = 16

    /** The address and the capacity of a value that is elsewhere. */
    private const val ELSEWHERE = 16

    private val queue = Direct.kassa_queue_new(null, 0, 0)
    private val numbers = AtomicLong()
    private val waits = ConcurrentHashMap<Long, CancellableContinuation<Completion>>()
    private val isListening = AtomicBoolean()

    /** Waits for the completion of a call. Who gets it says in the [receipt] whether the caller has received it. */
    suspend fun await(call: AsyncCall, receipt: Receipt): Completion {
        // What is submitted may be sent.
        val context = currentCoroutineContext().apply { ensureActive() }
        return Observers.observing(context) { observed -> await(call, observed, receipt) }
    }

    private suspend fun await(call: AsyncCall, observed: Long, receipt: Receipt): Completion {
        val number = numbers.incrementAndGet()
        try {
            val completion = suspendCancellableCoroutine<Completion> { wait ->
                add(number, wait)
                Memory.send(call) { memory, length -> Direct.kassa_submit(queue, number, observed, memory.address, length) }
            }
            if (isToBeReceived(completion.status)) receipt.isFor(number)
            return completion
        } catch (error: Throwable) {
            // Wherever the completion is by now: a cancelled coroutine does not get one that has come, either.
            waits.remove(number)
            giveUp(number)
            throw error
        }
    }

    /** The caller has the completion. */
    fun received(number: Long): Unit = Direct.kassa_received(queue, number)

    /** Nobody receives the completion any more. */
    fun giveUp(number: Long): Unit = Direct.kassa_cancel(queue, number)

    private fun add(number: Long, wait: CancellableContinuation<Completion>) {
        waits[number] = wait
        if (!isListening.get() && isListening.compareAndSet(false, true)) beginToListen(number)
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

    private fun listen() {
        val memory = Memory(CAPACITY)
        do {
            // Below zero where more are left, which are taken at once.
            val length = Math.abs(Direct.kassa_take(queue, memory.address, memory.capacity, LONGEST_MILLISECONDS)).toInt()
            val taken = memory.bytes(length)
            while (taken.hasRemaining()) takeOne(taken)
        } while (length > 0 || !mayEnd())
    }

    /** A dispatcher that cannot go on, or a value that there is no memory for, fails its own call, and not all others. */
    private fun takeOne(taken: ByteBuffer) {
        val number = taken.getLong()
        val status = taken.getLong()
        val value = taken.duplicate()
        val length = lengthOf(status)
        val isHere = length <= CAPACITY - HEAD
        // As of Java 8, which older versions of Android have.
        (taken as Buffer).position(taken.position() + if (isHere) length else ELSEWHERE)
        val copy = runCatching { if (isHere) copied(value, length) else readElsewhere(value, length) { copied(it, length) } }
        val wait = waits.remove(number) ?: return
        try {
            copy.fold({ wait.resume(Completion(status, it)) }, wait::resumeWithException)
        } catch (error: Throwable) {
            val thread = Thread.currentThread()
            thread.uncaughtExceptionHandler.uncaughtException(thread, error)
        }
    }

    /** The coroutine reads it, so that a long value delays nobody else. */
    private fun copied(value: ByteBuffer, length: Int) = ByteBuffer.wrap(ByteArray(length).also { value.get(it) })

    /** Whoever adds a wait either sees that nobody listens, or is seen here. */
    private fun mayEnd(): Boolean {
        if (waits.isNotEmpty()) return false
        isListening.set(false)
        return waits.isEmpty() || !isListening.compareAndSet(false, true)
    }
}
