package dev.kassa

import com.fasterxml.jackson.annotation.JsonCreator
import com.fasterxml.jackson.annotation.JsonValue
import dev.kassa.internal.cardPaymentRef
import dev.kassa.internal.mbankPaymentRef
import dev.kassa.internal.megapayPaymentRef
import dev.kassa.internal.parsePaymentRef
import dev.kassa.internal.payFormPaymentRef
import dev.kassa.internal.qrPaymentRef
import java.io.InvalidObjectException
import java.io.ObjectInputStream
import java.io.Serializable
import java.math.BigDecimal
import dev.kassa.internal.PaymentKind as CorePaymentKind
import dev.kassa.internal.PaymentRef as CorePaymentRef

/**
 * Everything needed to query a payment again **and to recognize its report**, without secrets: **store it before you send the payment**.
 *
 * Take it from the request ([CardPayment.paymentRef] and the like), store it, send, and replace it with the reference from the answer,
 * which may have more numbers. [toString] is the short text to store, and [parse] reads it back, also after the app was killed:
 *
 * ```
 * val payment = PaymentRef.card("order-1", BigDecimal("100.10"), "KGS")
 * check("$payment" == "kassa1:kind=card&order=order-1&provider=Cards&amount=100.10&currency=KGS")
 * check(PaymentRef.parse("$payment") == payment)
 * ```
 *
 * [Gateway.check] and [Gateway.watch] query by the transaction for QR payments, else by the gateway's number if known, else by the
 * merchant's number and the provider. If a final status queried by the gateway's number does not name the merchant's number, Kassa also
 * queries by the merchant's number. The gateway's report is compared with its amount and currency.
 *
 * An Android app puts that text into its saved state (`outState.putString("payment", "$ref")`). The reference is also [Serializable], as
 * that text, for `putSerializable` and `rememberSaveable`. It is not `Parcelable`: a class with that interface of Android cannot be
 * loaded elsewhere. The AAR has `dev.kassa.android.ParcelablePayment`, which holds one.
 *
 * Amounts are compared by value: 100.10 equals 100.1.
 *
 * @property kind the kind of payment
 * @property orderNumber the merchant's order number; for a pay-form the number from its callback or return
 * @property gatewayNumber the gateway's own order number, if known
 * @property provider who carries the payment out
 * @property transactionId the identifier of a QR transaction
 * @property confirmIdentifier the identifier for the confirmation of a mobile-bank payment, **as JSON**: `"abc"` with its quotes, or
 *   `123`. Set if the dialect names it
 * @property amount the requested amount, in units of the currency (for KGS: som); null if unknown, as for a QR code without an amount
 * @property currency the requested currency
 * @property isClaimed true if the order number, or the transaction of a QR payment, was not chosen by the merchant but only claimed by a
 *   callback or a return. **Anybody can claim one**, so such a payment counts as charged only if the gateway reports the requested amount
 * @property entryId the id of the entry in a [Journal] for a payment without a number: a pay-form or a QR code. The gateway never sees it
 * @property transactionFromCode true if the transaction of a QR payment was read from the code itself, after Kassa checked the code's
 *   amount. Only the answer of [Gateway.createQrData] sets it. **A charge that is reported without an amount counts only for such a
 *   payment**
 */
@kotlinx.serialization.Serializable(with = PaymentRefSerializer::class)
public data class PaymentRef
/**
 * A reference by its parts. Each kind has a shorter way: [card], [mbank], [megapay], [payForm] and [qr].
 *
 * @throws PaymentException.Invalid if a part contains an unpaired surrogate, or the amount cannot be held exactly, so that it could be
 *   neither stored nor sent
 */
