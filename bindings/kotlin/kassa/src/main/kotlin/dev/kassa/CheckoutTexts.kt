package dev.kassa

import dev.kassa.internal.checkoutTexts
import java.math.BigDecimal
import dev.kassa.internal.CheckoutMessage as CoreCheckoutMessage
import dev.kassa.internal.CheckoutState as CoreCheckoutState
import dev.kassa.internal.CheckoutTexts as CoreCheckoutTexts
import dev.kassa.internal.MessageTopic as CoreMessageTopic
import dev.kassa.internal.PaymentMethod as CorePaymentMethod

/**
 * What a payment screen says about its state, in one language.
 *
 * ```
 * CheckoutTexts.of(CheckoutState.Expired, mayHavePaid = false, Language.ENGLISH).title // The time to pay is over
 * ```
 *
 * @property title what it is about, in a few words
 * @property explanation what the payer does now, or what it means for their money; null where the title says it
 * @property message what became of the last try, or what is in the way
 * @property reason more words about that, as they came from gateway or server, in any language. What is told for developers is not among
 *   them
 */
public data class CheckoutTexts @JvmOverloads constructor(
    public val title: String,
    public val explanation: String? = null,
    public val message: String? = null,
    public val reason: String? = null,
) {
    /** Has them of a state. */
    public companion object {
        /**
         * What the screen says of a state.
         *
         * @param mayHavePaid true where something that the payer was shown can still be paid: a page whose checkout has ended, or a QR code
         *   that was left for another way to pay. **Then they are not told to order again without a warning**
         */
        @JvmStatic
        public fun of(state: CheckoutState, mayHavePaid: Boolean, language: Language): CheckoutTexts =
            calling { checkoutTexts(saidOf(state), mayHavePaid, language.toCore()).toKassa() }
    }
}

private fun CoreCheckoutTexts.toKassa() = CheckoutTexts(title, explanation, message, reason)

/** As much of a state as its texts depend on. The rest may be what cannot be handed on. */
private fun saidOf(state: CheckoutState): CoreCheckoutState = when (state) {
    is CheckoutState.Opening -> CoreCheckoutState.Opening(saidOf(state.message))
    is CheckoutState.Ready -> CoreCheckoutState.Ready(toCore(state.methods), saidOf(state.message), state.canKeepMethod)
    is CheckoutState.Sending -> CoreCheckoutState.Sending(saidOf(state.message))
    is CheckoutState.EnterOtp -> CoreCheckoutState.EnterOtp(
        state.attemptsLeft.coerceAtLeast(0).toUInt(), saidOf(state.message), state.phoneLast2?.takeIf(::isUnicode), state.canChangeMethod,
    )
    is CheckoutState.OpenPage -> CoreCheckoutState.OpenPage("", state.begunHere, toCore(state.methods), saidOf(state.message))
    is CheckoutState.ShowQr -> CoreCheckoutState.ShowQr("", saidOf(state.message), state.canChangeMethod)
    is CheckoutState.Waiting -> CoreCheckoutState.Waiting(null, toCore(state.methods), saidOf(state.message))
    is CheckoutState.Paid -> CoreCheckoutState.Paid(BigDecimal.ZERO, "")
    is CheckoutState.NotPaid -> CoreCheckoutState.NotPaid(state.reason.toCore())
    is CheckoutState.PersonNeeded -> CoreCheckoutState.PersonNeeded(state.message.toCore())
    CheckoutState.Expired -> CoreCheckoutState.Expired
    CheckoutState.TokenExpired -> CoreCheckoutState.TokenExpired
}

private fun saidOf(message: CheckoutMessage?) = message?.toCore()

private fun CheckoutMessage.toCore() = CoreCheckoutMessage(CoreMessageTopic.valueOf(topic.name), reason?.takeIf(::isUnicode))

private fun toCore(methods: List<PaymentMethod>) = methods.map { CorePaymentMethod.valueOf(it.name) }
