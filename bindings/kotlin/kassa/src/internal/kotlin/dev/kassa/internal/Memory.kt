package dev.kassa.internal

import com.sun.jna.Native
import com.sun.jna.Pointer
import java.nio.ByteBuffer

/** Memory outside the JVM, for what goes to the core and comes from it. It lives as long as this is reachable. */
internal class Memory(val size: Int) {
    private val bytes = ByteBuffer.allocateDirect(size)
    val address: Long = Pointer.nativeValue(Native.getDirectBufferPointer(bytes))

    @Volatile
    private var isKept = false

    /** A view of all of it, from the beginning. */
    fun bytes(): ByteBuffer = bytes.duplicate()

    /** Keeps it until here. */
    fun keep() {
        isKept = true
    }

    fun wipe() {
        bytes().put(ByteArray(size))
    }

    companion object {
        private const val USUAL = 2 * 1024

        private val ofThreads = object : ThreadLocal<Memory>() {
            override fun initialValue() = Memory(USUAL)
        }

        /** This thread's, which the next one to ask gets again. */
        fun ofThread(): Memory = checkNotNull(ofThreads.get())

        /** This thread's where that is enough. */
        fun of(size: Long): Memory = if (size <= USUAL) ofThread() else Memory(Math.toIntExact(size))
    }
}
