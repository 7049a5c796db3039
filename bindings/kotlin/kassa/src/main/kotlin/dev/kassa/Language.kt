package dev.kassa

import dev.kassa.internal.languageFromTag
import dev.kassa.internal.Language as CoreLanguage

/** A language in which violations and advice speak: [Violation.textIn]. */
public enum class Language {
    /** English, `en`. */
    ENGLISH,

    /** Russian, `ru`. */
    RUSSIAN,

    /** Kyrgyz, `ky`. */
    KYRGYZ;

    /** The tag, the same in every language. */
    override fun toString(): String = calling { toCore().asText() }

    /** Reads tags. */
    public companion object {
        /**
         * The language of a tag, as devices name it: `ru-KG`, `ky_KG`, `kir`, `Locale.getDefault().toLanguageTag()`. Any other is
         * English.
         */
        @JvmStatic
        public fun fromTag(tag: String): Language =
            if (isUnicode(tag)) calling { valueOf(languageFromTag(tag).name) } else ENGLISH
    }
}

internal fun Language.toCore() = CoreLanguage.valueOf(name)
