package dev.kassa

import java.io.Serializable
import dev.kassa.internal.Rule as CoreRule
import dev.kassa.internal.Violation as CoreViolation

/**
 * A broken rule of one input field. It never contains the value, so it is safe to log.
 *
 * @property field the field, by its name in the gateway's interface, such as `callbackURL` of a pay-form
 * @property rule the rule that is broken
 * @property limit the rule's limit, if it has one, such as `3` or `13 to 20`
 * @property text one sentence that names the field and the rule, in English; [textIn] has other languages
 */
public data class Violation(
    public val field: String,
    public val rule: Rule,
    public val limit: String?,
    public val text: String,
) : Serializable {
    /**
     * The text for the payer in a language: fields that a payer types have a translated name (card number, expiry, CVC, holder's name,
     * phone, code from the SMS), others their own name.
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

    /** An absolute URI is required (a deep link is valid), but not one that a browser or a system would execute or read files from. */
    RETURN_URI,

    /** An IPv4 or IPv6 address is needed. */
    IP_ADDRESS,

    /** The value must be one of a few. */
    ONE_OF,

    /** The check digit of the card number is wrong. Checked only if the gateway is configured to. */
    LUHN,

    /** The text does not have the required format. */
    FORMAT,

    /** The signature must be one that this key made for this purpose. */
    SIGNATURE,

    /** The value cannot be sent or converted without rounding: it has too many decimals, or is too large. */
    EXACT,

    /** The card's expiry is in the past. A violation only in a [CardInput]; for a payment it is advice. */
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
