package dev.kassa.conformance

import dev.kassa.support.at
import dev.kassa.support.int
import dev.kassa.support.items
import dev.kassa.support.json
import dev.kassa.support.keys
import dev.kassa.support.orNull
import dev.kassa.support.parseJson
import dev.kassa.support.text
import kotlinx.serialization.json.JsonArray
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonObject
import java.nio.file.Path
import kotlin.io.path.Path
import kotlin.io.path.createParentDirectories
import kotlin.io.path.listDirectoryEntries
import kotlin.io.path.name
import kotlin.io.path.readText
import kotlin.io.path.writeText

/** One vector, with everything that it says spelled out. */
class Vector(val group: String, val name: String, val spec: JsonElement)

/** A vector of one step is that step. */
fun stepsOf(spec: JsonElement): List<JsonElement> = spec.at("steps").orNull?.items ?: listOf(spec)

private val directory: Path = Path(System.getProperty("kassa.repository"), "tests", "conformance")

/** All vectors, by their groups. */
fun loadVectors(): Map<String, List<Vector>> {
    val common = read(directory.resolve("common.json"))
    val files = directory.listDirectoryEntries("*.json").filter { it.name != "common.json" }.sorted()
    return files.map(::read).associate { file -> file.at("group").text to expand(common, file) }
}

/** Writes the number of chosen vectors for `scripts/kotlin/test-packages`, which fails if a filter matches none. */
fun writeCount(runner: String, count: Int) = Path("target", "vectors", "$runner.count").createParentDirectories().writeText("$count\n")

private fun read(file: Path) = parseJson(file.readText())

private fun expand(common: JsonElement, file: JsonElement): List<Vector> {
    val constants = merged(common.at("constants"), file.at("constants"))
    val defaults = withConfig(common.at("defaults"), file.at("defaults"))
    return file.at("vectors").items.map { vector ->
        val whole = withConfig(defaults, vector)
        Vector(file.at("group").text, vector.at("name").text, Spelling(constants).out(whole))
    }
}

private fun merged(defaults: JsonElement, own: JsonElement) =
    JsonObject((defaults as? JsonObject).orEmpty() + (own as? JsonObject).orEmpty())

/** A key that the vector lacks comes from the defaults; `config` is filled up key by key. */
private fun withConfig(defaults: JsonElement, vector: JsonElement) =
    JsonObject(merged(defaults, vector) + ("config" to merged(defaults.at("config"), vector.at("config"))))

/** `$use` with `$with`, `$repeat` with `times`, and `$concat` are spelled out. */
private class Spelling(private val constants: JsonObject) {
    fun out(value: JsonElement): JsonElement = when (value) {
        is JsonArray -> JsonArray(value.map(::out))
        is JsonObject -> when {
            "\$use" in value.keys -> used(value)
            "\$repeat" in value.keys -> json(value.at("\$repeat").text.repeat(value.at("times").int))
            "\$concat" in value.keys -> json(value.at("\$concat").items.joinToString("") { out(it).text })
            else -> JsonObject(value.mapValues { out(it.value) })
        }
        else -> value
    }

    private fun used(value: JsonObject): JsonElement {
        val name = value.at("\$use").text
        val constant = out(constants[name] ?: error("no constant is named $name"))
        return value.at("\$with").orNull?.let { merged(constant, out(it)) } ?: constant
    }
}
