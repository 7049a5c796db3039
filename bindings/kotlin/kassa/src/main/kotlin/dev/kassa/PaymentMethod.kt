package dev.kassa

import dev.kassa.internal.PaymentMethod as CorePaymentMethod

/** A way to pay a checkout. */
public enum class PaymentMethod {
    /** The gateway's own page, where the payer chooses a method: [Checkout.payByForm]. */
    PAY_FORM,

    /** A QR code, which an app of a bank scans: [Checkout.payByQr]. */
    QR,

    /** The mobile bank, confirmed by a one-time password: [Checkout.payByMbank]. */
    MBANK,

    /** A MegaPay wallet, confirmed by a PIN from a message, if the merchant's server accepts it: [Checkout.payByMegapay]. */
    MEGAPAY,

    /** A card, if the merchant's server accepts cards: [Checkout.payByCard]. */
    CARD;

    /** The name in lower case, the same in every language. */
    override fun toString(): String = name.lowercase()
}

internal fun CorePaymentMethod.toKassa(): PaymentMethod = PaymentMethod.valueOf(name)

internal fun List<CorePaymentMethod>.toKassa(): List<PaymentMethod> = map { it.toKassa() }
