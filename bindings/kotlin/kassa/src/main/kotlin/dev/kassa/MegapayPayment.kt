package dev.kassa

import java.math.BigDecimal
import kotlin.time.Duration
import kotlin.time.toJavaDuration
import kotlin.time.toKotlinDuration
import dev.kassa.internal.MegapayAccepted as CoreMegapayAccepted
import dev.kassa.internal.MegapayChecked as CoreMegapayChecked
import dev.kassa.internal.MegapayPayment as CoreMegapayPayment

/**
 * A request for a payment from a MegaPay wallet. [Gateway.checkMegapay] sends the payer a PIN and returns the commission;
 * [Gateway.payByMegapay] takes the money with that PIN. **Both take the same request.**
 *
 * Amounts are compared by value: 100.10 equals 100.1.
 *
 * @property orderNumber the merchant's unique number of the payment; [Kassa.newOrderNumber] makes one
 * @property amount the amount in KGS **without the commission**, at least 5 and with at most two decimals. Sent digit for digit
 * @property phone the phone number of the payer's wallet, which receives the PIN, in any notation: it is normalized with
 *   [Kassa.normalizedPhone] before sending
 * @property account the merchant's account (requisite) that receives the money, as agreed with the gateway
 * @property callbackUrl where the gateway sends its callbacks: an absolute http or https URL. Only the payment sends it
 */
public data class MegapayPayment @JvmOverloads constructor(
    public val orderNumber: String,
    public val amount: BigDecimal,
    public val phone: String,
    public val account: String,
    public val callbackUrl: String? = null,
) {
    /**
     * The payment reference. Store it **before** sending, so that you can query the payment whatever happens.
     *
     * @throws PaymentException.Invalid if the order number contains an unpaired surrogate, which cannot be sent, or the amount cannot be
     *   held exactly
     */
    @Throws(PaymentException::class)
    public fun paymentRef(): PaymentRef = PaymentRef.megapay(orderNumber, amount)

    /** Advice about the request, to review before sending. It blocks nothing. */
    @Throws(PaymentException::class)
    public fun advice(): List<Advice> = calling { toCore().advice().toKassa() }

    private fun compared() = listOf(orderNumber, amount.byValue(), phone, account, callbackUrl)

    override fun equals(other: Any?): Boolean = other is MegapayPayment && compared() == other.compared()

    override fun hashCode(): Int = compared().hashCode()
}

/**
 * The wallet can pay, and its PIN is on its way to the payer. **Nothing is paid yet**: show the payer the total, ask for the PIN, and call
 * [Gateway.payByMegapay].
 *
 * Amounts are compared by value: 100.10 equals 100.1.
 *
 * @property payment the payment reference, for status queries
 * @property commission what the payer pays in addition to the amount, in KGS; null if the response has none, or the dialect does not find
 *   it
 * @property total what the payer pays in all, in KGS: the requested amount and the commission; null if the commission is unknown
 * @property pinLifetime how long the PIN is valid, counted from the response; null if the response does not say so
 * @property code the gateway's code, if any
 * @property reason the gateway's message, if any
 * @property raw the whole response, with secrets masked
 */
public data class MegapayChecked(
    public val payment: PaymentRef,
    public val commission: BigDecimal? = null,
    public val total: BigDecimal? = null,
    public val pinLifetime: Duration? = null,
    public val code: String? = null,
    public val reason: String? = null,
    public val raw: String = "",
) {
    /** A response with only the reference, for your own test gateway. */
    public constructor(payment: PaymentRef) : this(payment, null)

    /** With a lifetime of the PIN, by Java's duration. */
    @JvmOverloads
    public constructor(
        payment: PaymentRef,
        commission: BigDecimal?,
        total: BigDecimal?,
        pinLifetime: java.time.Duration?,
        code: String? = null,
        reason: String? = null,
        raw: String = "",
    ) : this(payment, commission, total, pinLifetime?.toKotlinDuration(), code, reason, raw)

    /** How long the PIN is valid, for Java; null if the response does not say so. */
    public fun getPinLifetime(): java.time.Duration? = pinLifetime?.toJavaDuration()

    /** The entry to store in place of the reference. */
    public fun entry(): PaymentEntry = PaymentEntry(payment)

    private fun compared() = listOf(payment, commission.byValue(), total.byValue(), pinLifetime, code, reason, raw)

    override fun equals(other: Any?): Boolean = other is MegapayChecked && compared() == other.compared()

    override fun hashCode(): Int = compared().hashCode()
}

/**
 * The gateway accepted a payment with its PIN. **Accepted, not final**: watch [payment] for its final status.
 *
 * @property payment the payment reference, for status queries
 * @property transactionId the number of the operation at MegaPay, if any: for statements and receipts. No status query takes it
 * @property code the gateway's code, if any
 * @property reason the gateway's message, if any
 * @property status the status word in the response, if any. Only a status query decides whether the payment is charged
 * @property raw the whole response, with secrets masked
 */
public data class MegapayAccepted(
    public val payment: PaymentRef,
    public val transactionId: String?,
    public val code: String?,
    public val reason: String?,
    public val status: String?,
    public val raw: String,
)

internal fun MegapayPayment.toCore() = CoreMegapayPayment(
    orderNumber = sendable("orderNumber", orderNumber),
    amount = sendable(amount),
    // The core reports a phone violation under the wire name `user`.
    phone = sendable("user", phone),
    account = sendable("account", account),
    callbackUrl = sendable("callbackUrl", callbackUrl),
)

internal fun CoreMegapayChecked.toKassa() =
    MegapayChecked(payment.toKassa(), commission, total, pinLifetime?.toKotlinDuration(), code, reason, raw)

internal fun CoreMegapayAccepted.toKassa() = MegapayAccepted(payment.toKassa(), transactionId, code, reason, status, raw)

/** The default of implementations that do not override the MegaPay methods. */
internal fun noMegapay() = PaymentException.Misconfigured("this gateway does not implement checkMegapay and payByMegapay")
