package dev.kassa

import dev.kassa.internal.cardPaymentRef
import dev.kassa.internal.mbankPaymentRef
import dev.kassa.internal.parsePaymentRef
import dev.kassa.internal.payFormPaymentRef
import dev.kassa.internal.qrPaymentRef
import dev.kassa.internal.unnumberedPaymentRef
import java.io.InvalidObjectException
import java.io.ObjectInputStream
import java.io.Serializable
import dev.kassa.internal.PaymentKind as CorePaymentKind
import dev.kassa.internal.PaymentRef as CorePaymentRef

/**
 * Everything needed to ask about a payment again, and no secret: **store it before you send the payment**.
 *
 * [toString] is a short text that is meant to be stored as it is, such as `kassa1:kind=card&order=order-1&provider=Cards`, and
 * [parse] reads it back, also after the app was killed.
 *
 * An Android app puts that text into its saved state (`outState.putString("payment", "$ref")`). The reference is
 * [Serializable], too, as that text: for `putSerializable` and `rememberSaveable`. It is not `Parcelable`: that is an interface of
 * Android's, and a class that has it can be loaded nowhere else.
 *
 * @property kind what kind of payment it is
 * @property orderNumber the merchant's order number; for a pay-form the number that its callback or return redirect names
 * @property gatewayNumber the gateway's own order number, where it is known
 * @property provider who carries the payment out
 * @property transactionId the identifier of a QR transaction
 */
public data class PaymentRef
/**
 * A reference by its parts. Each kind has a shorter way: [card], [mbank], [payForm], [qr] and [unnumbered].
 *
 * @throws PaymentException.Invalid where a part has half a surrogate pair in it, so that it could be neither stored nor sent
 */
@JvmOverloads
@Throws(PaymentException::class)
public constructor(
    public val kind: PaymentKind,
    public val orderNumber: String? = null,
    public val gatewayNumber: String? = null,
    public val provider: Provider? = null,
    public val transactionId: String? = null,
) : Serializable {
    init {
        sendable("orderNumber", orderNumber)
        sendable("gatewayNumber", gatewayNumber)
        sendable("transactionId", transactionId)
    }

    /** True where there is enough to ask the gateway with. */
    public val canBeAskedAbout: Boolean get() = calling { toCore().canBeAskedAbout() }

    /**
     * The same payment, with the gateway's own order number.
     *
     * @throws PaymentException.Invalid where the number is no text, as of the constructor
     */
    @Throws(PaymentException::class)
    public fun withGatewayNumber(gatewayNumber: String): PaymentRef = copy(gatewayNumber = gatewayNumber)

    /** The text to be stored. */
    override fun toString(): String = calling { toCore().asText() }

    /** Serialization proxy: it is written as its text, which has a version and is checked when it is read. */
    private fun writeReplace(): Any = StoredPaymentRef("$this")

    @Throws(InvalidObjectException::class)
    private fun readObject(@Suppress("unused") stream: ObjectInputStream): Unit =
        throw InvalidObjectException("a PaymentRef is read from its text")

    /** Makes references. */
    public companion object {
        /**
         * A card payment, by the merchant's order number.
         *
         * @throws PaymentException.Invalid where the number is no text, as of the constructor
         */
        @JvmStatic
        @Throws(PaymentException::class)
        public fun card(orderNumber: String): PaymentRef =
            calling { cardPaymentRef(sendable("orderNumber", orderNumber)).toKassa() }

        /**
         * A mobile-bank payment, by the merchant's order number.
         *
         * @throws PaymentException.Invalid where the number is no text, as of the constructor
         */
        @JvmStatic
        @Throws(PaymentException::class)
        public fun mbank(orderNumber: String): PaymentRef =
            calling { mbankPaymentRef(sendable("orderNumber", orderNumber)).toKassa() }

        /**
         * A payment made on a pay-form, by the order number and the provider that its callback names.
         *
         * @throws PaymentException.Invalid where the number is no text, as of the constructor
         */
        @JvmStatic
        @Throws(PaymentException::class)
        public fun payForm(orderNumber: String, provider: Provider): PaymentRef =
            calling { payFormPaymentRef(sendable("orderNumber", orderNumber), provider.toCore()).toKassa() }

        /**
         * A QR payment, by its transaction id.
         *
         * @throws PaymentException.Invalid where the id is no text, as of the constructor
         */
        @JvmStatic
        @Throws(PaymentException::class)
        public fun qr(transactionId: String): PaymentRef =
            calling { qrPaymentRef(sendable("transactionId", transactionId)).toKassa() }

        /**
         * A payment of which nothing is known yet but its kind: on a pay-form, or by the gateway's own QR picture. It can be
         * asked about once a callback or a return has told its number.
         */
        @JvmStatic
        public fun unnumbered(kind: PaymentKind): PaymentRef = calling { unnumberedPaymentRef(kind.toCore()).toKassa() }

        /**
         * Reads the stored text.
         *
         * @throws PaymentException.Invalid for a text of another version, with an unknown or doubled field, or without a kind
         */
        @JvmStatic
        @Throws(PaymentException::class)
        public fun parse(text: String): PaymentRef = calling { parsePaymentRef(sendable("paymentRef", text)).toKassa() }
    }
}

private class StoredPaymentRef(private val text: String) : Serializable {
    private fun readResolve(): Any = try {
        PaymentRef.parse(text)
    } catch (error: PaymentException.Invalid) {
        throw InvalidObjectException(error.message)
    }

    private companion object {
        private const val serialVersionUID = 1L
    }
}

/** The kinds of payment. */
public enum class PaymentKind {
    /** A card payment made with card data. */
    CARD,

    /** A mobile-bank payment. */
    MBANK,

    /** A payment made on the hosted pay-form. */
    PAY_FORM,

    /** A dynamic QR payment. */
    QR;

    /** The name in lower case, the same in every language. */
    override fun toString(): String = calling { toCore().asText() }
}

internal fun PaymentRef.toCore() = CorePaymentRef(
    kind.toCore(),
    orderNumber,
    gatewayNumber,
    provider?.toCore(),
    transactionId,
)

internal fun CorePaymentRef.toKassa() =
    PaymentRef(kind.toKassa(), orderNumber, gatewayNumber, provider?.toKassa(), transactionId)

internal fun PaymentKind.toCore() = when (this) {
    PaymentKind.CARD -> CorePaymentKind.CARD
    PaymentKind.MBANK -> CorePaymentKind.MBANK
    PaymentKind.PAY_FORM -> CorePaymentKind.PAY_FORM
    PaymentKind.QR -> CorePaymentKind.QR
}

internal fun CorePaymentKind.toKassa() = when (this) {
    CorePaymentKind.CARD -> PaymentKind.CARD
    CorePaymentKind.MBANK -> PaymentKind.MBANK
    CorePaymentKind.PAY_FORM -> PaymentKind.PAY_FORM
    CorePaymentKind.QR -> PaymentKind.QR
}
