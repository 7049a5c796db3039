package dev.kassa

import java.math.BigDecimal
import dev.kassa.internal.CardPayment as CoreCardPayment

/**
 * A request for a card payment. Sending card data puts the merchant under PCI DSS; see [Card].
 *
 * Amounts are compared by value: 100.10 equals 100.1.
 *
 * @property orderNumber the merchant's unique number of the payment, preferably only A-Z a-z 0-9 - _: [Kassa.newOrderNumber]
 * @property description what is paid for
 * @property amount the amount in units of the currency, at least 1, with no more decimals than the currency has (ISO 4217): two
 *   for KGS. Sent digit for digit
 * @property currency the currency's three letters
 * @property card the card
 * @property language the payer's language, two letters, such as `ky`
 * @property callbackUrl where the gateway sends its callbacks: an absolute http or https URL
 * @property ip the payer's IPv4 or IPv6 address
 * @property returnUrl where the payer's browser goes after success: a web page or an app's deep link
 * @property email the payer's e-mail
 */
public data class CardPayment @JvmOverloads constructor(
    public val orderNumber: String,
    public val description: String,
    public val amount: BigDecimal,
    public val currency: String,
    public val card: Card,
    public val language: String,
    public val callbackUrl: String,
    public val ip: String,
    public val returnUrl: String? = null,
    public val email: String? = null,
) {
    /**
     * The payment reference. Store it **before** sending, so that you can query the payment whatever happens.
     *
     * @throws PaymentException.Invalid if the order number or the currency contains an unpaired surrogate, which cannot be sent, or the
     *   amount cannot be held exactly
     */
    @Throws(PaymentException::class)
    public fun paymentRef(): PaymentRef = PaymentRef.card(orderNumber, amount, currency)

    /** Advice about the request, to review before sending. It blocks nothing. */
    @Throws(PaymentException::class)
    public fun advice(): List<Advice> = calling { toCore().advice().toKassa() }

    private fun compared() =
        listOf(orderNumber, description, amount.byValue(), currency, card, language, callbackUrl, ip, returnUrl, email)

    override fun equals(other: Any?): Boolean = other is CardPayment && compared() == other.compared()

    override fun hashCode(): Int = compared().hashCode()

    /**
     * Makes a card payment by the names of its fields, for Java. A text that is not set is empty, and refused as such when the
     * payment is sent.
     *
     * @param card the card
     * @param amount the amount in units of the currency, at least 1, with no more decimals than the currency has. Sent digit for
     *   digit
     */
    public class Builder(private val card: Card, private val amount: BigDecimal) {
        private var orderNumber = ""
        private var description = ""
        private var currency = ""
        private var language = ""
        private var callbackUrl = ""
        private var ip = ""
        private var returnUrl: String? = null
        private var email: String? = null

        /** The merchant's unique number of the payment: [Kassa.newOrderNumber]. */
        public fun orderNumber(orderNumber: String): Builder = apply { this.orderNumber = orderNumber }

        /** What is paid for. */
        public fun description(description: String): Builder = apply { this.description = description }

        /** The currency's three letters. */
        public fun currency(currency: String): Builder = apply { this.currency = currency }

        /** The payer's language, two letters. */
        public fun language(language: String): Builder = apply { this.language = language }

        /** Where the gateway sends its callbacks. */
        public fun callbackUrl(callbackUrl: String): Builder = apply { this.callbackUrl = callbackUrl }

        /** The payer's IPv4 or IPv6 address. */
        public fun ip(ip: String): Builder = apply { this.ip = ip }

        /** Where the payer's browser goes after success. */
        public fun returnUrl(returnUrl: String?): Builder = apply { this.returnUrl = returnUrl }

        /** The payer's e-mail. */
        public fun email(email: String?): Builder = apply { this.email = email }

        /** The payment. */
        public fun build(): CardPayment = CardPayment(
            orderNumber, description, amount, currency, card, language, callbackUrl, ip, returnUrl, email,
        )

        /** The fields so far, with the card as its mask. */
        override fun toString(): String = "Builder(${build()})"
    }
}

internal fun CardPayment.toCore() = CoreCardPayment(
    orderNumber = sendable("orderNumber", orderNumber),
    description = sendable("description", description),
    amount = sendable(amount),
    currency = sendable("currency", currency),
    card = card.core,
    language = sendable("language", language),
    returnUrl = sendable("returnUrl", returnUrl),
    callbackUrl = sendable("callbackUrl", callbackUrl),
    ip = sendable("ip", ip),
    email = sendable("email", email),
)
