package dev.kassa

import java.io.Serializable
import java.math.BigDecimal
import dev.kassa.internal.StatusReport as CoreStatusReport

/**
 * The gateway's report on a payment. A field that it lacks is null, never zero or empty.
 *
 * Amounts are compared by value: 100.10 equals 100.1.
 *
 * @property status the payment's status
 * @property code the gateway's code, such as `200`
 * @property reason the gateway's message, such as `PAYMENT_SUCCESS`, in the requested language
 * @property orderNumber the order number as the gateway reports it
 * @property amount the amount as the gateway reports it. **For QR payments the unit is not known** (som or tyiyn) unless the
 *   dialect states it
 * @property currency the currency as the gateway reports it
 * @property raw the whole response, with secrets masked
 */
public data class StatusReport @JvmOverloads constructor(
    public val status: PaymentStatus,
    public val code: String? = null,
    public val reason: String? = null,
    public val orderNumber: String? = null,
    public val amount: BigDecimal? = null,
    public val currency: String? = null,
    public val raw: String = "",
) : Serializable {
    private fun compared() = listOf(status, code, reason, orderNumber, amount.byValue(), currency, raw)

    override fun equals(other: Any?): Boolean = other is StatusReport && compared() == other.compared()

    override fun hashCode(): Int = compared().hashCode()
}

internal fun CoreStatusReport.toKassa() =
    StatusReport(status.toKassa(), code, reason, orderNumber, amount, currency, raw)

internal fun StatusReport.toCore() =
    CoreStatusReport(status.toCore(), code, reason, orderNumber, amount, currency, raw)
