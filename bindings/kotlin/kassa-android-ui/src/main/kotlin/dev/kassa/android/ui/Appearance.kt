package dev.kassa.android.ui

import android.content.Context
import android.content.res.Resources
import androidx.compose.ui.graphics.Color
import androidx.compose.ui.graphics.luminance
import androidx.compose.ui.text.font.Font
import androidx.compose.ui.text.font.FontFamily
import androidx.compose.ui.text.font.toFontFamily

/** The least contrast to the background with which large text and icons can be made out (WCAG 2.2, 1.4.3 and 1.4.11). */
internal const val LEAST_CONTRAST = 3f

/** From 1 to 21, by WCAG. */
internal fun contrast(one: Color, other: Color): Float {
    val (darker, lighter) = listOf(one.luminance(), other.luminance()).sorted()
    return (lighter + 0.05f) / (darker + 0.05f)
}

/** Black or white, whichever has the higher contrast. */
internal fun readableOn(colour: Color): Color =
    if (contrast(Color.White, colour) >= contrast(Color.Black, colour)) Color.White else Color.Black

/** Colours are written without their opacity, too. */
internal fun opaque(colour: Int): Color = Color(colour).copy(alpha = 1f)

/** Whether a resource is a font is known where there are resources. */
internal fun KassaCheckout.Appearance.checkFont(context: Context) {
    val font = font ?: return
    val found = try {
        context.resources.getResourceTypeName(font)
    } catch (_: Resources.NotFoundException) {
        null
    }
    require(found == "font") { "font is not the number of a font (R.font): ${found?.let { "R.$it" } ?: "there is no such resource"}" }
}

/** Null if there is none, or none any more: an app that was updated meanwhile may have numbered its resources anew. */
internal fun KassaCheckout.Appearance.fontFamily(context: Context): FontFamily? {
    val font = font ?: return null
    return try {
        context.resources.getFont(font)
        Font(font).toFontFamily()
    } catch (_: Resources.NotFoundException) {
        null
    }
}
