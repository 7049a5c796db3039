package dev.kassa

import dev.kassa.internal.Card as CoreCard

/**
 * A payment card: number (PAN), expiry, CVC and the holder's name.
 *
 * Only its last four digits are ever printed. The core wipes its copies when the card is garbage collected; the strings that you created
 * it from are the JVM's, and stay in memory until they are garbage collected.
 *
 * Only invalid text is refused here; the request with the card reports all other violations at once.
 *
 * **Handling card numbers puts the merchant under PCI DSS.** To avoid that, use [Gateway.createPayForm]: the payer then enters the card
 * on the gateway's own page.
 */
public class Card internal constructor(internal val core: CoreCard) {
    /**
     * A card as the payer types it.
     *
     * @param pan the full number, 13 to 20 digits; spaces and hyphens are removed before sending
     * @param expiryMonth two digits, `"01"` to `"12"`
     * @param expiryYear four digits, such as 2031
     * @param cvc three characters
     * @param holderName first name, then last name
     * @throws PaymentException.Invalid if a text contains an unpaired surrogate, which cannot be sent
     */
    @Throws(PaymentException::class)
    public constructor(pan: String, expiryMonth: String, expiryYear: Int, cvc: String, holderName: String) : this(
        calling {
            CoreCard(
                sendable("pan", pan),
                sendable("expiryMonth", expiryMonth),
                expiryYear,
                sendable("cvc", cvc),
                sendable("name", holderName),
            )
        },
    )

    /** The masked number with its last four digits, for receipts and logs; only the mask if the number is invalid. */
    public val maskedNumber: String get() = calling { core.maskedNumber() }

    /** The mask. */
    override fun toString(): String = "Card($maskedNumber)"
}
