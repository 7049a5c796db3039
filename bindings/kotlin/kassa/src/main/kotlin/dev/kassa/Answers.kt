package dev.kassa

import java.math.BigDecimal
import java.net.URI
import dev.kassa.internal.CardPaymentCreated as CoreCardPaymentCreated
import dev.kassa.internal.MbankConfirmed as CoreMbankConfirmed
import dev.kassa.internal.MbankPaymentCreated as CoreMbankPaymentCreated
import dev.kassa.internal.NextStep as CoreNextStep
import dev.kassa.internal.PayFormCreated as CorePayFormCreated
import dev.kassa.internal.QrData as CoreQrData
import dev.kassa.internal.QrImage as CoreQrImage

/**
 * The gateway accepted a card payment. **It is not paid yet**: follow [nextStep], then watch [payment].
 *
 * Amounts are compared by value: 100.10 equals 100.1.
 *
 * @property payment the payment reference. Store it in place of the one made before sending: it may hold more numbers
 * @property nextStep the next step
 * @property code the gateway's code, `110`
 * @property amount the amount as the gateway reports it
 * @property currency the currency as the gateway reports it
 * @property raw the whole response, with secrets masked
 */
public data class CardPaymentCreated(
    public val payment: PaymentRef,
    public val nextStep: NextStep,
    public val code: String?,
    public val amount: BigDecimal?,
    public val currency: String?,
    public val raw: String,
) {
    /** The entry to store in place of the reference: it also holds the confirmation page, if any. */
    public fun entry(): PaymentEntry = PaymentEntry(payment, pageUrl = (nextStep as? NextStep.OpenConfirmation)?.url?.toString())

    private fun compared() = listOf(payment, nextStep, code, amount.byValue(), currency, raw)

    override fun equals(other: Any?): Boolean = other is CardPaymentCreated && compared() == other.compared()

    override fun hashCode(): Int = compared().hashCode()
}

/** The next step after a card payment was accepted. */
public sealed interface NextStep {
    /**
     * Open this page for the payer, who confirms the payment there (3DS).
     *
     * @property url the page to open. Always https, or loopback
     */
    public data class OpenConfirmation(public val url: URI) : NextStep

    /**
     * Nothing to confirm. Query the status: only a status query decides whether the payment is charged.
     *
     * @property status the status word in the create response, such as `Success`
     */
    public data class CheckStatus(public val status: String?) : NextStep
}

/**
 * The gateway accepted a mobile-bank payment. **Accepted, not paid**: confirm it with the payer's one-time password.
 *
 * @property payment the payment reference, for the confirmation and for status queries. Store it in place of the one made before sending:
 *   it may hold more numbers
 * @property code the gateway's code, if any
 * @property reason the gateway's message, if any
 * @property status the status word in the response, if any. Only a status query decides whether the payment is charged
 * @property raw the whole response, with secrets masked
 */
public data class MbankPaymentCreated(
    public val payment: PaymentRef,
    public val code: String?,
    public val reason: String?,
    public val status: String?,
    public val raw: String,
) {
    /** The entry to store in place of the reference. */
    public fun entry(): PaymentEntry = PaymentEntry(payment)
}

/**
 * The gateway accepted a confirmation. **Accepted, not final**: watch [payment] for its final status.
 *
 * @property payment the payment reference, for status queries
 * @property code the gateway's code, if any
 * @property reason the gateway's message, if any
 * @property status the status word in the response, if any. Only a status query decides whether the payment is charged
 * @property raw the whole response, with secrets masked
 */
public data class MbankConfirmed(
    public val payment: PaymentRef,
    public val code: String?,
    public val reason: String?,
    public val status: String?,
    public val raw: String,
)

/**
 * A pay-form (the gateway's own payment page), ready for the payer.
 *
 * @property payment the payment reference, to verify the callback and the return. Store it
 * @property payFormUrl the page to open in a new browser window. Always https, or loopback
 * @property raw the whole response, with secrets masked
 */
public data class PayFormCreated(public val payment: PaymentRef, public val payFormUrl: URI, public val raw: String) {
    /** The entry to store in place of the reference: it also holds the page. */
    public fun entry(): PaymentEntry = PaymentEntry(payment, pageUrl = payFormUrl.toString())
}

/**
 * A dynamic QR code as the gateway's own picture: a PNG of 400x400 pixels, validated. It carries no identifier.
 *
 * @property payment the payment reference, to verify the callback. Store it
 * @property png the PNG file
 * @property raw the whole response as text
 */
public class QrImage(public val payment: PaymentRef, public val png: ByteArray, public val raw: String) {
    private fun compared() = listOf(payment, png.asList(), raw)

    override fun equals(other: Any?): Boolean = other is QrImage && compared() == other.compared()

    override fun hashCode(): Int = compared().hashCode()

    /** The size of the picture. */
    override fun toString(): String = "QrImage(400x400, ${png.size} bytes)"
}

/**
 * The data of a dynamic QR code, as far as the dialect finds it in the response. The whole response is in [raw].
 *
 * @property payload the text of the code, to be drawn with [QrCode]. If it is an ELQR code, [Elqr.parse] reads it, and Kassa has checked
 *   that its amount is the requested one, its currency the som, and its checksum right
 * @property transactionId the identifier of the QR transaction
 * @property payment the payment reference, for status queries and to verify the callback. Store it: it may hold the transaction id
 * @property raw the whole response, with secrets masked
 */
public data class QrData(
    public val payload: String?,
    public val transactionId: String?,
    public val payment: PaymentRef,
    public val raw: String,
) {
    /** The entry to store in place of the reference: it also holds the text of the code, if the dialect finds it. */
    public fun entry(): PaymentEntry = PaymentEntry(payment, qrText = payload)

    /**
     * What the dialect does not find in the response: without [payload] there is no code to show; without [transactionId] the status
     * cannot be queried. It blocks nothing.
     *
     * @throws PaymentException.Invalid if a text contains an unpaired surrogate, or the amount cannot be held exactly. No answer of a
     *   gateway has either
     */
    @Throws(PaymentException::class)
    public fun advice(): List<Advice> = calling { toCore().advice().toKassa() }

    private fun toCore() = CoreQrData(
        payload = sendable("payload", payload),
        transactionId = sendable("transaction_id", transactionId),
        payment = payment.toCore(),
        raw = sendable("raw", raw),
    )
}

internal fun CoreCardPaymentCreated.toKassa() =
    CardPaymentCreated(payment.toKassa(), nextStep.toKassa(), code, amount, currency, raw)

private fun CoreNextStep.toKassa(): NextStep = when (this) {
    is CoreNextStep.OpenConfirmation -> NextStep.OpenConfirmation(checkedUri(url))
    is CoreNextStep.CheckStatus -> NextStep.CheckStatus(status)
}

internal fun CoreMbankPaymentCreated.toKassa() = MbankPaymentCreated(payment.toKassa(), code, reason, status, raw)

internal fun CoreMbankConfirmed.toKassa() = MbankConfirmed(payment.toKassa(), code, reason, status, raw)

internal fun CorePayFormCreated.toKassa() = PayFormCreated(payment.toKassa(), checkedUri(payFormUrl), raw)

internal fun CoreQrImage.toKassa() = QrImage(payment.toKassa(), png, raw)

internal fun CoreQrData.toKassa() = QrData(payload, transactionId, payment.toKassa(), raw)
