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
import androidx.compose.ui.unit.dp
import androidx.lifecycle.Lifecycle
import androidx.lifecycle.compose.LocalLifecycleOwner
import androidx.lifecycle.withResumed
import dev.kassa.CheckoutState
import dev.kassa.PaymentMethod

/** A bank's page: it opens automatically if the payer has just requested it, otherwise by a button. */
@Composable
internal fun PageScreen(state: CheckoutState.OpenPage, said: StateTexts, actions: Actions, device: Device) {
    val labels = LocalLabels.current
    val page = rememberPage(state.url, actions, device)
    val lifecycle = LocalLifecycleOwner.current.lifecycle
    LaunchedEffect(state.url, state.begunHere) { if (state.begunHere) lifecycle.withResumed { page.open() } }
    Screen(said) {
        if (page.hasNoBrowser) NoBrowser(state.url, device)
        MainButton(labels.openPage, onClick = page::open)
        PlainButton(labels.havePaid, actions::checkNow)
        OtherWays(state.methods, actions::choose)
    }
}

/** The payer is back from a page, or has nothing to do: the result is being queried. */
@Composable
internal fun WaitingScreen(state: CheckoutState.Waiting, said: StateTexts, actions: Actions, device: Device) =
    Screen(said, { Turning() }) {
        val labels = LocalLabels.current
        PlainButton(labels.checkNow, actions::checkNow)
        state.pageUrl?.let { url ->
            val page = rememberPage(url, actions, device)
            if (page.hasNoBrowser) NoBrowser(url, device)
            PlainButton(labels.openPageAgain, page::open)
        }
        OtherWays(state.methods, actions::choose)
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
    val labels = LocalLabels.current
    var isCopied by remember { mutableStateOf(false) }
    Told(labels.noBrowser)
    SelectionContainer { Say(url) }
    PlainButton(labels.copyAddress) {
        device.copy(url)
        isCopied = true
    }
    if (isCopied) Told(labels.addressCopied)
}

/** What can be begun instead, behind a button and a word of warning. */
@Composable
private fun OtherWays(methods: List<PaymentMethod>, onChoose: (PaymentMethod) -> Unit) {
    if (methods.isEmpty()) return
    val labels = LocalLabels.current
    var isOpen by remember { mutableStateOf(false) }
    if (!isOpen) return PlainButton(labels.otherWay) { isOpen = true }
    Told(labels.otherWayHint)
    Methods(methods, onChoose)
}
