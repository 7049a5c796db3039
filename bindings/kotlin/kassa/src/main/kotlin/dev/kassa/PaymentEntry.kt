package dev.kassa

import com.fasterxml.jackson.annotation.JsonCreator
import com.fasterxml.jackson.annotation.JsonValue
import dev.kassa.internal.parsePaymentEntry
import java.io.InvalidObjectException
import java.io.ObjectInputStream
import java.io.Serializable
import dev.kassa.internal.PaymentEntry as CorePaymentEntry

/**
 * One record of a payment that is on its way: its reference, and the page or the QR code that the payer was shown. An app that stores
 * it **can show them again** after it was killed, and asks about the payment with the same record.
 *
 * Every answer to a create has one ([CardPaymentCreated.entry] and the like). [toString] is a short text that is meant to be stored as
 * it is, and [parse] reads it back; a checksum at its end tells a text that was cut or changed:
 *
 * ```
 * val created = gateway.createCardPayment(payment)
 * store(created.entry().toString())
 * // ... the app was killed on the bank's page
 * val entry = PaymentEntry.parse(stored())
 * entry.pageUrl?.let(::open)
 * gateway.watch(entry.payment).outcome()
 * ```
 *
 * It holds no secret, but **whoever has the page's address can open it**: store the text, and do not log it.
 *
 * It is [Serializable], as that text; on Android, `dev.kassa.android.ParcelablePayment` holds one.
 *
 * @property payment what to ask about the payment with
 * @property pageUrl the page that the payer opens: the 3DS confirmation, or the pay-form
 * @property qrText the text of the QR code, to be drawn with [QrCode]
 */
public data class PaymentEntry
/**
 * An entry by its parts.
 *
 * @throws PaymentException.Invalid where a text has half a surrogate pair in it, and could not be stored
 */
@JvmOverloads
@Throws(PaymentException::class)
public constructor(
    public val payment: PaymentRef,
    public val pageUrl: String? = null,
    public val qrText: String? = null,
) : Serializable {
    init {
        sendable("pageUrl", pageUrl)
        sendable("qrText", qrText)
    }

    /** The text to be stored. Jackson writes it as that. */
    @JsonValue
    override fun toString(): String = calling { toCore().asText() }

    /** Serialization proxy: it is written as its text, which has a version and is checked when it is read. */
    private fun writeReplace(): Any = StoredPaymentEntry("$this")

    @Throws(InvalidObjectException::class)
    private fun readObject(@Suppress("unused") stream: ObjectInputStream): Unit =
        throw InvalidObjectException("a PaymentEntry is read from its text")

    /** Reads entries. */
    public companion object {
        /**
         * Reads the stored text. White space around it is left out.
         *
         * @throws PaymentException.Invalid for a text of another version, one that is not whole or was changed, and one whose payment
         *   cannot be read
         */
        @JvmStatic
        @JsonCreator
        @Throws(PaymentException::class)
        public fun parse(text: String): PaymentEntry =
            calling { parsePaymentEntry(sendable("paymentEntry", text)).toKassa() }
    }
}

private class StoredPaymentEntry(private val text: String) : Serializable {
    private fun readResolve(): Any = try {
        PaymentEntry.parse(text)
    } catch (error: PaymentException.Invalid) {
        throw InvalidObjectException(error.message)
    }

    private companion object {
        private const val serialVersionUID = 1L
    }
}

private fun PaymentEntry.toCore() = CorePaymentEntry(payment.toCore(), pageUrl, qrText)

private fun CorePaymentEntry.toKassa() = PaymentEntry(payment.toKassa(), pageUrl, qrText)
