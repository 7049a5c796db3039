package dev.kassa.android.ui

import androidx.compose.material3.MaterialTheme
import androidx.compose.runtime.Composable
import androidx.compose.ui.res.stringResource
import androidx.compose.ui.unit.sp
import dev.kassa.CheckoutMessage
import dev.kassa.CheckoutState
import dev.kassa.MessageTopic

/** As many as the server takes. */
private const val LONGEST = 12

/** Banks send at least so many digits. */
private const val SHORTEST = 4

/** The one-time password of the mobile bank. */
@Composable
internal fun CodeScreen(state: CheckoutState.EnterOtp, typed: Typed, actions: Actions) {
    val (ofCode, beside) = state.message.let { if (it?.topic in OF_CODE) it to null else null to it }
    val canBe = typed.code.length >= SHORTEST
    Screen(stringResource(R.string.kassa_code), message = beside) {
        Say(state.phoneLast2?.let { stringResource(R.string.kassa_code_more_to, it) } ?: stringResource(R.string.kassa_code_more))
        Field(
            FieldKind.CODE,
            stringResource(R.string.kassa_code_label),
            typed.code,
            onChange = {
                typed.code = digitsOf(it).take(LONGEST)
                typed.violations = emptyList()
            },
            hint = stringResource(R.string.kassa_attempts_left, state.attemptsLeft),
            problem = typed.violations.about("otp") ?: ofCode?.let { problem(it, state.attemptsLeft, typed.code) },
            style = MaterialTheme.typography.headlineSmall.copy(letterSpacing = 4.sp),
            onDone = { if (canBe) actions.confirm() },
        )
        MainButton(stringResource(R.string.kassa_confirm), canBe, actions::confirm)
        if (state.canChangeMethod) QuietButton(stringResource(R.string.kassa_other_number), actions::changeMethod)
    }
}

private val OF_CODE = setOf(MessageTopic.CODE_REFUSED, MessageTopic.CODE_NOT_SENT)

/** It is about the last code, so it goes as soon as the next one is typed. */
@Composable
private fun problem(message: CheckoutMessage, attemptsLeft: Int, code: String): String? {
    if (code.isNotEmpty()) return null
    return "${message.textIn(LocalLanguage.current)} ${stringResource(R.string.kassa_attempts_left, attemptsLeft)}"
}

/** The digits in a text, of any script. */
internal fun digitsOf(text: String): String = text.mapNotNull { it.digitToIntOrNull() }.joinToString("")
