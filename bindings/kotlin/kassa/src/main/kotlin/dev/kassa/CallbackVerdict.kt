package dev.kassa

import java.math.BigDecimal
import dev.kassa.internal.CallbackVerdict as CoreCallbackVerdict
import dev.kassa.internal.ExpectedPayment as CoreExpectedPayment

/**
 * What a merchant knows of a payment, to be compared with a callback.
 *
 * **One payment pays for one order.** The number of a pay-form or QR payment is the gateway's own, so anybody who paid once can
 * name that payment in a callback for another cart of the same amount: remember which numbers were taken, and take none twice.
 *
 * Amounts are compared by value: 100.10 equals 100.1.
 *
 * @property payment what was stored before the payment was sent; [PaymentRef.unnumbered] where its number is not known yet
 * @property amount the amount in units of the currency (for KGS: som)
 * @property currency the currency's three letters
 */
public data class ExpectedPayment(
    public val payment: PaymentRef,
    public val amount: BigDecimal,
    public val currency: String,
) {
    private fun compared() = listOf(payment, amount.byValue(), currency)

    override fun equals(other: Any?): Boolean = other is ExpectedPayment && compared() == other.compared()

    override fun hashCode(): Int = compared().hashCode()
}

/** What the gateway says about a callback. Only [Confirmed] with a charged report is a reason to ship: see [isCharged]. */
public sealed class CallbackVerdict {
    /** True where the gateway itself says that the money was taken, and nothing contradicts it: the only reason to ship. */
    public val isCharged: Boolean get() = calling { toCore().isCharged() }

    /**
     * The payment is final, and nothing contradicts anything. **Act on the report's status**; see [isCharged]. A callback that
     * tells of an earlier, open status is confirmed too: it was overtaken.
     *
     * @property report the gateway's own report
     */
    public data class Confirmed(public val report: StatusReport) : CallbackVerdict()

    /**
     * The gateway says that the payment is still open. Watch it.
     *
     * @property report the gateway's own report
     */
    public data class Pending(public val report: StatusReport) : CallbackVerdict()

    /**
     * The callback, the gateway's report and what the merchant expects do not agree. Do not act on it.
     *
     * @property fields the fields that differ, as the interface spells them
     * @property report the gateway's own report, where it was asked
     */
    public data class Contradicted(public val fields: List<String>, public val report: StatusReport?) : CallbackVerdict()

    /**
     * Nothing can be proved: there is nothing to ask the gateway with (a QR payment without a transaction id, a provider that is
     * not known), or nothing ties the payment to what is expected: it has no number of the merchant's own choice (no pay-form has
     * one), and the gateway tells no amount to compare, or one of an unknown unit.
     */
    public data object Unverifiable : CallbackVerdict()
}

internal fun ExpectedPayment.toCore() =
    CoreExpectedPayment(payment.toCore(), sendable(amount), sendable("currency", currency))

internal fun CoreCallbackVerdict.toKassa(): CallbackVerdict = when (this) {
    is CoreCallbackVerdict.Confirmed -> CallbackVerdict.Confirmed(report.toKassa())
    is CoreCallbackVerdict.Pending -> CallbackVerdict.Pending(report.toKassa())
    is CoreCallbackVerdict.Contradicted -> CallbackVerdict.Contradicted(fields, report?.toKassa())
    CoreCallbackVerdict.Unverifiable -> CallbackVerdict.Unverifiable
}

private fun CallbackVerdict.toCore(): CoreCallbackVerdict = when (this) {
    is CallbackVerdict.Confirmed -> CoreCallbackVerdict.Confirmed(report.toCore())
    is CallbackVerdict.Pending -> CoreCallbackVerdict.Pending(report.toCore())
    is CallbackVerdict.Contradicted -> CoreCallbackVerdict.Contradicted(fields, report?.toCore())
    CallbackVerdict.Unverifiable -> CoreCallbackVerdict.Unverifiable
}
