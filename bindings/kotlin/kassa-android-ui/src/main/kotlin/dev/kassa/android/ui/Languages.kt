package dev.kassa.android.ui

import dev.kassa.Language

// Those of the core would load the native library, for which the thread that draws has no time.

internal fun tagOf(language: Language) = when (language) {
    Language.ENGLISH -> "en"
    Language.RUSSIAN -> "ru"
    Language.KYRGYZ -> "ky"
}

internal fun languageOf(tag: String) = Language.entries.find { tagOf(it) == tag } ?: Language.ENGLISH
