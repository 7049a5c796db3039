package dev.kassa.internal

import com.sun.jna.Native
import com.sun.jna.NativeLibrary
import com.sun.jna.Pointer

/** What the library exports for a gateway's calls, with nothing but numbers. Addresses are those of memory outside the JVM. */
internal object Direct {
    private val library = System.getProperty("uniffi.component.kassa.libraryOverride") ?: "kassa_native"

    init {
        Native.register(Direct::class.java, library)
    }

    /** Where a function is. */
    fun addressOf(name: String): Long = Pointer.nativeValue(NativeLibrary.getInstance(library).getFunction(name))

    external fun kassa_calls_new(): Long
    external fun kassa_calls_wait(board: Long, milliseconds: Long, room: Long, length: Long): Long
    external fun kassa_call_begin(method: Long, clone: Long, target: Long, arguments: Long, count: Int): Long
    external fun kassa_call_poll(future: Long, board: Long, number: Long, room: Long, length: Long): Long
    external fun kassa_call_free(future: Long)
    external fun kassa_result_free(address: Long, capacity: Long)
}
