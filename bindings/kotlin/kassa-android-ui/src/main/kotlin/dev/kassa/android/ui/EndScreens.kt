package dev.kassa.android.ui

import androidx.compose.runtime.Composable
import androidx.compose.ui.res.stringResource
import dev.kassa.CheckoutDetails
import dev.kassa.CheckoutState

@Composable
internal fun OpeningScreen(state: CheckoutState.Opening) =
    Screen(stringResource(R.string.kassa_opening), { Turning() }, state.message) { Say(stringResource(R.string.kassa_opening_more)) }

@Composable
internal fun SendingScreen(state: CheckoutState.Sending) =
    Screen(stringResource(R.string.kassa_sending), { Turning() }, state.message) { Say(stringResource(R.string.kassa_sending_more)) }

@Composable
internal fun PaidScreen(onClose: () -> Unit) = Screen(stringResource(R.string.kassa_paid), { GoodMark() }) {
    Say(stringResource(R.string.kassa_paid_more))
    MainButton(stringResource(R.string.kassa_done), onClick = onClose)
}

@Composable
internal fun NotPaidScreen(state: CheckoutState.NotPaid, mayHavePaid: Boolean, onClose: () -> Unit) =
    Screen(stringResource(R.string.kassa_not_paid), { EndMark() }, state.message) {
        Say(stringResource(if (mayHavePaid) R.string.kassa_maybe_paid_more else R.string.kassa_not_paid_more))
        MainButton(stringResource(R.string.kassa_close), onClick = onClose)
    }

@Composable
internal fun PersonScreen(state: CheckoutState.PersonNeeded, details: CheckoutDetails?, onClose: () -> Unit) =
    Screen(stringResource(R.string.kassa_person), { PersonMark() }, state.message) {
        Say(stringResource(R.string.kassa_person_more))
        details?.let { Say(stringResource(R.string.kassa_order, it.reference)) }
        MainButton(stringResource(R.string.kassa_close), onClick = onClose)
    }

@Composable
internal fun ExpiredScreen(mayHavePaid: Boolean, onClose: () -> Unit) =
    Screen(stringResource(R.string.kassa_expired), { EndMark() }) {
        Say(stringResource(if (mayHavePaid) R.string.kassa_maybe_paid_more else R.string.kassa_expired_more))
        MainButton(stringResource(R.string.kassa_close), onClick = onClose)
    }

@Composable
internal fun TokenExpiredScreen(onClose: () -> Unit) = Screen(stringResource(R.string.kassa_token_expired), { EndMark() }) {
    Say(stringResource(R.string.kassa_token_expired_more))
    MainButton(stringResource(R.string.kassa_close), onClick = onClose)
}
