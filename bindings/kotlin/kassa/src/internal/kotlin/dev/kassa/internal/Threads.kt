package dev.kassa.internal

import com.sun.jna.CallbackThreadInitializer
import com.sun.jna.Native

/**
 * Attaches each thread of the core's network to the JVM once, as a daemon, and not anew for every callback, which costs as much
 * as everything else of a call together.
 */
fun keepThreadsAttached() {
    val staying = CallbackThreadInitializer(true, false, "kassa")
    Native.setCallbackThreadInitializer(uniffiRustFutureContinuationCallbackImpl, staying)
    Native.setCallbackThreadInitializer(uniffiCallbackInterfaceLogSink.log, staying)
}
