package dev.kassa.android.ui

import androidx.activity.compose.BackHandler
import androidx.compose.foundation.BorderStroke
import androidx.compose.foundation.layout.Arrangement
import androidx.compose.foundation.layout.Column
import androidx.compose.foundation.layout.fillMaxWidth
import androidx.compose.foundation.layout.heightIn
import androidx.compose.foundation.layout.padding
import androidx.compose.material3.MaterialTheme
import androidx.compose.material3.Surface
import androidx.compose.material3.Text
import androidx.compose.runtime.Composable
import androidx.compose.ui.Modifier
import androidx.compose.ui.semantics.Role
import androidx.compose.ui.semantics.role
import androidx.compose.ui.semantics.semantics
import androidx.compose.ui.text.font.FontWeight
import androidx.compose.ui.unit.dp
import dev.kassa.CheckoutState
import dev.kassa.PaymentMethod

/** The payment methods. If the payer chooses again while a payment is open, "back" leads back to that payment. */
@Composable
internal fun MethodsScreen(state: CheckoutState.Ready, said: StateTexts, actions: Actions) {
    val isOpen = state.canKeepMethod
    BackHandler(isOpen, actions::keepMethod)
    Screen(said) {
        if (state.methods.isNotEmpty()) Methods(state.methods, actions::choose)
        if (isOpen) PlainButton(LocalLabels.current.backToCode, actions::keepMethod)
    }
}

/** A button for each way to pay. */
@Composable
internal fun Methods(methods: List<PaymentMethod>, onChoose: (PaymentMethod) -> Unit) =
    Column(verticalArrangement = Arrangement.spacedBy(12.dp)) {
        for (method in methods) Method(method) { onChoose(method) }
    }

@Composable
private fun Method(method: PaymentMethod, onClick: () -> Unit) {
    val colours = MaterialTheme.colorScheme
    val labels = LocalLabels.current
    Surface(
        onClick,
        Modifier.fillMaxWidth().semantics { role = Role.Button },
        shape = LocalCorners.current,
        border = BorderStroke(1.dp, colours.outline),
    ) {
        Column(Modifier.heightIn(min = 64.dp).padding(16.dp, 12.dp), Arrangement.Center) {
            Text(
                labels.nameOf(method),
                fontWeight = FontWeight.SemiBold,
                style = MaterialTheme.typography.bodyLarge,
            )
            Text(labels.hintOf(method), color = colours.onSurfaceVariant, style = MaterialTheme.typography.bodyMedium)
        }
    }
}
