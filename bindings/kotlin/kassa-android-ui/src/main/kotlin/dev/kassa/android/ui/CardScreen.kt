package dev.kassa.android.ui

import androidx.compose.foundation.layout.Arrangement
import androidx.compose.foundation.layout.Column
import androidx.compose.foundation.layout.Row
import androidx.compose.runtime.Composable
import androidx.compose.runtime.DisposableEffect
import androidx.compose.runtime.remember
import androidx.compose.ui.Modifier
import androidx.compose.ui.platform.LocalDensity
import androidx.compose.ui.unit.dp
import dev.kassa.CardBrand
import dev.kassa.CardInput
import dev.kassa.CheckoutDetails
import dev.kassa.FieldState

/** With letters larger than this, two things do not fit side by side. */
private const val LARGE = 1.3f

/** A card. Nothing of it is saved, and no screenshot shows it. */
@Composable
internal fun CardScreen(form: Form, device: Device) {
    DisposableEffect(device) {
        device.keepSecret(true)
        onDispose { device.keepSecret(false) }
    }
    val empty = remember { CardInput() }
    val card = form.typed.card ?: empty
    val edit = { next: CardInput ->
        form.typed.card = next
        form.typed.violations = emptyList()
    }
    val pay = { if (card.isComplete) form.onPay() }
    val labels = LocalLabels.current
    Screen(labels.cardTitle, notice = form.notice, explanation = form.explanation, onBack = form.onBack) {
        NumberField(card, form, edit)
        SideBySide(
            { ExpiryField(card, form, it, edit) },
            { CvcField(card, form, it, edit) },
        )
        HolderField(card, form, edit, pay)
        MainButton(form.details?.let { payText(it) } ?: labels.pay, card.isComplete, pay)
    }
}

private val CardInput.isComplete: Boolean
    get() = listOf(numberState, expiryState, cvcState, holderNameState).all { it is FieldState.Complete }

@Composable
private fun payText(details: CheckoutDetails): String {
    val language = LocalLanguage.current
    return remember(details, language) { details.payText(language) }
}

@Composable
private fun SideBySide(first: @Composable (Modifier) -> Unit, second: @Composable (Modifier) -> Unit) {
    if (isLarge()) {
        first(Modifier)
        second(Modifier)
        return
    }
    Row(horizontalArrangement = Arrangement.spacedBy(12.dp)) {
        Column(Modifier.weight(1f)) { first(Modifier) }
        Column(Modifier.weight(1f)) { second(Modifier) }
    }
}

@Composable
private fun isLarge() = LocalDensity.current.fontScale > LARGE

@Composable
private fun NumberField(card: CardInput, form: Form, onEdit: (CardInput) -> Unit) = Field(
    FieldKind.CARD_NUMBER,
    LocalLabels.current.cardNumber,
    digitsOf(card.number),
    onChange = { onEdit(card.withNumber(it)) },
    problem = form.typed.violations.about("pan") ?: card.numberState.problem(),
    hint = nameOf(card.brand).takeIf { isLarge() },
    trailing = nameOf(card.brand).takeUnless { isLarge() },
    shown = remember(card.number) { { _: String -> card.number } },
)

@Composable
private fun ExpiryField(card: CardInput, form: Form, modifier: Modifier, onEdit: (CardInput) -> Unit) = Field(
    FieldKind.CARD_EXPIRY,
    LocalLabels.current.cardExpiry,
    digitsOf(card.expiry),
    onChange = { onEdit(card.withExpiry(it)) },
    modifier,
    problem = form.typed.violations.about("expiryMonth", "expiryYear") ?: card.expiryState.problem(),
    shown = remember(card.expiry) { { _: String -> card.expiry } },
)

@Composable
private fun CvcField(card: CardInput, form: Form, modifier: Modifier, onEdit: (CardInput) -> Unit) = Field(
    FieldKind.CARD_CVC,
    LocalLabels.current.cardCvc,
    card.cvc,
    onChange = { onEdit(card.withCvc(it)) },
    modifier,
    hint = LocalLabels.current.cardCvcHint,
    problem = form.typed.violations.about("cvc") ?: card.cvcState.problem(),
)

@Composable
private fun HolderField(card: CardInput, form: Form, onEdit: (CardInput) -> Unit, onDone: () -> Unit) = Field(
    FieldKind.CARD_HOLDER,
    LocalLabels.current.cardHolder,
    card.holderName,
    onChange = { onEdit(card.withHolderName(it)) },
    problem = form.typed.violations.about("name") ?: card.holderNameState.problem(),
    onDone = onDone,
)

@Composable
private fun FieldState.problem(): String? = (this as? FieldState.Wrong)?.violation?.textIn(LocalLanguage.current)

/** As the brands write themselves. */
private fun nameOf(brand: CardBrand): String? = when (brand) {
    CardBrand.VISA -> "Visa"
    CardBrand.MASTERCARD -> "Mastercard"
    CardBrand.MIR -> "Мир"
    CardBrand.UNION_PAY -> "UnionPay"
    CardBrand.ELCART -> "Элкарт"
    CardBrand.AMEX -> "American Express"
    CardBrand.MAESTRO -> "Maestro"
    CardBrand.JCB -> "JCB"
    CardBrand.UNKNOWN -> null
}
