package dev.kassa.readme

import dev.kassa.*

class PaymentScreen(serverUrl: String, clientToken: String, newToken: suspend () -> String) : AutoCloseable {
    private val checkout = Checkout.open(serverUrl, clientToken, renewToken = newToken)

    suspend fun show(line: (String) -> Unit) = checkout.states.collect { state ->
        state.message?.let { line(it.textIn(Language.ENGLISH)) } // what went wrong, or what is in the way just now
        line(when (state) {
            is CheckoutState.Ready -> "How do you want to pay? ${state.methods}"
            is CheckoutState.EnterOtp -> {
                // the total that the payer accepts by entering the code
                CheckoutTexts.of(state, mayHavePaid = false, Language.ENGLISH).cost?.let(line)
                "The code from the SMS? You may try ${state.attemptsLeft} times"
            }
            is CheckoutState.OpenPage -> "Pay on this page: ${state.url}" // an app opens it by itself where state.begunHere
            is CheckoutState.ShowQr -> QrCode.encode(state.text).text()
            is CheckoutState.Opening, is CheckoutState.Sending, is CheckoutState.Waiting -> "One moment"
            is CheckoutState.Paid -> "Thank you for ${state.amount} ${state.currency}"
            is CheckoutState.NotPaid, CheckoutState.Expired, CheckoutState.TokenExpired -> "Go back to the shop"
            is CheckoutState.PersonNeeded -> "Do not pay again. The shop calls you"
        })
    }

    fun enterPhone(phone: String) = checkout.payByMbank(phone) // throws PaymentException.Invalid where it is none
    fun enterCode(code: String) = checkout.confirm(code)
    fun resume() = checkout.checkNow()
    override fun close() = checkout.close()
}
