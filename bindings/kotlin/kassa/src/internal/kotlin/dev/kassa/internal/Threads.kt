package dev.kassa.internal

import com.sun.jna.CallbackThreadInitializer
import com.sun.jna.Native

/**
 * Thread attachment (JNI): attaches the core's thread of log events to the JVM once, as a daemon, and not anew for every
 * event.
 *
 * It sets what the generated code's callbacks have from JNA. Upstream:
 * https://github.com/mozilla/uniffi-rs/issues/2410. This goes when generated code attaches a thread once by itself.
 */
internal fun keepThreadsAttached() {
    Native.setCallbackThreadInitializer(uniffiCallbackInterfaceLogSink.log, CallbackThreadInitializer(true, false, "kassa"))
}
