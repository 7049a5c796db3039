package dev.kassa.internal

import com.sun.jna.Pointer
import java.lang.reflect.Method
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.EmptyCoroutineContext

/**
 * Of a coroutine with a query of [DirectGateway]'s, whose caller waits for it: it runs on the calling thread to its end, which
 * drives the network meanwhile and wakes no other thread.
 */
internal object OnCallingThread : CoroutineContext.Element, CoroutineContext.Key<OnCallingThread> {
    override val key: CoroutineContext.Key<*> get() = this
}

/** What a blocking caller's query runs with. A virtual thread waits by suspending: in the core it would hold its carrier. */
internal fun contextOfCaller(): CoroutineContext = if (isOnVirtualThread()) EmptyCoroutineContext else OnCallingThread

/** Java has virtual threads since 21. */
private val IS_VIRTUAL: Method? =
    try {
        Thread::class.java.getMethod("isVirtual")
    } catch (_: ReflectiveOperationException) {
        null
    }

private fun isOnVirtualThread() = IS_VIRTUAL?.invoke(Thread.currentThread()) == true

/** So long a thread stays in the core before it looks whether it was interrupted. */
private const val LOOK_EVERY_MILLISECONDS = 20L

private const val DRIVES: Byte = 1

private val POLL = Direct.function("ffi_kassa_rust_future_poll_rust_buffer")

/** Where the core keeps a thread's call between two looks; null while there is none. */
private val CALLS = object : ThreadLocal<Memory>() {
    override fun initialValue() = Memory(Long.SIZE_BYTES)
}

/** Runs a future of the core on this thread until it is ready. It is still to be asked for its result, or freed. */
internal fun runHere(future: Long) {
    val memory = checkNotNull(CALLS.get())
    val running = Pointer(memory.address)
    try {
        do {
            if (Thread.interrupted()) throw InterruptedException()
        } while (Direct.kassa_blocking_run(future, POLL, running, DRIVES, LOOK_EVERY_MILLISECONDS) == 0.toByte())
    } finally {
        running.getPointer(0)?.let(Direct::kassa_blocking_end)
        running.setPointer(0, null)
        memory.keep()
    }
}
