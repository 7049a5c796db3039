package dev.kassa.android.ui

import androidx.compose.runtime.Composable
import androidx.compose.runtime.remember
import dev.kassa.Kassa

/** The phone to which the code is sent. Shows the normalized number; an invalid one is not sent. */
@Composable
internal fun PhoneScreen(form: Form) {
    val labels = LocalLabels.current
    val language = LocalLanguage.current
    val typed = form.typed
    val goesTo = remember(typed.phone, language) { Kassa.phoneHint(typed.phone, language) }
    val isTyped = typed.phone.isNotBlank()
    Screen(labels.nameOf(form.method), notice = form.notice, explanation = form.explanation, onBack = form.onBack) {
        Field(
            FieldKind.PHONE,
            labels.phone,
            typed.phone,
            onChange = {
                typed.phone = it
                typed.violations = emptyList()
            },
            hint = goesTo ?: labels.phoneExample,
            // An example says more than the rule that is broken.
            problem = labels.phoneWrong.takeIf { typed.violations.any { violation -> violation.field == "phone" } },
            onDone = { if (isTyped) form.onPay() },
        )
        // Where it is no number, the core refuses it, and the field says so: a button that cannot be pressed would not.
        MainButton(labels.proceed, isTyped, form.onPay)
    }
}
