package dev.kassa.support

import kotlinx.serialization.json.Json
import kotlinx.serialization.json.JsonArray
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonNull
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive
import java.math.BigDecimal
import java.util.Base64
import kotlin.time.Duration
import kotlin.time.Duration.Companion.milliseconds

/** A key of an object; a missing one is the same as null, and so is one of what is no object. */
fun JsonElement.at(key: String): JsonElement = (this as? JsonObject)?.get(key) ?: JsonNull

val JsonElement.keys: Set<String> get() = (this as? JsonObject)?.keys.orEmpty()

val JsonElement.items: List<JsonElement> get() = (this as? JsonArray).orEmpty()

val JsonElement.orNull: JsonElement? get() = takeIf { it !is JsonNull }

/** The text, where it is one. */
val JsonElement.optionalText: String? get() = (this as? JsonPrimitive)?.takeIf { it.isString }?.content

val JsonElement.text: String get() = optionalText ?: error("not a text: $this")

val JsonElement.optionalLong: Long? get() = orNull?.let { (it as JsonPrimitive).content.toLong() }

val JsonElement.int: Int get() = (this as JsonPrimitive).content.toInt()

val JsonElement.isTrue: Boolean get() = this == JsonPrimitive(true)

val JsonElement.decimal: BigDecimal get() = BigDecimal(text)

val JsonElement.optionalMillis: Duration? get() = optionalLong?.milliseconds

/** A text stands for its UTF-8, `{"$bytes": …}` for any bytes, and nothing for none. */
val JsonElement.bytes: ByteArray
    get() = when {
        this is JsonNull -> ByteArray(0)
        this is JsonObject -> Base64.getDecoder().decode(at("\$bytes").text)
        else -> text.encodeToByteArray()
    }

/** A dialect or a callback may be written as a text, or as the JSON that it is. */
val JsonElement.jsonText: String get() = optionalText ?: toString()

fun parseJson(text: String): JsonElement = Json.parseToJsonElement(text)

/** JSON of plain values and of JSON. */
fun json(value: Any?): JsonElement = when (value) {
    null -> JsonNull
    is JsonElement -> value
    is String -> JsonPrimitive(value)
    is Number -> JsonPrimitive(value)
    is Boolean -> JsonPrimitive(value)
    is Iterable<*> -> JsonArray(value.map(::json))
    else -> error("no plain value: ${value::class}")
}

fun jsonOf(vararg entries: Pair<String, Any?>): JsonObject =
    JsonObject(entries.associate { (key, value) -> key to json(value) })
