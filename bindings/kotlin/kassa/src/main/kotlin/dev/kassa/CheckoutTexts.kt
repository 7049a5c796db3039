package dev.kassa

import dev.kassa.internal.checkoutTexts
import java.math.BigDecimal
import dev.kassa.internal.CheckoutMessage as CoreCheckoutMessage
import dev.kassa.internal.CheckoutState as CoreCheckoutState
import dev.kassa.internal.CheckoutTexts as CoreCheckoutTexts
import dev.kassa.internal.MessageTopic as CoreMessageTopic
import dev.kassa.internal.PaymentMethod as CorePaymentMethod

/**
 * The texts of a payment screen for one state, in one language.
 *
 * ```
 * CheckoutTexts.of(CheckoutState.Expired, mayHavePaid = false, Language.ENGLISH).title // The time to pay is over
 * ```
 *
 * @property title a short title
 * @property explanation what the payer should do, or what the state means for their money; null if the title is enough
 * @property cost what the payer agrees to pay by entering the code, if that is or may be more than the amount: **show it above the field
 *   for the code**
 * @property message the result of the last attempt, or the problem
 * @property reason why the gateway declined, in this language. The gateway's own words are never part of it
 */
public data class CheckoutTexts @JvmOverloads constructor(
    public val title: String,
    public val explanation: String? = null,
    public val cost: String? = null,
    public val message: String? = null,
    public val reason: String? = null,
) {
    /** Returns the texts of a state. */
    public companion object {
        /**
         * The texts for a state.
         *
         * @param mayHavePaid true if the payer was shown something that can still be paid: a page whose checkout has ended, or a QR code
         *   that was left for another method. **Then the texts do not suggest a new order without a warning**
         */
        @JvmStatic
        public fun of(state: CheckoutState, mayHavePaid: Boolean, language: Language): CheckoutTexts =
            calling { checkoutTexts(saidOf(state), mayHavePaid, language.toCore()).toKassa() }
    }
}

private fun CoreCheckoutTexts.toKassa() = CheckoutTexts(title, explanation, cost, message, reason)

/** As much of a state as its texts depend on. The rest may be what cannot be handed on. */
private fun saidOf(state: CheckoutState): CoreCheckoutState = when (state) {
    is CheckoutState.Opening -> CoreCheckoutState.Opening(saidOf(state.message))
    is CheckoutState.Ready -> CoreCheckoutState.Ready(toCore(state.methods), saidOf(state.message), state.canKeepMethod)
    is CheckoutState.Sending -> CoreCheckoutState.Sending(saidOf(state.message))
    is CheckoutState.EnterOtp -> CoreCheckoutState.EnterOtp(
        toCore(state.method), state.attemptsLeft.coerceAtLeast(0).toUInt(), saidOf(state.message), state.phoneLast2?.takeIf(::isUnicode),
        saidOf(state.commission), saidOf(state.total), null, state.canChangeMethod,
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

/** An amount that the core cannot hold is dropped; the text then says that the commission is unknown. */
private fun saidOf(amount: BigDecimal?) = amount?.takeIf(::isRepresentable)

private fun saidOf(message: CheckoutMessage?) = message?.toCore()

private fun CheckoutMessage.toCore() = CoreCheckoutMessage(CoreMessageTopic.valueOf(topic.name), null, decline?.toCore())

private fun toCore(method: PaymentMethod) = CorePaymentMethod.valueOf(method.name)

private fun toCore(methods: List<PaymentMethod>) = methods.map(::toCore)
