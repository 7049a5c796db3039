package dev.kassa

import java.net.URI
import java.net.URISyntaxException

/**
 * A URL that the core has checked and written out anew. Its path, query and fragment may hold characters that browsers take as
 * they are and `java.net.URI` does not; they are percent-encoded then, which means the same.
 */
internal fun checkedUri(url: String): URI = try {
    URI(url)
} catch (_: URISyntaxException) {
    val path = url.indexOf('/', startIndex = url.indexOf("://") + 3)
    URI(url.substring(0, path) + encoded(url.substring(path)))
}

private fun encoded(text: String): String = buildString {
    var isInFragment = false
    text.forEachIndexed { at, char ->
        val stays = when (char) {
            '#' -> !isInFragment
            '%' -> ESCAPE.matchesAt(text, at)
            else -> char.isPlain()
        }
        if (stays) append(char) else append("%%%02X".format(char.code))
        if (char == '#') isInFragment = true
    }
}

private val ESCAPE = Regex("%[0-9A-Fa-f]{2}")

/** The core leaves nothing beyond ASCII. */
private fun Char.isPlain() = this in 'a'..'z' || this in 'A'..'Z' || this in '0'..'9' || this in "-._~:/?@!$&'()*+,;="
