package dev.kassa

import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test
import java.nio.file.Path

/** A JVM on a system that the package has no library for. JNA looks for it in a folder with the system's name. */
class UnknownSystemTest {
    @Test
    fun `each call says on which systems the package works`() {
        val java = Path.of(System.getProperty("java.home"), "bin", "java").toString()
        val options = listOf("-Djna.nosys=true", "-Djna.prefix=plan9-mips", "-cp", System.getProperty("java.class.path"))
        val process = ProcessBuilder(listOf(java) + options + UnknownSystem::class.java.name).redirectErrorStream(true).start()
        val said = process.inputStream.bufferedReader().readText()
        assertEquals(0, process.waitFor(), said)
    }
}

/** The program in that JVM. */
internal object UnknownSystem {
    @JvmStatic
    fun main(arguments: Array<String>) {
        check(arguments.isEmpty())
        // The second time a class that cannot be initialized would say so, and nothing else.
        repeat(2) {
            val error = runCatching { Credentials("shop", "a password") }.exceptionOrNull()
            check(error is UnsatisfiedLinkError) { "not that error: $error" }
            val text = error.message.orEmpty()
            val system = "${System.getProperty("os.name")} on ${System.getProperty("os.arch")}"
            check("cannot be loaded on $system" in text && here() in text.substringAfter("has one for ").substringBefore('.')) { text }
        }
    }

    /** What the package was built with: the library of the machine that tests it. */
    private fun here(): String {
        val family = if (System.getProperty("os.name").startsWith("Mac")) "darwin" else "linux"
        val kind = if (System.getProperty("os.arch") in setOf("amd64", "x86_64")) "x86-64" else "aarch64"
        return "$family-$kind"
    }
}
