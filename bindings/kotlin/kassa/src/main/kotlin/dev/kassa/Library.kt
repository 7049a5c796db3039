package dev.kassa

import dev.kassa.internal.keepThreadsAttached
import dev.kassa.internal.setLogSink
import dev.kassa.internal.uniffiEnsureInitialized

/** The native library, loaded once. */
internal object Library {
    init {
        keepThreadsAttached()
        uniffiEnsureInitialized()
        if (hasSystemLogger()) logTo(SystemLog)
    }

    /** Loads it where that has not happened yet. */
    fun load() = Unit

    fun logTo(sink: LogSink?) = setLogSink(sink?.let(::CoreSink))
}

private fun hasSystemLogger() = try {
    Class.forName("java.lang.System\$Logger")
    true
} catch (_: ClassNotFoundException) {
    false
}
