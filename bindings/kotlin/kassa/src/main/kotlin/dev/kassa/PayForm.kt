package dev.kassa

import java.math.BigDecimal
import dev.kassa.internal.PayForm as CorePayForm

/**
 * A request for a hosted page on which the payer picks how to pay (card, MBank or MegaPay).
 *
 * The answer carries no identifier, so **put a reference of your own into the query of** [callbackUrl] **and** [returnUrl] (such
 * as `?ref=cart-17`), store [paymentRef] under it, and verify the callback and the return with that ([Gateway.verifyCallback],
 * [Gateway.verifyReturn]). Their order number is only claimed: the dialect's `qr_numbers` must say how to rule out a QR payment's.
 *
 * Amounts are compared by value: 100.10 equals 100.1.
 *
 * @property amount the amount in KGS, at least 1 and with at most two decimals; under 5 the page will not offer MegaPay. Sent
 *   digit for digit
 * @property serviceName what is paid for
 * @property callbackUrl where the gateway sends its callbacks: an absolute http or https URL
 * @property returnUrl where the payer's browser goes after success: a page, or a deep link of an app
 * @property entryId the name of its entry in the gateway's [Journal], one of its own for each form: where the callback's address has to
 *   say which payment it is about. [Kassa.newOrderNumber] makes one, and so does Kassa where none is given. The gateway never sees it
 */
public data class PayForm @JvmOverloads constructor(
    public val amount: BigDecimal,
    public val serviceName: String,
    public val callbackUrl: String,
    public val returnUrl: String,
    public val entryId: String? = null,
) {
    /**
     * What to store **before** sending: what was asked for. The payer chooses how to pay, so the payment has no number until a
     * callback or a return claims one.
     *
     * @throws PaymentException.Invalid where the amount cannot be held exactly, or the entry's name is no text
     */
    @Throws(PaymentException::class)
    public fun paymentRef(): PaymentRef = PaymentRef.payForm(amount).copy(entryId = entryId)

    /** What is worth a second look before sending. It blocks nothing. */
    @Throws(PaymentException::class)
    public fun advice(): List<Advice> = calling { toCore().advice().toKassa() }

    private fun compared() = listOf(amount.byValue(), serviceName, callbackUrl, returnUrl, entryId)

    override fun equals(other: Any?): Boolean = other is PayForm && compared() == other.compared()

    override fun hashCode(): Int = compared().hashCode()
}

internal fun PayForm.toCore() = CorePayForm(
    amount = sendable(amount),
    serviceName = sendable("serviceName", serviceName),
    callbackUrl = sendable("callbackURL", callbackUrl),
    returnUrl = sendable("returnURL", returnUrl),
    entryId = sendable("entry_id", entryId),
)
