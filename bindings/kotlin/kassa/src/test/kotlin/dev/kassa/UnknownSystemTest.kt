package dev.kassa

import com.sun.jna.Platform
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.io.TempDir
import java.nio.file.Path

/** A JVM that the package has no library for. JNA looks for it in a folder with the system's name. */
class UnknownSystemTest {
    @Test
    fun `each call says on which systems the package works`() {
        // What the package was built with at least: the library of the machine that tests it.
        val program = listOf(UnknownSystem::class.java.name, Platform.RESOURCE_PREFIX)
        run(listOf("-Djna.prefix=plan9-mips", "-cp", System.getProperty("java.class.path")) + program)
    }

    @Test
    fun `package that was built without the library says which command builds one`(@TempDir folder: Path) {
        val classes = Path.of(Kassa::class.java.protectionDomain.codeSource.location.toURI())
        classes.resolve("dev").toFile().copyRecursively(folder.resolve("dev").toFile())
        val classPath = System.getProperty("java.class.path").replace("$classes", "$folder")
        run(listOf("-cp", classPath, PackageWithoutLibrary::class.java.name))
    }

    private fun run(arguments: List<String>) {
        val java = Path.of(System.getProperty("java.home"), "bin", "java").toString()
        val process = ProcessBuilder(listOf(java, "-Djna.nosys=true") + arguments).redirectErrorStream(true).start()
        val said = process.inputStream.bufferedReader().readText()
        assertEquals(0, process.waitFor(), said)
    }
}

/** The program in that JVM. */
internal object UnknownSystem {
    @JvmStatic
    fun main(arguments: Array<String>) {
        val here = arguments.single()
        // The second time a class that cannot be initialized would say so, and nothing else.
        repeat(2) {
            val error = runCatching { Credentials("shop", "a password") }.exceptionOrNull()
            check(error is UnsatisfiedLinkError) { "not that error: $error" }
            val text = error.message.orEmpty()
            val system = "${System.getProperty("os.name")} on ${System.getProperty("os.arch")}"
            check("cannot be loaded on $system" in text && here in text.substringAfter("has one for ").substringBefore('.')) { text }
        }
    }
}

/** The program in a JVM whose class path has Kassa's classes, and no library. */
internal object PackageWithoutLibrary {
    @JvmStatic
    fun main(arguments: Array<String>) {
        check(arguments.isEmpty())
        val error = runCatching { Kassa.load() }.exceptionOrNull()
        check(error is UnsatisfiedLinkError && "`make jar`" in error.message.orEmpty()) { "not that error: $error" }
    }
}
