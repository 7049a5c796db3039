package dev.kassa.android.ui

import androidx.compose.runtime.Composable
import androidx.compose.runtime.remember
import androidx.compose.ui.res.stringResource

/** The phone to which the mobile bank sends its code. Which number that will be is shown before; what is none is not sent. */
@Composable
internal fun PhoneScreen(form: Form) = Screen(stringResource(R.string.kassa_mbank), message = form.message, onBack = form.onBack) {
    val typed = form.typed
    val number = remember(typed.phone) { PhoneNumber.read(typed.phone) }
    val isTyped = typed.phone.isNotBlank()
    Field(
        FieldKind.PHONE,
        stringResource(R.string.kassa_phone),
        typed.phone,
        onChange = {
            typed.phone = it
            typed.violations = emptyList()
        },
        hint = if (number == null) {
            stringResource(R.string.kassa_phone_more)
        } else {
            stringResource(R.string.kassa_phone_goes_to, PhoneNumber.shown(number))
        },
        problem = typed.violations.about("phone"),
        onDone = { if (isTyped) form.onPay() },
    )
    // Where it is no number, the core refuses it, and the field says so: a button that cannot be pressed would not.
    MainButton(stringResource(R.string.kassa_go_on), isTyped, form.onPay)
}
