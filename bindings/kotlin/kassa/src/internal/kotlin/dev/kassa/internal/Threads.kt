package dev.kassa.internal

import com.sun.jna.CallbackThreadInitializer
import com.sun.jna.Native

/**
 * Thread attachment (JNI): attaches each thread of the core's network to the JVM once, as a daemon, and not anew for
 * every callback, which costs as much as everything else of a call together.
 *
 * It sets what the generated code's callbacks have from JNA. Upstream:
 * https://github.com/mozilla/uniffi-rs/issues/2410. This goes when generated code attaches a thread once by itself.
 */
internal fun keepThreadsAttached() {
    val staying = CallbackThreadInitializer(true, false, "kassa")
    Native.setCallbackThreadInitializer(uniffiRustFutureContinuationCallbackImpl, staying)
    Native.setCallbackThreadInitializer(uniffiCallbackInterfaceLogSink.log, staying)
}
