package dev.kassa.android.ui

import dev.kassa.CheckoutState
import dev.kassa.android.ui.KassaCheckout.Result

/** What the sheet answers where it is closed in a state. [mayHavePaid]: a payer saw something that can still be paid. */
internal fun resultOf(state: CheckoutState, mayHavePaid: Boolean): Result = when (state) {
    is CheckoutState.Paid -> Result.Paid(state.amount, state.currency)
    is CheckoutState.PersonNeeded -> Result.PersonNeeded
    is CheckoutState.Ready -> Result.NotPaid
    // A page or a code that was shown can be paid after the checkout's end.
    is CheckoutState.NotPaid, CheckoutState.Expired -> if (mayHavePaid) Result.StillOpen else Result.NotPaid
    is CheckoutState.Opening, is CheckoutState.Sending, is CheckoutState.EnterOtp, is CheckoutState.OpenPage,
    is CheckoutState.ShowQr, is CheckoutState.Waiting, CheckoutState.TokenExpired,
    -> Result.StillOpen
}

/** Whether the payer has seen something that can still be paid, after a state. */
internal fun mayHavePaid(before: Boolean, state: CheckoutState): Boolean = when (state) {
    is CheckoutState.Sending, is CheckoutState.EnterOtp, is CheckoutState.OpenPage, is CheckoutState.ShowQr,
    is CheckoutState.Waiting, is CheckoutState.PersonNeeded,
    -> true
    // No payment is open.
    is CheckoutState.Ready -> false
    else -> before
}
