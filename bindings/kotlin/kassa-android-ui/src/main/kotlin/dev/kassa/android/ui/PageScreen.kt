package dev.kassa.android.ui

import androidx.compose.foundation.layout.Arrangement
import androidx.compose.foundation.layout.Column
import androidx.compose.foundation.text.selection.SelectionContainer
import androidx.compose.runtime.Composable
import androidx.compose.runtime.LaunchedEffect
import androidx.compose.runtime.getValue
import androidx.compose.runtime.mutableStateOf
import androidx.compose.runtime.remember
import androidx.compose.runtime.setValue
import androidx.compose.ui.res.stringResource
import androidx.compose.ui.unit.dp
import androidx.lifecycle.Lifecycle
import androidx.lifecycle.compose.LocalLifecycleOwner
import androidx.lifecycle.withResumed
import dev.kassa.CheckoutState
import dev.kassa.PaymentMethod

/** The page of a bank: it opens by itself where the payer has just asked for it, else by a button. */
@Composable
internal fun PageScreen(state: CheckoutState.OpenPage, actions: Actions, device: Device, onChoose: (PaymentMethod) -> Unit) {
    val page = rememberPage(state.url, actions, device)
    val lifecycle = LocalLifecycleOwner.current.lifecycle
    LaunchedEffect(state.url, state.begunHere) { if (state.begunHere) lifecycle.withResumed { page.open() } }
    Screen(stringResource(R.string.kassa_page), message = state.message) {
        Say(stringResource(R.string.kassa_page_more))
        if (page.hasNoBrowser) NoBrowser(state.url, device)
        MainButton(stringResource(R.string.kassa_open_page), onClick = page::open)
        PlainButton(stringResource(R.string.kassa_check_now), actions::checkNow)
        OtherWays(state.methods, onChoose)
    }
}

/** The payer is back from a page, or nobody has to do anything: how it ended is being found out. */
@Composable
internal fun WaitingScreen(state: CheckoutState.Waiting, actions: Actions, device: Device, onChoose: (PaymentMethod) -> Unit) =
    Screen(stringResource(R.string.kassa_waiting), { Turning() }, state.message) {
        Say(stringResource(R.string.kassa_waiting_more))
        PlainButton(stringResource(R.string.kassa_look_again), actions::checkNow)
        state.pageUrl?.let { url ->
            val page = rememberPage(url, actions, device)
            if (page.hasNoBrowser) NoBrowser(url, device)
            PlainButton(stringResource(R.string.kassa_open_page_again), page::open)
        }
        OtherWays(state.methods, onChoose)
    }

/** A page that the payer can be sent to. */
private class Page(private val url: String, private val actions: Actions, private val device: Device) {
    var hasNoBrowser by mutableStateOf(false)
        private set

    fun open() {
        hasNoBrowser = !device.openPage(url)
        // It is not to be tried by itself again, either way.
        actions.pageOpened(isAway = !hasNoBrowser)
    }
}

@Composable
private fun rememberPage(url: String, actions: Actions, device: Device) = remember(url, actions, device) { Page(url, actions, device) }

@Composable
private fun NoBrowser(url: String, device: Device) = Column(verticalArrangement = Arrangement.spacedBy(12.dp)) {
    var isCopied by remember { mutableStateOf(false) }
    Told(stringResource(R.string.kassa_no_browser))
    SelectionContainer { Say(url) }
    PlainButton(stringResource(R.string.kassa_copy)) {
        device.copy(url)
        isCopied = true
    }
    if (isCopied) Told(stringResource(R.string.kassa_copied))
}

/** What can be begun instead, behind a button and a word of warning. */
@Composable
private fun OtherWays(methods: List<PaymentMethod>, onChoose: (PaymentMethod) -> Unit) {
    if (methods.isEmpty()) return
    var isOpen by remember { mutableStateOf(false) }
    if (!isOpen) return PlainButton(stringResource(R.string.kassa_other_way)) { isOpen = true }
    Told(stringResource(R.string.kassa_other_way_more))
    Methods(methods, onChoose)
}
