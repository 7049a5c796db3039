package dev.kassa.android.ui

import androidx.compose.runtime.staticCompositionLocalOf
import dev.kassa.CheckoutLabels
import dev.kassa.CheckoutState
import dev.kassa.CheckoutTexts
import dev.kassa.MessageTopic

/** The words of buttons and fields. They are asked of the native library once for a language, and not for each drawing. */
internal val LocalLabels = staticCompositionLocalOf<CheckoutLabels> { error("there are labels within CheckoutScreen alone") }

/** What is said of a state. */
internal class StateTexts(val texts: CheckoutTexts, state: CheckoutState) {
    /** The result of the last attempt, or the problem; null if there is nothing of the kind. */
    val notice: Notice? = texts.message?.let { Notice(it, texts.reason, isCalm = state.message?.topic in CALM) }
}

/**
 * A message beside a state.
 *
 * @property reason why the gateway declined, in the payer's language
 * @property isCalm nothing is lost, such as where the network is away
 */
internal class Notice(val text: String, val reason: String?, val isCalm: Boolean)

private val CALM = setOf(
    MessageTopic.NO_NETWORK, MessageTopic.SERVER_BUSY, MessageTopic.NOT_THE_SERVER, MessageTopic.TOKEN_NOT_RENEWED,
    MessageTopic.OUTCOME_UNKNOWN, MessageTopic.WRONG_CLOCK,
)
