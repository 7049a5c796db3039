package dev.kassa

import dev.kassa.internal.MbankPayment as CoreMbankPayment

/**
 * A request for a mobile-bank payment.
 *
 * @property orderNumber the merchant's unique number of the payment; [Kassa.newOrderNumber] makes one
 * @property phone the payer's phone number, which receives the one-time password, in any notation: it is normalized with
 *   [Kassa.normalizedPhone] before sending
 * @property amountSom the amount in **whole som**, at least 1
 * @property comment what is paid for
 * @property callbackUrl where the gateway sends its callbacks: an absolute http or https URL
 */
public data class MbankPayment @JvmOverloads constructor(
    public val orderNumber: String,
    public val phone: String,
    public val amountSom: Long,
    public val comment: String,
    public val callbackUrl: String? = null,
) {
    /**
     * The payment reference. Store it **before** sending, so that you can query the payment whatever happens.
     *
     * @throws PaymentException.Invalid if the order number contains an unpaired surrogate, which cannot be sent
     */
    @Throws(PaymentException::class)
    public fun paymentRef(): PaymentRef = PaymentRef.mbank(orderNumber, amountSom)

    /** Advice about the request, to review before sending. It blocks nothing. */
    @Throws(PaymentException::class)
    public fun advice(): List<Advice> = calling { toCore().advice().toKassa() }
}

internal fun MbankPayment.toCore() = CoreMbankPayment(
    orderNumber = sendable("orderNumber", orderNumber),
    phone = sendable("phone", phone),
    amountSom = amountSom,
    comment = sendable("comment", comment),
    callbackUrl = sendable("callbackUrl", callbackUrl),
)
