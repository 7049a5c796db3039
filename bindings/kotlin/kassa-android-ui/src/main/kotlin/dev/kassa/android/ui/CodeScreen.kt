package dev.kassa.android.ui

import androidx.compose.material3.MaterialTheme
import androidx.compose.runtime.Composable
import androidx.compose.ui.unit.sp
import dev.kassa.CheckoutState
import dev.kassa.MessageTopic
import dev.kassa.Rule

/** As many as the server takes. */
private const val LONGEST = 12

/** The field for the one-time password or PIN. Entering it accepts the total. */
@Composable
internal fun CodeScreen(state: CheckoutState.EnterOtp, said: StateTexts, typed: Typed, actions: Actions) {
    val labels = LocalLabels.current
    val isAboutCode = state.message?.topic in ABOUT_CODE
    // A message about the last code goes as soon as the next one is typed.
    val refused = if (isAboutCode && typed.code.isEmpty()) said.notice?.let { textOf(it) } else null
    val isTyped = typed.code.isNotEmpty()
    val isShort = typed.violations.any { it.field == "otp" && it.rule == Rule.LENGTH }
    // The explanation counts the attempts that are left.
    Screen(
        said.texts.title,
        notice = said.notice.takeUnless { isAboutCode },
        explanation = said.texts.explanation,
        isExplanationTold = true,
    ) {
        said.texts.cost?.let { Cost(it) }
        Field(
            FieldKind.CODE,
            labels.code,
            typed.code,
            onChange = {
                typed.code = digitsOf(it).take(LONGEST)
                typed.violations = emptyList()
            },
            problem = if (isShort) labels.codeShort else typed.violations.about("otp") ?: refused,
            style = MaterialTheme.typography.headlineSmall.copy(letterSpacing = 4.sp),
            onDone = { if (isTyped) actions.confirm() },
        )
        MainButton(labels.confirm, isTyped, actions::confirm)
        if (state.canChangeMethod) {
            QuietButton(labels.otherNumber, actions::changeMethod)
            Note(labels.otherNumberHint)
        }
    }
}

private val ABOUT_CODE = setOf(MessageTopic.CODE_REFUSED, MessageTopic.CODE_NOT_SENT)

private fun textOf(notice: Notice): String = listOfNotNull(notice.text, notice.reason).joinToString(" ")

/** The digits in a text, of any script. */
internal fun digitsOf(text: String): String = text.mapNotNull { it.digitToIntOrNull() }.joinToString("")
