package dev.kassa.internal

import com.sun.jna.Native
import com.sun.jna.NativeLibrary
import com.sun.jna.Pointer

/**
 * The native library, loaded once. The generated code registers with this instance, too: `scripts/kotlin/build-native`
 * rewrites its calls. By name, JNA loads one copy for each class loader that it is given, which it knows by its text; where
 * it is given none, it takes the context loader of the calling thread, which may not know this package. A second copy has
 * a log and objects of its own.
 */
internal object LoadedLibrary {
    val instance: NativeLibrary = NativeLibrary.getInstance(
        System.getProperty("uniffi.component.kassa.libraryOverride") ?: "kassa_native",
        LoadedLibrary::class.java.classLoader,
    )
}

/**
 * Direct mapping (JNA): what the library exports for a gateway's calls, with nothing but numbers and functions.
 * Addresses are those of memory outside the JVM. Goes with [DirectGateway].
 */
internal object Direct {
    init {
        Native.register(Direct::class.java, LoadedLibrary.instance)
    }

    fun ensureInitialized() = Unit

    fun function(name: String): Pointer = LoadedLibrary.instance.getFunction(name)

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