@JvmOverloads
@Throws(PaymentException::class)
public constructor(
    public val kind: PaymentKind,
    public val orderNumber: String? = null,
    public val gatewayNumber: String? = null,
    public val provider: Provider? = null,
    public val transactionId: String? = null,
    public val confirmIdentifier: String? = null,
    public val amount: BigDecimal? = null,
    public val currency: String? = null,
    public val isClaimed: Boolean = false,
    public val entryId: String? = null,
    public val transactionFromCode: Boolean = false,
) : Serializable {
    init {
        sendable("orderNumber", orderNumber)
        sendable("gatewayNumber", gatewayNumber)
        sendable("transactionId", transactionId)
        sendable("confirmIdentifier", confirmIdentifier)
        sendable("currency", currency)
        sendable("entry_id", entryId)
        // What the core cannot hold could not be written down later.
        if (amount != null) requireRepresentable(amount)
    }

    /**
     * True if the payment has a number to query by: the transaction of a QR payment, the gateway's number, or an order number. Only then
     * it can be checked or watched.
     */
    public val canBeChecked: Boolean get() = calling { toCore().canBeChecked() }

    /**
     * The same payment with the gateway's own order number.
     *
     * @throws PaymentException.Invalid if the number is no text, as for the constructor
     */
    @Throws(PaymentException::class)
    public fun withGatewayNumber(gatewayNumber: String): PaymentRef =
        calling { toCore().withGatewayNumber(sendable("gatewayNumber", gatewayNumber)).toKassa() }

    /**
     * The same QR payment with its transaction id from the create response.
     *
     * @throws PaymentException.Invalid if the identifier is no text, as for the constructor
     */
    @Throws(PaymentException::class)
    public fun withTransactionId(transactionId: String): PaymentRef =
        calling { toCore().withTransactionId(sendable("transactionId", transactionId)).toKassa() }

    /**
     * The same payment with the order number and the provider that a callback or a return claims. Without a provider, each one is
     * queried.
     *
     * **One payment pays for one order.** A payer can claim one payment again for another cart of the same amount: store the accepted
     * numbers, and accept none twice (replay).
     *
     * @throws PaymentException.Invalid if the number is no text, as for the constructor
     */
    @JvmOverloads
    @Throws(PaymentException::class)
    public fun withClaimedNumber(orderNumber: String, provider: Provider? = null): PaymentRef =
        calling { toCore().withClaimedNumber(sendable("orderNumber", orderNumber), provider?.toCore()).toKassa() }

    /**
     * The same payment of a pay-form or a QR code, with the name of its entry in a journal. Give the request the same one
     * ([PayForm.entryId]): for a reference that goes into a signed address ([CallbackKey]) before the request is made.
     *
     * @throws PaymentException.Invalid if the name is no text, as for the constructor
     */
    @Throws(PaymentException::class)
    public fun withEntryId(entryId: String): PaymentRef = copy(entryId = entryId)

    private fun compared() = listOf(
        kind, orderNumber, gatewayNumber, provider, transactionId, confirmIdentifier, amount.byValue(), currency, isClaimed, entryId,
        transactionFromCode,
    )

    override fun equals(other: Any?): Boolean = other is PaymentRef && compared() == other.compared()

    override fun hashCode(): Int = compared().hashCode()

    /** The text to be stored. Jackson and kotlinx.serialization write it as that. */
    @JsonValue
    override fun toString(): String = calling { toCore().asText() }

    /** Serialization proxy: it is written as its text, which has a version and is checked when it is read. */
    private fun writeReplace(): Any = StoredPaymentRef("$this")

    @Throws(InvalidObjectException::class)
    private fun readObject(@Suppress("unused") stream: ObjectInputStream): Unit =
        throw InvalidObjectException("a PaymentRef is read from its text")

    /** Makes references. */
    public companion object {
        /**
         * A card payment by the merchant's order number, with the requested amount and currency.
         *
         * @throws PaymentException.Invalid if the number is no text or the amount cannot be held, as for the constructor
         */
        @JvmStatic
        @Throws(PaymentException::class)
        public fun card(orderNumber: String, amount: BigDecimal, currency: String): PaymentRef = calling {
            val number = sendable("orderNumber", orderNumber)
            cardPaymentRef(number, sendable(amount), sendable("currency", currency)).toKassa()
        }

        /**
         * A mobile-bank payment, by the merchant's order number, with the amount in **whole som**.
         *
         * @throws PaymentException.Invalid if the number is no text, as for the constructor
         */
        @JvmStatic
        @Throws(PaymentException::class)
        public fun mbank(orderNumber: String, amountSom: Long): PaymentRef =
            calling { mbankPaymentRef(sendable("orderNumber", orderNumber), amountSom).toKassa() }

        /**
         * A payment from a MegaPay wallet, by the merchant's order number, with the amount in KGS **without the commission**.
         *
         * @throws PaymentException.Invalid if the number is no text or the amount cannot be held, as for the constructor
         */
        @JvmStatic
        @Throws(PaymentException::class)
        public fun megapay(orderNumber: String, amount: BigDecimal): PaymentRef =
            calling { megapayPaymentRef(sendable("orderNumber", orderNumber), sendable(amount)).toKassa() }

        /**
         * A payment on a pay-form, with the amount in KGS. It has no number until a callback or a return claims one, and cannot be
         * queried before: see [withClaimedNumber].
         *
         * @throws PaymentException.Invalid if the amount cannot be held exactly
         */
        @JvmStatic
        @Throws(PaymentException::class)
        public fun payForm(amount: BigDecimal): PaymentRef = calling { payFormPaymentRef(sendable(amount)).toKassa() }

        /**
         * A payment by a dynamic QR code, with the amount in **whole tyiyn**; null if the payer enters it. It has no transaction yet: see
         * [withTransactionId].
         */
        @JvmStatic
        public fun qr(sumTyiyn: Long?): PaymentRef = calling { qrPaymentRef(sumTyiyn).toKassa() }

        /**
         * Parses the stored text. Surrounding white space, as from files and fixed-width columns, is ignored.
         *
         * @throws PaymentException.Invalid for a text of another version, a truncated text, inner white space, an unknown or repeated
         *   field, a missing kind, or an amount that is not a decimal number
         */
        @JvmStatic
        @JsonCreator
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

    /** A payment from a MegaPay wallet, made with the payer's PIN. */
    MEGAPAY,

    /** A payment on the gateway's pay-form. */
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
    confirmIdentifier,
    amount,
    currency,
    isClaimed,
    entryId,
    transactionFromCode,
)

internal fun CorePaymentRef.toKassa() = PaymentRef(
    kind.toKassa(),
    orderNumber,
    gatewayNumber,
    provider?.toKassa(),
    transactionId,
    confirmIdentifier,
    amount,
    currency,
    isClaimed,
    entryId,
    transactionFromCode,
)

internal fun PaymentKind.toCore() = when (this) {
    PaymentKind.CARD -> CorePaymentKind.CARD
    PaymentKind.MBANK -> CorePaymentKind.MBANK
    PaymentKind.MEGAPAY -> CorePaymentKind.MEGAPAY
    PaymentKind.PAY_FORM -> CorePaymentKind.PAY_FORM
    PaymentKind.QR -> CorePaymentKind.QR
}

internal fun CorePaymentKind.toKassa() = when (this) {
    CorePaymentKind.CARD -> PaymentKind.CARD
    CorePaymentKind.MBANK -> PaymentKind.MBANK
    CorePaymentKind.MEGAPAY -> PaymentKind.MEGAPAY
    CorePaymentKind.PAY_FORM -> PaymentKind.PAY_FORM
    CorePaymentKind.QR -> PaymentKind.QR
}
