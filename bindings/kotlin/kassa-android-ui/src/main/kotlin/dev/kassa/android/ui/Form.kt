package dev.kassa.android.ui

import androidx.compose.runtime.Composable
import dev.kassa.CheckoutDetails
import dev.kassa.PaymentMethod
import dev.kassa.Violation

/** Whether the payer enters a phone number, which then receives a code. */
internal val PaymentMethod.asksForPhone: Boolean
    get() = when (this) {
        PaymentMethod.MBANK, PaymentMethod.MEGAPAY -> true
        PaymentMethod.PAY_FORM, PaymentMethod.QR, PaymentMethod.CARD -> false
    }

internal val PaymentMethod.hasForm: Boolean get() = asksForPhone || this == PaymentMethod.CARD

/**
 * What a form for a way to pay works with.
 *
 * @property method the way to pay
 * @property explanation what the payer has to know before they begin, such as that another payment can still be paid
 * @property onBack null if there is no other way
 */
internal class Form(
    val method: PaymentMethod,
    val notice: Notice?,
    val explanation: String?,
    val details: CheckoutDetails?,
    val typed: Typed,
    val onBack: (() -> Unit)?,
    val onPay: () -> Unit,
)

/** What is wrong with one of these fields, in the payer's language. */
@Composable
internal fun List<Violation>.about(vararg fields: String): String? =
    find { it.field in fields }?.textIn(LocalLanguage.current)
