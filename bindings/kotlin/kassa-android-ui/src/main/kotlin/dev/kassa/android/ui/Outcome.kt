package dev.kassa.android.ui

import dev.kassa.CheckoutState
import dev.kassa.MessageTopic
import dev.kassa.android.ui.KassaCheckout.Result

/** The sheet's result if it is closed in a state. [mayHavePaid]: the payer saw something that can still be paid. */
internal fun resultOf(state: CheckoutState, mayHavePaid: Boolean): Result = when (state) {
    is CheckoutState.Paid -> Result.Paid(state.amount, state.currency)
    is CheckoutState.PersonNeeded -> Result.PersonNeeded
    // A page or a code that was shown can be paid after the checkout's end, and while the payer chooses again.
    is CheckoutState.Ready, is CheckoutState.NotPaid, CheckoutState.Expired -> if (mayHavePaid) Result.StillOpen else Result.NotPaid
    is CheckoutState.Opening, is CheckoutState.Sending, is CheckoutState.EnterOtp, is CheckoutState.OpenPage,
    is CheckoutState.ShowQr, is CheckoutState.Waiting, CheckoutState.TokenExpired,
    -> Result.StillOpen
}

/** What payers have seen of a checkout that may still take money. */
internal enum class Seen {
    /** No payment is open. */
    NOTHING,

    /** A payment that is open, or may be. */
    PAYMENT,

    /** A QR code that can be paid. */
    QR_CODE,

    /** A QR code that was left for another payment: whoever kept its picture can still pay it. */
    LEFT_QR_CODE,
    ;

    val mayHavePaid: Boolean get() = this != NOTHING

    /** The same after a state was shown. */
    fun after(state: CheckoutState): Seen = when (state) {
        is CheckoutState.ShowQr -> unlessLeft(QR_CODE)
        // A QR code leads to none of these: another payment was begun in its place, here or on another device.
        is CheckoutState.Sending, is CheckoutState.EnterOtp, is CheckoutState.OpenPage ->
            if (this == QR_CODE) LEFT_QR_CODE else unlessLeft(PAYMENT)
        is CheckoutState.Waiting, is CheckoutState.PersonNeeded -> orPayment()
        is CheckoutState.Ready -> if (state.canKeepMethod) orPayment() else unlessLeft(NOTHING)
        // Where no tries are left, the server took the last payment no more, and none is open.
        is CheckoutState.NotPaid -> if (state.reason.topic == MessageTopic.TOO_MANY_TRIES) unlessLeft(NOTHING) else this
        is CheckoutState.Opening, is CheckoutState.Paid, CheckoutState.Expired, CheckoutState.TokenExpired -> this
    }

    private fun unlessLeft(next: Seen) = if (this == LEFT_QR_CODE) this else next

    private fun orPayment() = if (this == NOTHING) PAYMENT else this
}
