package dev.kassa.checkout

import dev.kassa.Kassa
import dev.kassa.MbankPayment
import dev.kassa.PaymentException

/** Takes a mobile-bank payment of whole som: `checkout mbank 996700000001 250`. It asks for the code from the message. */
fun main(arguments: Array<String>) = checkout { gateway ->
    val (phone, amountSom) = arguments
    val payment = MbankPayment(Kassa.newOrderNumber(), phone, amountSom.toLong(), comment = "Two coffees")
    try {
        val created = gateway.createMbankPayment(payment)
        print("code: ")
        val otp = readlnOrNull() ?: return@checkout // end of input: the payment stays open
        gateway.confirmMbankPayment(created.payment, otp)
    } catch (error: PaymentException.OutcomeUnknown) {
        println(error.message) // it may have been charged: query it, and never send it again
    }
    end(gateway, payment.paymentRef())
}
