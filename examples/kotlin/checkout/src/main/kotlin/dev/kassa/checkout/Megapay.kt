package dev.kassa.checkout

import dev.kassa.Kassa
import dev.kassa.MegapayPayment
import dev.kassa.PaymentException
import java.math.BigDecimal

/**
 * Takes a payment from a MegaPay wallet: `checkout megapay 996755000201 250.50 7`, where 7 is the merchant's account. It shows
 * the total, then asks for the PIN from the message.
 */
fun main(arguments: Array<String>) = checkout { gateway ->
    val (phone, amount, account) = arguments
    val payment = MegapayPayment(Kassa.newOrderNumber(), BigDecimal(amount), phone, account)
    try {
        val checked = gateway.checkMegapay(payment)
        println(checked.total?.let { "total: $it som" } ?: "MegaPay may charge a commission; the amount is not known")
        print("PIN: ")
        val pin = readlnOrNull() ?: return@checkout // end of input: the payment stays open
        gateway.payByMegapay(payment, pin)
    } catch (error: PaymentException.OutcomeUnknown) {
        println(error.message) // it may have been charged: query it, and never send it again
    }
    end(gateway, payment.paymentRef())
}
