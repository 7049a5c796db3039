package dev.kassa

import dev.kassa.internal.CardBrand as CoreCardBrand

/**
 * The brand of a payment card, as its first digits show.
 *
 * Only unambiguous ranges are listed; everything else is [UNKNOWN], which is no reason to refuse a card.
 */
public enum class CardBrand {
    /** 4; 16 digits, and 13 or 19 on some cards. */
    VISA,

    /** 51 to 55 and 2221 to 2720; 16 digits. */
    MASTERCARD,

    /** 2200 to 2204; 16 to 19 digits. */
    MIR,

    /** 62; 16 to 19 digits. */
    UNION_PAY,

    /** 9417, Kyrgyzstan's national card system; 16 digits. */
    ELCART,

    /** 34 and 37; 15 digits. Its security code has four digits, and the gateway takes three. */
    AMEX,

    /** 5018, 5020, 5038, 5893, 6304, 6759 and 6761 to 6763; 13 to 19 digits here. */
    MAESTRO,

    /** 3528 to 3589; 16 to 19 digits. */
    JCB,

    /** None of these, or too few digits. */
    UNKNOWN;

    /** The name in lower case, the same in every language. */
    override fun toString(): String = calling { CoreCardBrand.valueOf(name).asText() }
}
