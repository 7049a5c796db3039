package dev.kassa

import dev.kassa.internal.CheckoutMessage as CoreCheckoutMessage
import dev.kassa.internal.DeclineReason as CoreDeclineReason
import dev.kassa.internal.MessageTopic as CoreMessageTopic

/**
 * A message for the payer beside a state, in their language.
 *
 * ```
 * CheckoutMessage(MessageTopic.CODE_REFUSED).textIn(Language.RUSSIAN) // Этот код не подошёл. Введите его ещё раз.
 * ```
 *
 * @property topic the topic
 * @property reason details for developers and logs, in any language: the server's explanation, what is in the way of reaching it, or the
 *   error of the app's renewal function. **Never show it to the payer**
 * @property decline why the gateway declined the payment or the code, if that is known; [reasonIn] is the sentence for the payer
 */
public data class CheckoutMessage @JvmOverloads constructor(
    public val topic: MessageTopic,
    public val reason: String? = null,
    public val decline: DeclineReason? = null,
) {
    /** The message text in a language, without [reasonIn]. */
    public fun textIn(language: Language): String = calling { withoutDetails().textIn(language.toCore()) }

    /** Why the gateway declined, as a sentence in a language; null if that is not known. */
    public fun reasonIn(language: Language): String? = calling { withoutDetails().reasonIn(language.toCore()) }

    private fun withoutDetails() = CoreCheckoutMessage(CoreMessageTopic.valueOf(topic.name), null, decline?.toCore())
}

/** Why the gateway declined a payment or a code: chosen by the server's dialect, and only for the text that the payer reads. */
public enum class DeclineReason {
    /** The payer has not enough money. */
    INSUFFICIENT_FUNDS,

    /** The amount exceeds a limit of the payer's card, account or wallet. */
    LIMIT_EXCEEDED,

    /** The one-time password or PIN was wrong. */
    WRONG_CODE,

    /** The one-time password or PIN has expired. */
    CODE_EXPIRED,

    /** The bank has no account, wallet or card like the payer's. */
    UNKNOWN_PAYER,

    /** The payer's bank declined, without a reason. */
    DECLINED_BY_BANK;

    /** The name in lower case, the same in every language. */
    override fun toString(): String = name.lowercase()
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

    /** The server refused the input; [CheckoutMessage.reason] names the rule for developers. */
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

internal fun DeclineReason.toCore() = CoreDeclineReason.valueOf(name)

internal fun CoreCheckoutMessage.toKassa() =
    CheckoutMessage(MessageTopic.valueOf(topic.name), reason, decline?.let { DeclineReason.valueOf(it.name) })
