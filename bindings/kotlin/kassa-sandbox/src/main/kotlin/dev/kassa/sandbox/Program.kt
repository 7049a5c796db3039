package dev.kassa.sandbox

import java.io.IOException
import java.nio.file.Files
import java.nio.file.Path
import java.util.Locale

/** Names another program than the one in this jar, for work on the sandbox itself. */
internal const val PROGRAM_VARIABLE = "KASSA_SANDBOX_BINARY"

/** Finds the program. */
internal object Program {
    private val unpacked: Path by lazy(::unpack)

    /** The program that the environment names, or the one that came in the jar. */
    fun find(): Path = System.getenv(PROGRAM_VARIABLE)?.takeIf { it.isNotEmpty() }?.let(Path::of) ?: unpacked

    /** Once in a run, into a folder that only this user can read; it goes when the JVM ends in order. */
    private fun unpack(): Path {
        val platform = platform(System.getProperty("os.name"), System.getProperty("os.arch"))
        val name = if (platform.startsWith("win32")) "kassa-sandbox.exe" else "kassa-sandbox"
        val resource = Program::class.java.getResourceAsStream("$platform/$name") ?: throw SandboxException.NotStarted(
            "this jar has no sandbox for $platform in it; the environment variable $PROGRAM_VARIABLE can name one",
        )
        try {
            val folder = Files.createTempDirectory("kassa-sandbox-")
            folder.toFile().deleteOnExit()
            val file = folder.resolve(name)
            file.toFile().deleteOnExit()
            resource.use { Files.copy(it, file) }
            file.toFile().setExecutable(true)
            return file
        } catch (error: IOException) {
            throw SandboxException.NotStarted("the sandbox cannot be unpacked: $error", cause = error)
        }
    }
}

/** A platform's folder, named as JNA names it. */
internal fun platform(system: String, processor: String): String {
    val name = system.lowercase(Locale.ROOT)
    val family = when {
        name.startsWith("windows") -> "win32"
        name.startsWith("mac") -> "darwin"
        else -> name
    }
    val kind = when (processor.lowercase(Locale.ROOT)) {
        "amd64", "x86_64" -> "x86-64"
        "arm64", "aarch64" -> "aarch64"
        else -> processor
    }
    return "$family-$kind"
}
