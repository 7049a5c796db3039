package dev.kassa

import java.io.ObjectInputStream
import java.io.Serializable
import java.time.Instant
import dev.kassa.internal.JournalEntry as CoreJournalEntry
import dev.kassa.internal.JournalState as CoreJournalState
import dev.kassa.internal.Unfinished as CoreUnfinished

/**
 * A payment in a [Journal].
 *
 * It holds no secrets, but **whoever has the page's URL can open it**: do not log it.
 *
 * @property id the entry's id, for finishing it
 * @property payment the payment reference, for status queries
 * @property begun when it was recorded: before anything was sent
 * @property state what is known of the payment
 * @property isFinished whether [finish][Journal.finish] was called for it: its goods are delivered, or a person has dealt
 *   with it. One that was rejected is listed no more without it
 * @property reason the gateway's last message, after the reported number if that is not the payment's; for a mismatch the fields that
 *   differ from the request, such as `amount, currency`. At most 256 characters
 * @property code the gateway's code in the response to the create request, if any
 * @property pageUrl the page that the payer opens: the 3DS confirmation, or the pay-form
 * @property qrText the text of the QR code, to be drawn with [QrCode]
 * @property note the user's own note, such as the order in the shop
 */
public data class JournalEntry @JvmOverloads constructor(
    public val id: String,
    public val payment: PaymentRef,
    public val begun: Instant,
    public val state: JournalState,
    public val isFinished: Boolean = false,
    public val reason: String? = null,
    public val code: String? = null,
    public val pageUrl: String? = null,
    public val qrText: String? = null,
    public val note: String? = null,
) : Serializable {
    private fun readObject(stream: ObjectInputStream): Unit = whole(stream) { listOf(id, payment, begun, state) }
}

/** The state of a payment in a journal. */
public enum class JournalState {
    /** It was sent, or was about to be, and there is no trustworthy response. **It may have happened**: query it. */
    UNKNOWN,

    /** The gateway accepted it. Query its status until it is final. */
    PENDING,

    /** The gateway reported that the money was taken. Deliver the goods, then finish the entry. */
    CHARGED,

    /** The gateway's report does not match the request. Let a person look, then finish the entry. */
    MISMATCH,

    /** It ended without the money being taken. */
    REJECTED;

    /** The name in lower case, the same in every language. */
    override fun toString(): String = name.lowercase()
}

/** An unfinished entry of a journal. It is [Serializable], and is read back as the same type. */
public sealed class Unfinished : Serializable {
    /**
     * A payment that is pending, unknown or mismatched, or charged and not yet finished.
     *
     * @property entry its entry
     */
    public data class Payment(public val entry: JournalEntry) : Unfinished() {
        private fun readObject(stream: ObjectInputStream): Unit = whole(stream) { listOf(entry) }
    }

    /**
     * A file that cannot be read: torn, damaged, of a newer version, or foreign. It is kept, and blocks the order number whose entry it
     * is. Once a person has looked, finishing its name puts it away.
     *
     * @property id the file's name
     * @property why the error
     */
    public data class Unreadable(public val id: String, public val why: String) : Unfinished() {
        private fun readObject(stream: ObjectInputStream): Unit = whole(stream) { listOf(id, why) }
    }
}

internal fun CoreJournalEntry.toKassa() =
    JournalEntry(id, payment.toKassa(), begun, state.toKassa(), isFinished, reason, code, pageUrl, qrText, note)

private fun CoreJournalState.toKassa() = JournalState.valueOf(name)

internal fun CoreUnfinished.toKassa(): Unfinished = when (this) {
    is CoreUnfinished.Payment -> Unfinished.Payment(entry.toKassa())
    is CoreUnfinished.Unreadable -> Unfinished.Unreadable(id, why)
}
