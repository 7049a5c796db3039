package dev.kassa.android.ui

import android.content.res.Configuration
import androidx.compose.foundation.isSystemInDarkTheme
import androidx.compose.foundation.shape.RoundedCornerShape
import androidx.compose.material3.ColorScheme
import androidx.compose.material3.MaterialTheme
import androidx.compose.material3.Typography
import androidx.compose.material3.darkColorScheme
import androidx.compose.material3.lightColorScheme
import androidx.compose.runtime.Composable
import androidx.compose.runtime.CompositionLocalProvider
import androidx.compose.runtime.remember
import androidx.compose.runtime.staticCompositionLocalOf
import androidx.compose.ui.graphics.Color
import androidx.compose.ui.graphics.RectangleShape
import androidx.compose.ui.graphics.Shape
import androidx.compose.ui.platform.LocalConfiguration
import androidx.compose.ui.platform.LocalContext
import androidx.compose.ui.res.stringResource
import androidx.compose.ui.text.font.FontFamily
import androidx.compose.ui.unit.dp
import dev.kassa.Language
import java.util.Locale

/** In which language the core's texts are shown: that of the strings around them. */
internal val LocalLanguage = staticCompositionLocalOf { Language.ENGLISH }

/** Of the mark that says "paid". */
internal val LocalGood = staticCompositionLocalOf { Color.Unspecified }

/** The colour of the buttons that matter, and of what stands upon it. */
internal data class ButtonColours(val ground: Color, val text: Color)

internal val LocalButtonColours = staticCompositionLocalOf { ButtonColours(Color.Unspecified, Color.Unspecified) }

/** Of buttons, fields and messages. */
internal val LocalCorners = staticCompositionLocalOf<Shape> { RectangleShape }

/** Of the sheet. */
internal val LocalSheetCorner = staticCompositionLocalOf { 0.dp }

/** So much rounder than what stands in it is the sheet. */
private val SHEET_MORE = 8.dp

private val light = lightColorScheme(
    primary = Color(0xFF1F4F8F),
    onPrimary = Color.White,
    primaryContainer = Color(0xFFDCE8F8),
    onPrimaryContainer = Color(0xFF17202B),
    secondaryContainer = Color(0xFFF3F5F8),
    onSecondaryContainer = Color(0xFF17202B),
    surface = Color.White,
    onSurface = Color(0xFF17202B),
    onSurfaceVariant = Color(0xFF505C6C),
    outline = Color(0xFF768294),
    outlineVariant = Color(0xFFDBE0E8),
    error = Color(0xFFA5231C),
    onError = Color.White,
    errorContainer = Color(0xFFFDECEB),
    onErrorContainer = Color(0xFF5C120D),
)

private val dark = darkColorScheme(
    primary = Color(0xFF8AB8F5),
    onPrimary = Color.Black,
    primaryContainer = Color(0xFF213A5A),
    onPrimaryContainer = Color(0xFFE8EDF3),
    secondaryContainer = Color(0xFF212A35),
    onSecondaryContainer = Color(0xFFE8EDF3),
    surface = Color(0xFF181E26),
    onSurface = Color(0xFFE8EDF3),
    onSurfaceVariant = Color(0xFFA9B4C2),
    outline = Color(0xFF7D8999),
    outlineVariant = Color(0xFF2F3946),
    error = Color(0xFFFF9D94),
    onError = Color(0xFF2B0F0D),
    errorContainer = Color(0xFF3F1A1A),
    onErrorContainer = Color(0xFFFFDAD6),
)

/** Colours, shapes, font and language of the sheet. */
@Composable
internal fun KassaTheme(language: Language?, appearance: KassaCheckout.Appearance, content: @Composable () -> Unit) {
    val isDark = when (appearance.theme) {
        KassaCheckout.Theme.SYSTEM -> isSystemInDarkTheme()
        KassaCheckout.Theme.LIGHT -> false
        KassaCheckout.Theme.DARK -> true
    }
    val context = LocalContext.current
    val typography = remember(appearance, context) { appearance.fontFamily(context)?.let { Typography().with(it) } ?: Typography() }
    val colours = remember(appearance, isDark) { appearance.accented(if (isDark) dark else light) }
    val accent = appearance.accentColour?.let(::opaque) ?: colours.primary
    val radius = appearance.cornerRadius.dp
    InLanguage(language) {
        CompositionLocalProvider(
            LocalLanguage provides languageOf(stringResource(R.string.kassa_language)),
            LocalGood provides if (isDark) Color(0xFF55C285) else Color(0xFF176639),
            LocalButtonColours provides ButtonColours(accent, appearance.onAccentColour?.let(::opaque) ?: readableOn(accent)),
            LocalCorners provides RoundedCornerShape(radius),
            LocalSheetCorner provides if (appearance.cornerRadius == 0) 0.dp else radius + SHEET_MORE,
        ) {
            MaterialTheme(colours, typography = typography, content = content)
        }
    }
}

/** Fields and spinner take the accent where it can be seen on the sheet. */
private fun KassaCheckout.Appearance.accented(colours: ColorScheme): ColorScheme {
    val accent = accentColour?.let(::opaque)?.takeIf { contrast(it, colours.surface) >= LEAST_CONTRAST } ?: return colours
    return colours.copy(primary = accent, onPrimary = readableOn(accent))
}

/** Of the styles that the sheet and its fields have. */
private fun Typography.with(font: FontFamily): Typography = copy(
    headlineMedium = headlineMedium.copy(fontFamily = font),
    headlineSmall = headlineSmall.copy(fontFamily = font),
    titleLarge = titleLarge.copy(fontFamily = font),
    titleMedium = titleMedium.copy(fontFamily = font),
    bodyLarge = bodyLarge.copy(fontFamily = font),
    bodyMedium = bodyMedium.copy(fontFamily = font),
    bodySmall = bodySmall.copy(fontFamily = font),
    labelLarge = labelLarge.copy(fontFamily = font),
)

/** The strings of a language, whatever the phone's. */
@Composable
private fun InLanguage(language: Language?, content: @Composable () -> Unit) {
    if (language == null) return content()
    val context = LocalContext.current
    val configuration = LocalConfiguration.current
    val spoken = remember(context, configuration, language) {
        val changed = Configuration(configuration).apply { setLocale(Locale.forLanguageTag(tagOf(language))) }
        context.createConfigurationContext(changed)
    }
    CompositionLocalProvider(
        LocalContext provides spoken,
        LocalConfiguration provides spoken.resources.configuration,
        content = content,
    )
}
