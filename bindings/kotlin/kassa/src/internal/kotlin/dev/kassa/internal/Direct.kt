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

/** Direct mapping (JNA) of the functions that make calls (`bindings/native`). Addresses are those of memory outside the JVM. */
internal object Direct {
    init {
        Native.register(Direct::class.java, LoadedLibrary.instance)
    }

    fun ensureInitialized() = Unit

    external fun kassa_call(memory: Long, capacity: Long, length: Long, log: Long, milliseconds: Long, waiting: Long): Long
    external fun kassa_call_received(waiting: Long)
    external fun kassa_call_end(waiting: Long)
    external fun kassa_queue_new(function: Pointer?, context: Long, descriptor: Long): Long
    external fun kassa_submit(queue: Long, number: Long, log: Long, memory: Long, length: Long)
    external fun kassa_take(queue: Long, memory: Long, capacity: Long, milliseconds: Long): Long
    external fun kassa_received(queue: Long, number: Long)
    external fun kassa_cancel(queue: Long, number: Long)
    external fun kassa_discard(memory: Long, length: Long)
    external fun kassa_free(address: Long, capacity: Long)
}

private val STATUS = UniffiRustCallStatus().pointer

/** Clones a handle, which cannot fail. The generated code does it so, too: `scripts/kotlin/build-native` rewrites it. */
internal inline fun cloned(clone: (status: Pointer) -> Long): Long = clone(STATUS)
