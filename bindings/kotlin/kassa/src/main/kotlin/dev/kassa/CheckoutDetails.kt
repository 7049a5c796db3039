package dev.kassa

import java.math.BigDecimal
import java.time.Instant
import dev.kassa.internal.CheckoutDetails as CoreCheckoutDetails

/**
 * The details of a checkout. They never change.
 *
 * Amounts are compared by value: 100.10 equals 100.1.
 *
 * @property reference the shop's own reference, such as the order number, which a payer tells the shop's support
 * @property amount the amount, in units of the currency
 * @property currency the currency's three letters
 * @property description what is paid for
 * @property methods the payment methods that the shop allows, without those unknown to this version
 * @property returnUrl where the payer returns after a page: a page of the shop, or a deep link of the app
 * @property expiresAt when it expires, by the server's clock
 */
public data class CheckoutDetails(
    public val reference: String,
    public val amount: BigDecimal,
    public val currency: String,
    public val description: String,
    public val methods: List<PaymentMethod>,
    public val returnUrl: String,
    public val expiresAt: Instant,
) {
    /** The amount, formatted for people: [Kassa.amountText]. */
    public fun amountText(language: Language): String = Kassa.amountText(amount, currency, language)

    /** The text of the pay button, with the amount: [Kassa.payText]. */
    public fun payText(language: Language): String = Kassa.payText(amount, currency, language)

    private fun compared() = listOf(reference, amount.byValue(), currency, description, methods, returnUrl, expiresAt)

    override fun equals(other: Any?): Boolean = other is CheckoutDetails && compared() == other.compared()

    override fun hashCode(): Int = compared().hashCode()
}

internal fun CoreCheckoutDetails.toKassa() =
    CheckoutDetails(reference, amount, currency, description, methods.toKassa(), returnUrl, expiresAt)
