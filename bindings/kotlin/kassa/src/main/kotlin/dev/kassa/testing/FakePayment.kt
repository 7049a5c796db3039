package dev.kassa.testing

import dev.kassa.Callback
import dev.kassa.PaymentKind
import dev.kassa.PaymentStatus
import dev.kassa.ReturnRedirect
import dev.kassa.byValue
import dev.kassa.toKassa
import java.math.BigDecimal
import dev.kassa.internal.FakeNotification as CoreFakeNotification
import dev.kassa.internal.FakePayment as CoreFakePayment

/**
 * A payment of a [FakeGateway].
 *
 * Amounts are compared by value: 100.10 equals 100.1.
 *
 * @property kind the kind of payment
 * @property orderNumber the merchant's order number; for a pay-form the number that the payment got when its payer acted
 * @property gatewayNumber the gateway's own number, for cards
 * @property transactionId the identifier of a QR transaction
 * @property amount the amount in units of the currency (for KGS: som); null for a QR code without an amount
 * @property currency the currency's three letters
 * @property status the payment's status
 * @property pageUrl the page that the payer opens: the 3DS confirmation, or the pay-form
 * @property qrText the text of the QR code
 * @property callbackUrl the callback URL. The fake gateway sends nothing to it: it returns callbacks to the test
 */
public data class FakePayment(
    public val kind: PaymentKind,
    public val orderNumber: String?,
    public val gatewayNumber: String?,
    public val transactionId: String?,
    public val amount: BigDecimal?,
    public val currency: String,
    public val status: PaymentStatus,
    public val pageUrl: String?,
    public val qrText: String?,
    public val callbackUrl: String?,
) {
    private fun compared() = listOf(
        kind, orderNumber, gatewayNumber, transactionId, amount.byValue(), currency, status, pageUrl, qrText, callbackUrl,
    )

    override fun equals(other: Any?): Boolean = other is FakePayment && compared() == other.compared()

    override fun hashCode(): Int = compared().hashCode()
}

/**
 * What the gateway sends after the payer has paid or declined, for a test to pass to the code that handles callbacks and returns.
 *
 * @property callback the body of the callback (webhook), for [Callback.parse]
 * @property returnUrl the URL to which the payer's browser would return, for [ReturnRedirect.parse]; only after a payment, and if there
 *   is a return URL
 */
public data class FakeNotification(public val callback: String, public val returnUrl: String?)

internal fun CoreFakePayment.toKassa() = FakePayment(
    kind.toKassa(), orderNumber, gatewayNumber, transactionId, amount, currency, status.toKassa(), pageUrl, qrText, callbackUrl,
)

internal fun CoreFakeNotification.toKassa() = FakeNotification(callback, returnUrl)
