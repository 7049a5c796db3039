package dev.kassa.internal

import com.sun.jna.Native
import com.sun.jna.NativeLibrary
import com.sun.jna.Pointer

/**
 * Direct mapping (JNA): what the library exports for a gateway's calls, with nothing but numbers and functions.
 * Addresses are those of memory outside the JVM. Goes with [DirectGateway].
 */
internal object Direct {
    private val library = System.getProperty("uniffi.component.kassa.libraryOverride") ?: "kassa_native"

    init {
        Native.register(Direct::class.java, library)
    }

    fun function(name: String): Pointer = NativeLibrary.getInstance(library).getFunction(name)

    external fun kassa_jvm_new(): Long
    external fun kassa_jvm_wait(wakeups: Long, milliseconds: Long, room: Long, length: Long): Long
    external fun kassa_jvm_begin_1(method: Pointer, clone: Pointer, target: Long, arguments: Long): Long
    external fun kassa_jvm_begin_2(method: Pointer, clone: Pointer, target: Long, arguments: Long): Long
    external fun kassa_jvm_poll(future: Long, wakeups: Long, number: Long, room: Long, length: Long): Long
    external fun kassa_blocking_run(
        future: Long,
        poll: Pointer,
        running: Pointer,
        drives: Byte,
        milliseconds: Long,
    ): Byte
    external fun kassa_blocking_end(running: Pointer)
    external fun kassa_jvm_free(future: Long)
    external fun kassa_jvm_free_result(address: Long, capacity: Long)
}
