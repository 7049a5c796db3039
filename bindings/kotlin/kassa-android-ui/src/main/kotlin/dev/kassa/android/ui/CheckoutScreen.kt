package dev.kassa.android.ui

import androidx.activity.compose.BackHandler
import androidx.compose.foundation.layout.Column
import androidx.compose.foundation.layout.fillMaxWidth
import androidx.compose.foundation.layout.padding
import androidx.compose.material3.HorizontalDivider
import androidx.compose.material3.MaterialTheme
import androidx.compose.material3.Text
import androidx.compose.runtime.Composable
import androidx.compose.runtime.CompositionLocalProvider
import androidx.compose.runtime.remember
import androidx.compose.ui.Modifier
import androidx.compose.ui.text.font.FontWeight
import androidx.compose.ui.unit.dp
import dev.kassa.CheckoutDetails
import dev.kassa.CheckoutLabels
import dev.kassa.CheckoutState
import dev.kassa.CheckoutTexts
import dev.kassa.PaymentMethod

/** What there is to show. */
internal class Shown(val state: CheckoutState, val details: CheckoutDetails?, val mayHavePaid: Boolean)

/** The amount, and below it the screen of the state. */
@Composable
internal fun CheckoutScreen(shown: Shown, typed: Typed, actions: Actions, device: Device, onClose: () -> Unit) {
    val language = LocalLanguage.current
    val labels = remember(language) { CheckoutLabels.of(language) }
    val said = remember(shown.state, shown.mayHavePaid, language) {
        StateTexts(CheckoutTexts.of(shown.state, shown.mayHavePaid, language), shown.state)
    }
    CompositionLocalProvider(LocalLabels provides labels) {
        Column(Modifier.fillMaxWidth()) {
            shown.details?.let { Order(it) }
            when (val method = formOf(shown.state, typed.chosen)) {
                null -> StateScreen(shown, said, typed, actions, device, onClose)
                else -> FormScreen(method, shown, said, typed, actions, device)
            }
        }
    }
}

@Composable
private fun Order(details: CheckoutDetails) {
    val language = LocalLanguage.current
    Column(Modifier.fillMaxWidth().padding(start = 24.dp, end = 24.dp, bottom = 16.dp)) {
        Text(
            remember(details, language) { details.amountText(language) },
            fontWeight = FontWeight.Bold,
            style = MaterialTheme.typography.headlineMedium,
        )
        Text(
            details.description,
            color = MaterialTheme.colorScheme.onSurfaceVariant,
            style = MaterialTheme.typography.bodyLarge,
        )
    }
    HorizontalDivider()
}

/** The way to pay for which the payer types something first: the one that was chosen, or the only one. */
private fun formOf(state: CheckoutState, chosen: PaymentMethod?): PaymentMethod? {
    val method = chosen?.takeIf { it in state.methods } ?: onlyOne(state)
    return method?.takeIf { it.hasForm }
}

private fun onlyOne(state: CheckoutState) = (state as? CheckoutState.Ready)?.methods?.singleOrNull()

@Composable
private fun FormScreen(method: PaymentMethod, shown: Shown, said: StateTexts, typed: Typed, actions: Actions, device: Device) {
    val onBack: (() -> Unit)? = when {
        // The only way to pay has no list to go back to, even where the shop has chosen it.
        typed.chosen != null && onlyOne(shown.state) == null -> typed::done
        (shown.state as? CheckoutState.Ready)?.canKeepMethod == true -> actions::keepMethod
        else -> null
    }
    BackHandler(enabled = onBack != null) { onBack?.invoke() }
    // Beside a page the payer has read when not to pay in another way, and what it says there is about the page.
    val explanation = said.texts.explanation.takeIf { shown.state is CheckoutState.Ready }
    val form = Form(method, said.notice, explanation, shown.details, typed, onBack, onPay = { actions.pay(method) })
    when (method) {
        PaymentMethod.MBANK, PaymentMethod.MEGAPAY -> PhoneScreen(form)
        PaymentMethod.CARD -> CardScreen(form, device)
        PaymentMethod.PAY_FORM, PaymentMethod.QR -> Unit // These have no form: see formOf.
    }
}

@Composable
private fun StateScreen(shown: Shown, said: StateTexts, typed: Typed, actions: Actions, device: Device, onClose: () -> Unit) {
    when (val state = shown.state) {
        is CheckoutState.Opening, is CheckoutState.Sending -> BusyScreen(said)
        is CheckoutState.Ready -> MethodsScreen(state, said, actions)
        is CheckoutState.EnterOtp -> CodeScreen(state, said, typed, actions)
        is CheckoutState.OpenPage -> PageScreen(state, said, actions, device)
        is CheckoutState.ShowQr -> QrScreen(state, said, actions, device)
        is CheckoutState.Waiting -> WaitingScreen(state, said, actions, device)
        is CheckoutState.Paid -> PaidScreen(said, onClose)
        is CheckoutState.PersonNeeded -> PersonScreen(said, shown.details, onClose)
        is CheckoutState.NotPaid, CheckoutState.Expired -> if (shown.mayHavePaid) LateScreen(said, actions, onClose) else NotPaidScreen(said, onClose)
        CheckoutState.TokenExpired -> UnknownScreen(said, onClose)
    }
}
