package dev.kassa

import java.io.Serializable
import dev.kassa.internal.Rule as CoreRule
import dev.kassa.internal.Violation as CoreViolation

/**
 * One rule that one field of an input breaks. The value itself is never part of it, so it is safe to log.
 *
 * @property field the field, spelled as the gateway's interface spells it, such as `callbackURL` of a pay-form
 * @property rule the rule that is broken
 * @property limit the limit of the rule where it has one, such as `3` or `13 to 20`
 * @property text one sentence that names the field and the rule, in English; [textIn] has other languages
 */
public data class Violation(
    public val field: String,
    public val rule: Rule,
    public val limit: String?,
    public val text: String,
) : Serializable {
    /**
     * The same in a language, for the payer to read: what a payer types has a name there (card number, expiry, CVC, holder's name,
     * phone, code from the SMS); any other field is named as it is.
     */
    public fun textIn(language: Language): String = calling { toCore().textIn(language.toCore()) }

    /** The sentence. */
    override fun toString(): String = text
}

/** The rules that an input can break. */
public enum class Rule {
    /** The field must be given and not be blank. */
    REQUIRED,

    /** The field must have an exact number of characters (or of digits). */
    LENGTH,

    /** The amount must not be under a minimum. */
    MINIMUM,

    /** Only the digits 0 to 9 are allowed. */
    DIGITS,

    /** Only the letters A to Z are allowed. */
    LETTERS,

    /** A month is written `01` to `12`. */
    MONTH,

    /** An absolute http or https URL is needed. */
    HTTP_URL,

    /** An absolute URI is needed (a deep link will do), but not one that a browser or a system would run or read from. */
    RETURN_URI,

    /** An IPv4 or IPv6 address is needed. */
    IP_ADDRESS,

    /** The value must be one of a few. */
    ONE_OF,

    /** The check digit of the card number is wrong. Checked only where the gateway was told to. */
    LUHN,

    /** The text does not have the form that is needed. */
    FORMAT,

    /** The signature must be one that this key made for this purpose. */
    SIGNATURE,

    /** The value cannot be carried or converted without rounding: it has too many decimals, or is too large. */
    EXACT,

    /** The card's expiry is in the past. Checked only in a [CardInput]; of a payment it is advice. */
    EXPIRED,

    /** The action does not fit the state of the [Checkout]. */
    STATE;

    /** The name in lower case, the same in every language. */
    override fun toString(): String = calling { toCore().asText() }
}

internal fun CoreViolation.toKassa() = Violation(field, rule.toKassa(), limit, text)

internal fun Violation.toCore() = CoreViolation(field, rule.toCore(), limit, text)

// By their names, which are those of the core: a test sees that none is missing.
internal fun CoreRule.toKassa() = Rule.valueOf(name)

internal fun Rule.toCore() = CoreRule.valueOf(name)
