package dev.kassa.android.ui

import android.content.res.Configuration
import androidx.compose.foundation.isSystemInDarkTheme
import androidx.compose.material3.MaterialTheme
import androidx.compose.material3.darkColorScheme
import androidx.compose.material3.lightColorScheme
import androidx.compose.runtime.Composable
import androidx.compose.runtime.CompositionLocalProvider
import androidx.compose.runtime.remember
import androidx.compose.runtime.staticCompositionLocalOf
import androidx.compose.ui.graphics.Color
import androidx.compose.ui.graphics.luminance
import androidx.compose.ui.platform.LocalConfiguration
import androidx.compose.ui.platform.LocalContext
import androidx.compose.ui.res.stringResource
import dev.kassa.Language
import java.util.Locale

/** In which language the core's texts are shown: that of the strings around them. */
internal val LocalLanguage = staticCompositionLocalOf { Language.ENGLISH }

/** Of the mark that says "paid". */
internal val LocalGood = staticCompositionLocalOf { Color.Unspecified }

/** Of the buttons that matter; the merchant's own, where it is given. */
internal val LocalButtonColour = staticCompositionLocalOf { Color.Unspecified }

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

/** Colours and language of the sheet. */
@Composable
internal fun KassaTheme(language: Language?, colour: Int?, content: @Composable () -> Unit) {
    val isDark = isSystemInDarkTheme()
    val colours = if (isDark) dark else light
    InLanguage(language) {
        CompositionLocalProvider(
            LocalLanguage provides languageOf(stringResource(R.string.kassa_language)),
            LocalGood provides if (isDark) Color(0xFF55C285) else Color(0xFF176639),
            LocalButtonColour provides (colour?.let { Color(it).copy(alpha = 1f) } ?: colours.primary),
        ) {
            MaterialTheme(colours, content = content)
        }
    }
}

/** Black or white, whichever has the higher contrast (WCAG). */
internal fun readableOn(colour: Color): Color {
    val light = colour.luminance() + 0.05f
    return if (1.05f / light >= light / 0.05f) Color.White else Color.Black
}

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
