package dev.kassa.android.ui

import dev.kassa.Kassa

private const val COUNTRY = "996"
private const val NATIONAL_DIGITS = 9
private const val GROUP = 3

/** A number is not broken over two lines. */
private const val NO_BREAK = "\u00a0"

/** The phone that the mobile bank sends its code to. */
internal object PhoneNumber {
    /**
     * The number that is used, out of what the payer typed, pasted or had filled in; null where that is none, or where it is not certain which
     * one is meant. The core decides it, by the same rules by which it sends: nothing is left out or cut here.
     */
    fun read(typed: String): String? = Kassa.normalizedPhone(typed)

    /** A number that was read, for the payer to check: `+996 555 123 456`. Other countries have groups of their own, so theirs get none. */
    fun shown(phone: String): String {
        val national = phone.removePrefix(COUNTRY)
        val isOfCountry = phone.startsWith(COUNTRY) && national.length == NATIONAL_DIGITS
        return if (isOfCountry) "+$COUNTRY$NO_BREAK${national.chunked(GROUP).joinToString(NO_BREAK)}" else "+$phone"
    }
}
