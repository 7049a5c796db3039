package dev.kassa

import dev.kassa.internal.Direct
import dev.kassa.internal.keepThreadsAttached
import dev.kassa.internal.setLogSink
import dev.kassa.internal.uniffiEnsureInitialized

/** The native library, loaded once. */
internal object Library {
    /** The sink of all events, the core's and this package's. */
    @Volatile
    private var sink: CoreSink? = null

    /** Kept: a class whose initializer has thrown says nothing but its name from then on. Any other error is a defect, and is thrown. */
    private val problem: UnsatisfiedLinkError? = try {
        keepThreadsAttached()
        uniffiEnsureInitialized()
        Direct.ensureInitialized()
        if (hasSystemLogger()) setLogSink(CoreSink(SystemLog).also { sink = it })
        null
    } catch (error: UnsatisfiedLinkError) {
        error
    }

    /**
     * Loads it where that has not happened yet.
     *
     * @throws UnsatisfiedLinkError if this package has no library for the system that runs it.
     */
    fun load() {
        if (problem != null) throw UnsatisfiedLinkError(whyNotLoaded(problem)).apply { initCause(problem) }
    }

    fun logTo(sink: LogSink?) {
        this.sink = sink?.let(::CoreSink)
        setLogSink(this.sink)
    }

    /** An event of this package itself, on the thread that it happens on. */
    fun log(event: LogEvent) {
        load()
        sink?.log(event)
    }
}

/** The folders in which JNA looks for a system's library, and what the library is called there. */
private val LIBRARIES = mapOf(
    "linux-x86-64" to "libkassa_native.so",
    "linux-aarch64" to "libkassa_native.so",
    "darwin-x86-64" to "libkassa_native.dylib",
    "darwin-aarch64" to "libkassa_native.dylib",
    "win32-x86-64" to "kassa_native.dll",
)

private fun whyNotLoaded(problem: UnsatisfiedLinkError): String {
    val loader = Library::class.java.classLoader
    val there = LIBRARIES.filter { (folder, file) -> loader?.getResource("$folder/$file") != null }.keys
    val name = System.getProperty("os.name")
    val why = when {
        System.getProperty("java.vm.name") == "Dalvik" -> " On Android it is in the AAR, dev.kassa:kassa-android."
        there.isEmpty() -> " There is none in this package: `make jar` in Kassa's repository builds a package with this machine's."
        else -> " The package has one for ${there.joinToString()}." +
            " JNA unpacks it into a folder, which must not be mounted noexec: -Djna.tmpdir=FOLDER names another one."
    }
    val linux = if (name == "Linux") " On Linux it may also be that the C library is another one (musl, as in Alpine) or too old." else ""
    return "Kassa's native library cannot be loaded on $name on ${System.getProperty("os.arch")}.$why$linux JNA says: ${problem.message}"
}

private fun hasSystemLogger() = try {
    Class.forName("java.lang.System\$Logger")
    true
} catch (_: ClassNotFoundException) {
    false
}
