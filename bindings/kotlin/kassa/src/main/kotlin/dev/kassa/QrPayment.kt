package dev.kassa

import dev.kassa.internal.QrPayment as CoreQrPayment

/**
 * A request for a dynamic QR code.
 *
 * The picture's answer carries no identifier. To know which order a QR payment belongs to, **put a reference of your own into
 * the query of** [callbackUrl], and verify the callback with the [paymentRef] that you stored under it; or ask for the data instead
 * ([Gateway.createQrData]) and draw it with [QrCode].
 *
 * @property sumTyiyn the amount in **whole tyiyn**, above zero; [Kassa.somToTyiyn] converts. The picture needs it, the data does
 *   not
 * @property requisite the payee: a phone number, or the name of the enterprise or branch
 * @property callbackUrl where the gateway sends its callbacks: an absolute http or https URL
 * @property entryId the name of its entry in the gateway's [Journal], one of its own for each code; one is made unless it is given or the
 *   gateway tells a transaction. The gateway never sees it
 */
public data class QrPayment @JvmOverloads constructor(
    public val sumTyiyn: Long? = null,
    public val requisite: String? = null,
    public val callbackUrl: String? = null,
    public val entryId: String? = null,
) {
    /**
     * What to store **before** sending: what was asked for. It has no transaction yet; that of [QrData] may have one. Where the
     * payer names the amount there is none to compare.
     *
     * @throws PaymentException.Invalid where the entry's name is no text
     */
    @Throws(PaymentException::class)
    public fun paymentRef(): PaymentRef = PaymentRef.qr(sumTyiyn).copy(entryId = entryId)
}

internal fun QrPayment.toCore() = CoreQrPayment(
    sumTyiyn,
    sendable("requisite", requisite),
    sendable("callback_url", callbackUrl),
    sendable("entry_id", entryId),
)
