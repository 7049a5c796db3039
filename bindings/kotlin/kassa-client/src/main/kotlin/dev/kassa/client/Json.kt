package dev.kassa.client

import kotlinx.serialization.json.Json
import kotlinx.serialization.json.JsonArray
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonNull
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.booleanOrNull
import kotlinx.serialization.json.longOrNull
import java.math.BigDecimal
import java.time.Instant

/** A text is no JSON, or lacks what it must have. It never holds the text itself. */
internal class MalformedJson(message: String) : Exception(message)

internal fun parsed(text: String): JsonObject {
    val element = try {
        Json.parseToJsonElement(text)
    } catch (_: IllegalArgumentException) { // its message quotes the text
        throw MalformedJson("it is no JSON")
    }
    return element as? JsonObject ?: throw MalformedJson("it is no JSON object")
}

private fun <T> needed(name: String, kind: String, value: T?): T = value ?: throw MalformedJson("its member `$name` is no $kind")

// A member that is null is the same as none: a newer server may leave it out. One of another type is not.
private fun <T : Any> JsonObject.optional(name: String, kind: String, read: (JsonElement) -> T?): T? =
    get(name)?.takeIf { it !is JsonNull }?.let { needed(name, kind, read(it)) }

private fun textOf(element: JsonElement) = (element as? JsonPrimitive)?.takeIf { it.isString }?.content
private fun unquoted(element: JsonElement) = (element as? JsonPrimitive)?.takeUnless { it.isString }

internal fun JsonObject.textOrNull(name: String): String? = optional(name, "text", ::textOf)
internal fun JsonObject.text(name: String): String = needed(name, "text", textOrNull(name))
internal fun JsonObject.longOrNull(name: String): Long? = optional(name, "whole number") { unquoted(it)?.longOrNull }
internal fun JsonObject.long(name: String): Long = needed(name, "whole number", longOrNull(name))
internal fun JsonObject.intOrNull(name: String): Int? =
    longOrNull(name)?.let { number -> needed(name, "number", number.takeIf { it in 0..Int.MAX_VALUE }?.toInt()) }

internal fun JsonObject.int(name: String): Int = needed(name, "number", intOrNull(name))
internal fun JsonObject.flag(name: String): Boolean =
    needed(name, "true or false", optional(name, "true or false") { unquoted(it)?.booleanOrNull })

internal fun JsonObject.decimalOrNull(name: String): BigDecimal? =
    textOrNull(name)?.let { needed(name, "decimal", it.toBigDecimalOrNull()) }

internal fun JsonObject.decimal(name: String): BigDecimal = needed(name, "decimal", decimalOrNull(name))
internal fun JsonObject.instantOrNull(name: String): Instant? = longOrNull(name)?.let(Instant::ofEpochMilli)
internal fun JsonObject.instant(name: String): Instant = Instant.ofEpochMilli(long(name))
internal fun JsonObject.childOrNull(name: String): JsonObject? = optional(name, "object") { it as? JsonObject }
internal fun JsonObject.child(name: String): JsonObject = needed(name, "object", childOrNull(name))

private fun JsonObject.array(name: String): List<JsonElement> = needed(name, "list", get(name) as? JsonArray)

internal fun <T> JsonObject.objects(name: String, read: (JsonObject) -> T): List<T> =
    array(name).map { read(it as? JsonObject ?: throw MalformedJson("its member `$name` holds something else than objects")) }

internal fun JsonObject.texts(name: String): List<String> =
    array(name).map { needed(name, "list of texts", textOf(it)) }

internal fun JsonObject.textMap(name: String): Map<String, String> =
    child(name).mapValues { (_, value) -> needed(name, "object of texts", textOf(value)) }
