package dev.kassa.android.ui

import android.os.Bundle
import dev.kassa.Language
import dev.kassa.PaymentMethod
import dev.kassa.android.ui.KassaCheckout.Appearance
import dev.kassa.android.ui.KassaCheckout.Request
import dev.kassa.android.ui.KassaCheckout.Result

// Only texts and numbers: the native library need not be loaded to read them.

private const val SERVER_URL = "dev.kassa.serverUrl"
private const val CLIENT_TOKEN = "dev.kassa.clientToken"
private const val REFERENCE = "dev.kassa.reference"
private const val TITLE = "dev.kassa.title"
private const val LANGUAGE = "dev.kassa.language"

// A view model finds the Intent's texts among what it has saved, so these are not the names of what was typed and chosen.
private const val GIVEN_PHONE = "dev.kassa.given_phone"
private const val GIVEN_METHOD = "dev.kassa.given_method"

private const val THEME = "dev.kassa.theme"
private const val ACCENT_COLOUR = "dev.kassa.accentColour"
private const val ON_ACCENT_COLOUR = "dev.kassa.onAccentColour"
private const val CORNER_RADIUS = "dev.kassa.cornerRadius"
private const val FONT = "dev.kassa.font"

private const val RESULT = "dev.kassa.result"
private const val AMOUNT = "dev.kassa.amount"
private const val CURRENCY = "dev.kassa.currency"
private const val PAID = "paid"
private const val NOT_PAID = "not_paid"
private const val STILL_OPEN = "still_open"
private const val PERSON_NEEDED = "person_needed"

internal fun Request.toBundle() = Bundle().also {
    it.putString(SERVER_URL, serverUrl)
    it.putString(CLIENT_TOKEN, clientToken)
    it.putString(REFERENCE, reference)
    it.putString(TITLE, title)
    it.putString(LANGUAGE, language?.name)
    it.putString(GIVEN_PHONE, phone)
    it.putString(GIVEN_METHOD, method?.name)
    it.putAll(appearance.toBundle())
}

private fun Appearance.toBundle() = Bundle().also {
    it.putString(THEME, theme.name)
    accentColour?.let { colour -> it.putInt(ACCENT_COLOUR, colour) }
    onAccentColour?.let { colour -> it.putInt(ON_ACCENT_COLOUR, colour) }
    it.putInt(CORNER_RADIUS, cornerRadius)
    font?.let { number -> it.putInt(FONT, number) }
}

/** Null where this is not what a sheet is launched with. */
internal fun requestOf(extras: Bundle?): Request? {
    val serverUrl = extras?.getString(SERVER_URL) ?: return null
    return Request(
        serverUrl,
        extras.getString(CLIENT_TOKEN) ?: return null,
        extras.getString(REFERENCE).orEmpty(),
        extras.getString(TITLE),
        extras.getString(LANGUAGE)?.let(Language::valueOf),
        extras.getString(GIVEN_PHONE),
        extras.getString(GIVEN_METHOD)?.let(PaymentMethod::valueOf),
        appearanceOf(extras),
    )
}

private fun appearanceOf(extras: Bundle) = Appearance(
    extras.getString(THEME)?.let(KassaCheckout.Theme::valueOf) ?: KassaCheckout.Theme.SYSTEM,
    extras.intOrNull(ACCENT_COLOUR),
    extras.intOrNull(ON_ACCENT_COLOUR),
    extras.getInt(CORNER_RADIUS, RADIUS),
    extras.intOrNull(FONT),
)

private fun Bundle.intOrNull(key: String): Int? = if (containsKey(key)) getInt(key) else null

internal fun Result.toBundle() = Bundle().also {
    it.putString(RESULT, word())
    if (this !is Result.Paid) return@also
    it.putString(AMOUNT, amount.toPlainString())
    it.putString(CURRENCY, currency)
}

/** What cannot be read, as where the system ended the sheet, says nothing about the money. */
internal fun resultOf(extras: Bundle?): Result = when (extras?.getString(RESULT)) {
    PAID -> paid(extras)
    NOT_PAID -> Result.NotPaid
    PERSON_NEEDED -> Result.PersonNeeded
    else -> Result.StillOpen
}

private fun paid(extras: Bundle): Result {
    val amount = extras.getString(AMOUNT)?.toBigDecimalOrNull() ?: return Result.StillOpen
    return Result.Paid(amount, extras.getString(CURRENCY).orEmpty())
}

private fun Result.word() = when (this) {
    is Result.Paid -> PAID
    Result.NotPaid -> NOT_PAID
    Result.StillOpen -> STILL_OPEN
    Result.PersonNeeded -> PERSON_NEEDED
}
