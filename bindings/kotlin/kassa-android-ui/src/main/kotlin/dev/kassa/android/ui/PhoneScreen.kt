package dev.kassa.android.ui

import androidx.compose.runtime.Composable
import androidx.compose.ui.res.stringResource

/** The phone to which the mobile bank sends its code. */
@Composable
internal fun PhoneScreen(form: Form) = Screen(stringResource(R.string.kassa_mbank), message = form.message, onBack = form.onBack) {
    val typed = form.typed
    val isWhole = PhoneNumber.isWhole(typed.phone)
    Field(
        FieldKind.PHONE,
        stringResource(R.string.kassa_phone),
        typed.phone,
        onChange = {
            typed.phone = PhoneNumber.read(it)
            typed.violations = emptyList()
        },
        hint = stringResource(R.string.kassa_phone_more),
        problem = typed.violations.about("phone"),
        prefix = PhoneNumber.PREFIX,
        shown = PhoneNumber::shown,
        onDone = { if (isWhole) form.onPay() },
    )
    MainButton(stringResource(R.string.kassa_go_on), isWhole, form.onPay)
}
