package dev.kassa.android.ui

private const val COUNTRY = "996"
private const val DIGITS = 9
private const val GROUP = 3

/** A number of Kyrgyzstan as the payer types it: nine digits behind the country's code. */
internal object PhoneNumber {
    const val PREFIX = "+$COUNTRY "

    /**
     * Those of the nine that stand in a text, which may begin with a zero or the country's code, as where it was pasted or filled in. A number
     * of another country has none: cut to nine digits it would be somebody else's.
     */
    fun read(typed: String): String {
        val digits = typed.mapNotNull { it.digitToIntOrNull() }.joinToString("")
        val hasPlus = typed.trimStart().startsWith('+')
        if (!hasPlus && digits.length <= DIGITS) return digits.trimStart('0')
        val bare = digits.removePrefix("00")
        val isInternational = hasPlus || bare.length < digits.length || digits.length > DIGITS + 1
        if (isInternational && !isOurs(bare)) return ""
        return bare.removePrefix(COUNTRY).trimStart('0').take(DIGITS)
    }

    /** Also where only the beginning is typed so far. */
    private fun isOurs(digits: String) = digits.startsWith(COUNTRY) || COUNTRY.startsWith(digits) || digits.startsWith('0')

    fun isWhole(digits: String) = digits.length == DIGITS

    /** `555 123 456`. */
    fun shown(digits: String) = digits.chunked(GROUP).joinToString(" ")

    /** As it is sent. */
    fun sent(digits: String) = COUNTRY + digits
}
