package dev.kassa.checkout

import dev.kassa.conformance.isLike
import dev.kassa.support.at
import dev.kassa.support.items
import dev.kassa.support.keys
import dev.kassa.support.optionalText
import dev.kassa.support.text
import kotlinx.serialization.json.JsonArray
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonObject

/** Whether a value is what is expected: every key that is expected must be there and match, others may be as they are. */
fun matches(expected: JsonElement, found: JsonElement): Boolean = when {
    "\$like" in expected.keys -> isLike(expected.at("\$like").text, found.optionalText)
    expected is JsonObject -> expected.keys.all { matches(expected.at(it), found.at(it)) }
    expected is JsonArray -> found is JsonArray && expected.size == found.size &&
        expected.items.zip(found.items).all { (expected, found) -> matches(expected, found) }
    else -> expected == found
}
