package dev.kassa.api

import org.jetbrains.kotlin.abi.tools.AbiFilters
import org.jetbrains.kotlin.abi.tools.AbiTools
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.ValueSource
import java.io.File
import java.nio.file.Path
import kotlin.io.path.createDirectories
import kotlin.io.path.exists
import kotlin.io.path.readText
import kotlin.io.path.writeText

/**
 * The binary interface (ABI) of the packages beside `kassa`, as Kotlin's own tool sees it: without what is internal, which the JVM would
 * let everybody call. `kassa` itself writes down more, as Java's callers have to know what it throws (its `ApiTest`).
 */
class AbiTest {
    @ParameterizedTest
    @ValueSource(strings = ["kassa-sandbox", "kassa-server", "kassa-client", "kassa-android", "kassa-android-ui"])
    fun `API is the one that is written down`(module: String) {
        val now = abiOf(File("../$module/target/classes/dev"))
        assertTrue("public final class dev/kassa/" in now, "nothing is offered: $now")
        val written = Path.of("../$module/api/$module.api")
        if (System.getProperty("kassa.api.write").toBoolean()) {
            written.parent.createDirectories()
            written.writeText(now)
        }
        assertEquals(if (written.exists()) written.readText() else "", now, "where that is meant: scripts/kotlin/write-api")
    }
}

private fun abiOf(folder: File): String {
    val classes = folder.walk().filter { it.extension == "class" && !isGenerated(it) }.sorted().toList()
    return StringBuilder().also { AbiTools.getInstance().printJvmDump(it, classes, AbiFilters.EMPTY) }.toString()
}

/** By Android's tools the numbers of resources, by Compose's the functions of screens. Nobody calls them by their names. */
private fun isGenerated(file: File): Boolean = file.name.matches(Regex("""(R|R\$.*|ComposableSingletons\$.*)\.class"""))
