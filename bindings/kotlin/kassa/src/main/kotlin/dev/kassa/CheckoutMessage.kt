package dev.kassa

import dev.kassa.internal.CheckoutMessage as CoreCheckoutMessage
import dev.kassa.internal.MessageTopic as CoreMessageTopic

/**
 * A message for the payer beside a state, in their language.
 *
 * ```
 * CheckoutMessage(MessageTopic.CODE_REFUSED).textIn(Language.RUSSIAN) // Этот код не подошёл. Введите его ещё раз.
 * ```
 *
 * @property topic the topic
 * @property reason further text as received, in any language: the gateway's refusal, the server's explanation, or the error of the app's
 *   renewal function. For connection problems it is meant for developers, not for the payer
 */
public data class CheckoutMessage @JvmOverloads constructor(
    public val topic: MessageTopic,
    public val reason: String? = null,
) {
    /** The message text in a language, without the [reason]. */
    public fun textIn(language: Language): String =
        calling { CoreCheckoutMessage(CoreMessageTopic.valueOf(topic.name), null).textIn(language.toCore()) }
}

/** The topic of a message. */
public enum class MessageTopic {
    /** The server is not reachable. It is retried automatically, and nothing is lost. */
    NO_NETWORK,

    /** The server asked to wait, or failed. It is retried automatically. */
    SERVER_BUSY,

    /**
     * The response did not come from the merchant's server: a captive portal, a wrong address, or a bad certificate. It is retried
     * automatically.
     */
    NOT_THE_SERVER,

    /**
     * The server's certificate is not valid yet by this device's clock: the payer should check its date and time. It is retried
     * automatically.
     */
    WRONG_CLOCK,

    /** The app's renewal function returned no new client token. It is called again automatically. */
    TOKEN_NOT_RENEWED,

    /** The outcome of the payment is unknown; the gateway is polled. **The payer must not pay again.** */
    OUTCOME_UNKNOWN,

    /** The gateway did not accept the one-time password. */
    CODE_REFUSED,

    /** The one-time password did not reach the gateway: the payer should enter it again. */
    CODE_NOT_SENT,

    /** The gateway refused to make the payment: no money moved. */
    REFUSED,

    /** The payment was not made: no money moved, and the payer can try again. */
    NOT_MADE,

    /** The gateway reported that the payment was rejected: no money moved. */
    REJECTED,

    /** The server refused the input; the reason names the rule that it breaks. */
    INPUT_REFUSED,

    /** Too many attempts. */
    TOO_MANY_TRIES,

    /**
     * The server did not replace the open payment: it has moved on, was already replaced elsewhere, or too many were replaced. The state
     * shows the current status.
     */
    CHANGE_REFUSED,

    /** The gateway's report does not match the request: the merchant's staff decide. */
    MISMATCH,

    /** The shop cancelled it. */
    CANCELLED;

    /** The name in lower case, the same in every language. */
    override fun toString(): String = name.lowercase()
}

internal fun CoreCheckoutMessage.toKassa() = CheckoutMessage(MessageTopic.valueOf(topic.name), reason)
