package dev.kassa.android.ui

import androidx.compose.foundation.layout.ColumnScope
import androidx.compose.runtime.Composable
import androidx.compose.ui.res.stringResource
import dev.kassa.CheckoutDetails

/** Before the native library is loaded, and with it the texts of the core: these are the same. */
@Composable
internal fun NotOpenedScreen() =
    Screen(stringResource(R.string.kassa_opening), { Turning() }, explanation = stringResource(R.string.kassa_opening_more)) {}

/** Nothing can be done but to wait. */
@Composable
internal fun BusyScreen(said: StateTexts) = Screen(said, { Turning() }) {}

@Composable
internal fun PaidScreen(said: StateTexts, onClose: () -> Unit) = EndScreen(said, { GoodMark() }, LocalLabels.current.done, onClose)

/** It was not paid, for certain. */
@Composable
internal fun NotPaidScreen(said: StateTexts, onClose: () -> Unit) = EndScreen(said, { EndMark() }, LocalLabels.current.close, onClose)

/** It has ended, and what was shown may be paid all the same: a payer who has paid has that asked at once. */
@Composable
internal fun LateScreen(said: StateTexts, actions: Actions, onClose: () -> Unit) =
    EndScreen(said, { UnknownMark() }, LocalLabels.current.close, onClose) {
        PlainButton(LocalLabels.current.havePaid, actions::checkNow)
    }

/** The token has ended, which says nothing about the money. */
@Composable
internal fun UnknownScreen(said: StateTexts, onClose: () -> Unit) = EndScreen(said, { UnknownMark() }, LocalLabels.current.close, onClose)

/** The payer names the order to the shop, so it stands there. */
@Composable
internal fun PersonScreen(said: StateTexts, details: CheckoutDetails?, onClose: () -> Unit) =
    EndScreen(said, { PersonMark() }, LocalLabels.current.close, onClose) {
        details?.let { Say("${LocalLabels.current.order}: ${it.reference}") }
    }

@Composable
private fun EndScreen(
    said: StateTexts,
    mark: @Composable () -> Unit,
    button: String,
    onClose: () -> Unit,
    content: @Composable ColumnScope.() -> Unit = {},
) = Screen(said, mark) {
    content()
    MainButton(button, onClick = onClose)
}
