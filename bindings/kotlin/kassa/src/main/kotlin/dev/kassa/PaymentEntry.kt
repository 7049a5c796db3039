package dev.kassa

import com.fasterxml.jackson.annotation.JsonCreator
import com.fasterxml.jackson.annotation.JsonValue
import dev.kassa.internal.parsePaymentEntry
import java.io.InvalidObjectException
import java.io.ObjectInputStream
import java.io.Serializable
import dev.kassa.internal.PaymentEntry as CorePaymentEntry

/**
 * The record of an open payment: its reference, and the page or the QR code that the payer was shown. An app that stores it **can show
 * them again** after it was killed, and query the payment with the same record.
 *
 * Every create answer returns one ([CardPaymentCreated.entry] and the like). [toString] is the short text to store, and [parse] reads it
 * back; a checksum at its end detects a truncated or changed text:
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
 * It holds no secrets, but **whoever has the page's URL can open it**: store the text, and do not log it.
 *
 * It is [Serializable], as that text; on Android, `dev.kassa.android.ParcelablePayment` holds one.
 *
 * @property payment the payment reference, for status queries
 * @property pageUrl the page that the payer opens: the 3DS confirmation, or the pay-form
 * @property qrText the text of the QR code, to be drawn with [QrCode]
 */
@kotlinx.serialization.Serializable(with = PaymentEntrySerializer::class)
public data class PaymentEntry
/**
 * An entry by its parts.
 *
 * @throws PaymentException.Invalid if a text contains an unpaired surrogate, and could not be stored
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

    /** The text to be stored. Jackson and kotlinx.serialization write it as that. */
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
         * Parses the stored text. Surrounding white space is ignored.
         *
         * @throws PaymentException.Invalid for a text of another version, a truncated or changed text, or one whose payment cannot be
         *   read
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
