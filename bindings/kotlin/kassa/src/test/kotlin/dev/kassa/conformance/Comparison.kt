package dev.kassa.conformance

import dev.kassa.support.at
import dev.kassa.support.decimal
import dev.kassa.support.items
import dev.kassa.support.keys
import dev.kassa.support.optionalText
import dev.kassa.support.orNull
import dev.kassa.support.text
import kotlinx.serialization.json.JsonArray
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonNull
import kotlinx.serialization.json.JsonObject

/** The places where what came differs from what is expected. A missing key and a null are the same. */
fun differences(expected: JsonElement, actual: JsonElement, place: String = ""): List<String> {
    val matches = when {
        "\$any" in expected.keys -> actual !is JsonNull
        "\$one_of" in expected.keys -> expected.at("\$one_of").items.any { differences(it, actual).isEmpty() }
        "\$like" in expected.keys -> isLike(expected.at("\$like").text, actual.optionalText)
        "\$decimal" in expected.keys -> isSameDecimal(expected, actual)
        expected is JsonObject && actual is JsonObject ->
            return (expected.keys + actual.keys).flatMap { differences(expected.at(it), actual.at(it), "$place.$it") }
        expected is JsonArray && actual is JsonArray && expected.size == actual.size ->
            return expected.indices.flatMap { differences(expected[it], actual[it], "$place[$it]") }
        else -> expected == actual
    }
    return if (matches) emptyList() else listOf("$place: expected ${short(expected)}, came ${short(actual)}")
}

private fun isSameDecimal(expected: JsonElement, actual: JsonElement): Boolean {
    val came = actual.at("\$decimal").orNull ?: return false
    return expected.at("\$decimal").decimal.compareTo(came.decimal) == 0
}

/** A star stands for any text. */
fun isLike(pattern: String, text: String?): Boolean {
    val regex = pattern.split('*').joinToString(".*") { Regex.escape(it) }
    return text != null && Regex(regex, RegexOption.DOT_MATCHES_ALL).matches(text)
}

private fun short(value: JsonElement) = value.toString().let { if (it.length > 600) it.take(600) + "…" else it }
