package dev.kassa.android.ui

private const val COUNTRY = "996"
private const val DIGITS = 9
private const val GROUP = 3

/** A number of Kyrgyzstan as the payer types it: nine digits behind the country's code. */
internal object PhoneNumber {
    const val PREFIX = "+$COUNTRY "

    /** Those of the nine that stand in a text, which may begin with a zero or the country's code, as where it was pasted or filled in. */
    fun read(typed: String): String {
        val digits = typed.mapNotNull { it.digitToIntOrNull() }.joinToString("")
        val hasCountry = typed.trimStart().startsWith('+') || digits.length > DIGITS
        val national = if (hasCountry) digits.removePrefix("00").removePrefix(COUNTRY) else digits
        return national.trimStart('0').take(DIGITS)
    }

    fun isWhole(digits: String) = digits.length == DIGITS

    /** `555 123 456`. */
    fun shown(digits: String) = digits.chunked(GROUP).joinToString(" ")

    /** As it is sent. */
    fun sent(digits: String) = COUNTRY + digits
}
