package dev.kassa

import dev.kassa.internal.Card as CoreCard

/**
 * A payment card: number (PAN), expiry, CVC and the holder's name.
 *
 * It is never printed beyond its last four digits. The core wipes its copies when the card is collected; the strings that you
 * made it from are the JVM's, and stay in memory until they are collected.
 *
 * Only what is no text is refused here; the request that carries the card reports every other violation at once.
 *
 * **Handling card numbers puts the merchant under PCI DSS.** A merchant who does not want that uses [Gateway.createPayForm]: the
 * payer then enters the card on the gateway's own page.
 */
public class Card internal constructor(internal val core: CoreCard) {
    /**
     * A card as the payer types it.
     *
     * @param pan the full number, 13 to 20 digits; spaces and hyphens between the digits are left out when it is sent
     * @param expiryMonth two digits, `"01"` to `"12"`
     * @param expiryYear four digits, such as 2031
     * @param cvc three characters
     * @param holderName first name, then last name
     * @throws PaymentException.Invalid where a text has half a surrogate pair in it, which cannot be sent
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

    /** The last four digits behind a mask, for receipts and logs; only the mask where there is no valid number. */
    public val maskedNumber: String get() = calling { core.maskedNumber() }

    /** The mask. */
    override fun toString(): String = "Card($maskedNumber)"
}
