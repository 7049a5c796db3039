package dev.kassa.conformance

import dev.kassa.Journal
import dev.kassa.support.at
import dev.kassa.support.orNull
import dev.kassa.support.text
import kotlinx.serialization.json.JsonElement
import java.nio.file.Path
import kotlin.io.path.ExperimentalPathApi
import kotlin.io.path.createParentDirectories
import kotlin.io.path.createTempDirectory
import kotlin.io.path.deleteRecursively
import kotlin.io.path.readText
import kotlin.io.path.walk
import kotlin.io.path.writeText

/** The folder of a vector's journal, which the journal makes, and the steps that look into it. */
@OptIn(ExperimentalPathApi::class)
class JournalFolder private constructor(private val root: Path) : AutoCloseable {
    private val folder = root.resolve("journal")

    fun open(): Journal = Journal.open(folder)

    fun step(name: String, input: JsonElement): Any? = when (name) {
        "write_in_journal" -> folder.resolve(input.at("path").text).createParentDirectories().writeText(input.at("text").text).let { null }
        "lose_journal" -> folder.deleteRecursively().let { null }
        else -> folder.walk().joinToString("") { it.readText() }
    }

    override fun close() = root.deleteRecursively()

    companion object {
        val steps = setOf("write_in_journal", "lose_journal", "journal_text")

        /** One where the vector has a journal. */
        fun of(spec: JsonElement): JournalFolder? = spec.at("journal").orNull?.let { JournalFolder(createTempDirectory("kassa-vector")) }
    }
}
