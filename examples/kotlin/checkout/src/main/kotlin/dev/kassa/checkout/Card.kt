package dev.kassa.checkout

import dev.kassa.Card
import dev.kassa.CardPayment
import dev.kassa.Kassa
import dev.kassa.NextStep
import dev.kassa.PaymentException
import java.math.BigDecimal

/** Takes a card payment in som: `checkout card 100.10`. Handling card numbers puts you under PCI DSS. */
fun main(arguments: Array<String>) = checkout { gateway ->
    val payment = CardPayment(
        orderNumber = Kassa.newOrderNumber(),
        description = "Two coffees",
        amount = BigDecimal(arguments[0]),
        currency = "KGS",
        card = card(),
        language = "en",
        callbackUrl = setting("KASSA_CALLBACK_URL", "http://127.0.0.1:8500/callbacks"),
        ip = "203.0.113.7", // the payer's
    )
    try {
        val next = gateway.createCardPayment(payment).nextStep
        if (next is NextStep.OpenConfirmation) println("open: ${next.url}") // the payer confirms it there
    } catch (error: PaymentException.OutcomeUnknown) {
        println(error.message) // it may have been charged: query it, and never send it again
    }
    end(gateway, payment.paymentRef())
}

/** Not from the command line, which every user of the machine can read. */
private fun card() = Card(
    pan = setting("KASSA_CARD_PAN", ""),
    expiryMonth = setting("KASSA_CARD_EXPIRY_MONTH", "12"),
    expiryYear = setting("KASSA_CARD_EXPIRY_YEAR", "2099").toInt(),
    cvc = setting("KASSA_CARD_CVC", ""),
    holderName = setting("KASSA_CARD_NAME", "Aibek Usenov"),
)
