package dev.kassa

import dev.kassa.internal.Advice as CoreAdvice
import dev.kassa.internal.AdviceTopic as CoreAdviceTopic

/**
 * A recommendation of the interface, or something that will probably be declined. It blocks nothing.
 *
 * @property field the field, by its name in the gateway's interface
 * @property topic the topic
 * @property text one sentence, in English; [textIn] has other languages
 */
public data class Advice(public val field: String, public val topic: AdviceTopic, public val text: String) {
    /** The text for the payer in a language. Fields are named as in [Violation.textIn]. */
    public fun textIn(language: Language): String =
        calling { CoreAdvice(field, CoreAdviceTopic.valueOf(topic.name), text).textIn(language.toCore()) }

    /** The sentence. */
    override fun toString(): String = text
}

/** The topic of advice. */
public enum class AdviceTopic {
    /** The order number has characters other than A-Z a-z 0-9 - _, which can fail in transit or in storage. */
    ORDER_NUMBER_CHARACTERS,

    /** A pay-form under 5 KGS will not offer MegaPay. */
    MEGA_PAY_MINIMUM,

    /** The check digit of the card number is wrong: probably a mistyped digit. */
    CARD_NUMBER_MISTYPED,

    /** The card's expiry is in the past. */
    CARD_EXPIRED,

    /** The phone number is not a number of Kyrgyzstan (`996XXXXXXXXX`), as the interface's test numbers are. */
    PHONE_FORMAT,

    /** The return URL has a `#`: the gateway may add its parameters after it, where servers do not see them. */
    RETURN_URL_FRAGMENT,

    /** The dialect leaves a setting open, or does not find a value in a response. */
    DIALECT;

    /** The name in lower case, the same in every language. */
    override fun toString(): String = calling { CoreAdviceTopic.valueOf(name).asText() }
}

internal fun List<CoreAdvice>.toKassa() = map { Advice(it.field, AdviceTopic.valueOf(it.topic.name), it.text) }
