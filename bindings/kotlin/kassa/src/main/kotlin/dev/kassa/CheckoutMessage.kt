package dev.kassa

import dev.kassa.internal.CheckoutMessage as CoreCheckoutMessage
import dev.kassa.internal.MessageTopic as CoreMessageTopic

/**
 * What a payer reads beside a state, in their language.
 *
 * ```
 * CheckoutMessage(MessageTopic.CODE_REFUSED).textIn(Language.RUSSIAN) // Этот код не подошёл. Введите его ещё раз.
 * ```
 *
 * @property topic what it is about
 * @property reason more words, as they came, in any language: of the gateway, which refused; of the server, which says what is wrong; of
 *   the app's own function that renews the token. What is in the way of reaching the server is told for developers, and is not for a
 *   payer to read
 */
public data class CheckoutMessage @JvmOverloads constructor(
    public val topic: MessageTopic,
    public val reason: String? = null,
) {
    /** What it says to the payer, in a language. The [reason] is not part of it. */
    public fun textIn(language: Language): String =
        calling { CoreCheckoutMessage(CoreMessageTopic.valueOf(topic.name), null).textIn(language.toCore()) }
}

/** What a message is about. */
public enum class MessageTopic {
    /** The server is not reached. It is tried again by itself, and nothing is lost. */
    NO_NETWORK,

    /** The server asked to wait, or failed. It is tried again by itself. */
    SERVER_BUSY,

    /**
     * What answered is not the merchant's server: the page of a network that wants a login, a wrong address, a certificate that fails. It is
     * tried again by itself.
     */
    NOT_THE_SERVER,

    /**
     * The certificate of the server is not valid yet by this device's clock: the payer checks its date and time. It is tried again by itself.
     */
    WRONG_CLOCK,

    /** The app's own function gave no new client token. It is asked again by itself. */
    TOKEN_NOT_RENEWED,

    /** Nobody knows yet what became of the payment: the gateway is asked all the time. **The payer must not pay again.** */
    OUTCOME_UNKNOWN,

    /** The gateway did not take the one-time password. */
    CODE_REFUSED,

    /** The one-time password did not reach the gateway: the payer enters it again. */
    CODE_NOT_SENT,

    /** The gateway refused to make the payment: no money moved. */
    REFUSED,

    /** The payment was not made: no money moved, and the payer can try again. */
    NOT_MADE,

    /** The gateway reported that the payment was rejected: no money moved. */
    REJECTED,

    /** The server refused what was typed; the reason says which rule it breaks. */
    INPUT_REFUSED,

    /** So many tries are not allowed. */
    TOO_MANY_TRIES,

    /**
     * The server began no other payment instead of the one that was open: that one has gone on, was replaced elsewhere already, or too
     * many were replaced. The state shows how it stands now.
     */
    CHANGE_REFUSED,

    /** The gateway reports something else than was asked for: a person of the merchant's finds out. */
    MISMATCH,

    /** The shop cancelled it. */
    CANCELLED;

    /** The name in lower case, the same in every language. */
    override fun toString(): String = name.lowercase()
}

internal fun CoreCheckoutMessage.toKassa() = CheckoutMessage(MessageTopic.valueOf(topic.name), reason)
