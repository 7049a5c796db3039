package dev.kassa.internal

import com.sun.jna.Native
import com.sun.jna.Pointer
import java.nio.Buffer
import java.nio.ByteBuffer

/** Memory outside the JVM, for the messages of calls. It lives as long as this is reachable. */
internal class Memory(private val size: Int) {
    private val bytes = ByteBuffer.allocateDirect(size + Long.SIZE_BYTES)
    val address: Long = Pointer.nativeValue(Native.getDirectBufferPointer(bytes))
    val capacity: Long get() = size.toLong()

    /** Eight bytes behind it, in which the core keeps a call between two waits of its thread. */
    val waiting: Long get() = address + size

    @Volatile
    private var isKept = false

    /** A view of it, from the beginning. */
    fun bytes(length: Int = size): ByteBuffer {
        val view = bytes.duplicate()
        // As of Java 8, which older versions of Android have.
        (view as Buffer).limit(length)
        return view
    }

    /** Keeps it until here. */
    fun keep() {
        isKept = true
    }

    /**
     * Writes a call into it, and answers with its length. The core wipes what it has read. Where a value cannot be written, the core takes
     * the objects back that were written before it.
     */
    private fun write(call: AsyncCall): Long {
        val message = bytes()
        try {
            FfiConverterTypeAsyncCall.write(call, message)
        } catch (error: Throwable) {
            Direct.kassa_discard(address, message.position().toLong())
            bytes().put(ByteArray(size))
            throw error
        }
        return message.position().toLong()
    }

    companion object {
        private const val USUAL = 2 * 1024

        private val ofThreads = object : ThreadLocal<Memory>() {
            override fun initialValue() = Memory(USUAL)
        }

        /** Writes a call for the core, which takes over the share of each object that is written: [send] must hand it over. */
        inline fun <T> send(call: AsyncCall, send: (memory: Memory, length: Long) -> T): T {
            val size = FfiConverterTypeAsyncCall.allocationSize(call)
            // This thread's, which its next call uses again, unless it is not enough.
            val memory = if (size <= USUAL.toULong()) checkNotNull(ofThreads.get()) else Memory(Math.toIntExact(size.toLong()))
            try {
                return send(memory, memory.write(call))
            } finally {
                memory.keep()
            }
        }
    }
}
