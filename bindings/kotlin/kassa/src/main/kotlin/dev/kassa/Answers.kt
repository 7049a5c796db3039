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
 * @property payment what to ask about the payment with. Store it: it may know more than the one made before sending
 * @property nextStep what comes next
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
    /** What to store in place of the reference: it also holds the confirmation page, where there is one. */
    public fun entry(): PaymentEntry = PaymentEntry(payment, pageUrl = (nextStep as? NextStep.OpenConfirmation)?.url?.toString())

    private fun compared() = listOf(payment, nextStep, code, amount.byValue(), currency, raw)

    override fun equals(other: Any?): Boolean = other is CardPaymentCreated && compared() == other.compared()

    override fun hashCode(): Int = compared().hashCode()
}

/** What comes after a card payment was accepted. */
public sealed interface NextStep {
    /**
     * Open this page for the payer, who confirms the payment there (3DS).
     *
     * @property url the page to open. Always https, or loopback
     */
    public data class OpenConfirmation(public val url: URI) : NextStep

    /**
     * Nothing to confirm. Ask for the status: only a status query decides a payment.
     *
     * @property status the word that the create response showed, such as `Success`
     */
    public data class CheckStatus(public val status: String?) : NextStep
}

/**
 * The gateway accepted a mobile-bank payment. **Accepted, not paid**: confirm it with the payer's one-time password.
 *
 * @property payment what to ask about the payment with, and to confirm it with. Store it: it may know more than the one made before
 *   sending
 * @property code the gateway's code, where there is one
 * @property reason the gateway's own words, where there are any
 * @property status the status word that the response shows, where there is one. Only a status query decides a payment
 * @property raw the whole response, with secrets masked
 */
public data class MbankPaymentCreated(
    public val payment: PaymentRef,
    public val code: String?,
    public val reason: String?,
    public val status: String?,
    public val raw: String,
) {
    /** What to store in place of the reference. */
    public fun entry(): PaymentEntry = PaymentEntry(payment)
}

/**
 * The gateway accepted a confirmation. **Accepted, not final**: watch [payment] for its final status.
 *
 * @property payment what to ask about the payment with
 * @property code the gateway's code, where there is one
 * @property reason the gateway's own words, where there are any
 * @property status the status word that the response shows, where there is one. Only a status query decides a payment
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
 * A hosted page, ready for the payer.
 *
 * @property payment what to verify its callback and return with. Store it
 * @property payFormUrl the page to open in a new browser window. Always https, or loopback
 * @property raw the whole response, with secrets masked
 */
public data class PayFormCreated(public val payment: PaymentRef, public val payFormUrl: URI, public val raw: String) {
    /** What to store in place of the reference: it also holds the page. */
    public fun entry(): PaymentEntry = PaymentEntry(payment, pageUrl = payFormUrl.toString())
}

/**
 * A dynamic QR code as the gateway's own picture: a PNG of 400x400 pixels, checked. It carries no identifier.
 *
 * @property payment what to verify its callback with. Store it
 * @property png the PNG file
 * @property raw the whole response as text
 */
public class QrImage(public val payment: PaymentRef, public val png: ByteArray, public val raw: String) {
    private fun compared() = listOf(payment, png.asList(), raw)

    override fun equals(other: Any?): Boolean = other is QrImage && compared() == other.compared()

    override fun hashCode(): Int = compared().hashCode()

    /** How large it is. */
    override fun toString(): String = "QrImage(400x400, ${png.size} bytes)"
}

/**
 * The data of a dynamic QR code. What the dialect finds in the response is here; the whole response is in [raw].
 *
 * @property payload the text of the code, to be drawn with [QrCode]. Where it is one in ELQR, [Elqr.parse] reads it, and it is what was
 *   asked for: its amount, the som, and a right checksum
 * @property transactionId the identifier of the QR transaction
 * @property payment what to ask about the payment with, and to verify its callback with. Store it: it may know the transaction
 * @property raw the whole response, with secrets masked
 */
public data class QrData(
    public val payload: String?,
    public val transactionId: String?,
    public val payment: PaymentRef,
    public val raw: String,
) {
    /** What to store in place of the reference: it also holds the text of the code, where the dialect finds it. */
    public fun entry(): PaymentEntry = PaymentEntry(payment, qrText = payload)

    /**
     * What the dialect does not find in the response, and what that means: without [payload] there is no code to show, without
     * [transactionId] the payment cannot be asked about. It blocks nothing.
     *
     * @throws PaymentException.Invalid where a text has half a surrogate pair in it, or the amount cannot be held exactly. No answer of a
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
