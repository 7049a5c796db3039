package dev.kassa

import dev.kassa.internal.MbankPayment as CoreMbankPayment

/**
 * A request for a mobile-bank payment.
 *
 * @property orderNumber the merchant's unique number of the payment; [Kassa.newOrderNumber] makes one
 * @property phone the payer's phone number, to which the one-time password goes, however it is written: what is sent is
 *   [Kassa.normalizedPhone] of it
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
     * What to store **before** sending, so that the payment can be asked about whatever happens.
     *
     * @throws PaymentException.Invalid where the order number has half a surrogate pair in it, which cannot be sent
     */
    @Throws(PaymentException::class)
    public fun paymentRef(): PaymentRef = PaymentRef.mbank(orderNumber, amountSom)

    /** What is worth a second look before sending. It blocks nothing. */
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
