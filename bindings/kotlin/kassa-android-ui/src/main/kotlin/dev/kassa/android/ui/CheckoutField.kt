package dev.kassa.android.ui

import dev.kassa.Violation

/** A field that the payer types into. */
public enum class CheckoutField {
    /** The phone that gets the code. */
    PHONE,

    /** The code from the SMS. */
    CODE,

    /** The card's number. */
    CARD_NUMBER,

    /** The card's expiry. */
    CARD_EXPIRY,

    /** The card's security code. */
    CARD_CVC,

    /** The name of the card's holder. */
    CARD_HOLDER;

    /** The name in lower case, the same in every language. */
    override fun toString(): String = name.lowercase()
}

/** The field of the violation; null if it is not an input field. */
internal fun fieldOf(violation: Violation): CheckoutField? = when (violation.field) {
    "phone" -> CheckoutField.PHONE
    "otp" -> CheckoutField.CODE
    "pan" -> CheckoutField.CARD_NUMBER
    "expiryMonth", "expiryYear" -> CheckoutField.CARD_EXPIRY
    "cvc" -> CheckoutField.CARD_CVC
    "name" -> CheckoutField.CARD_HOLDER
    else -> null
}
