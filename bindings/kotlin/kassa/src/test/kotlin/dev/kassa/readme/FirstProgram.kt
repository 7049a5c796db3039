package dev.kassa.readme

import dev.kassa.*
import kotlin.io.path.Path

suspend fun main() = Gateway(GatewayConfig.fromEnvironment(), Journal.open(Path("payments"))).use { gateway ->
    try {
        val payment = MbankPayment(Kassa.newOrderNumber(), phone = "996555000101", amountSom = 250, comment = "Two tickets")
        val created = gateway.withNote("cart 17").createMbankPayment(payment)
        println("The code from the SMS?")
        gateway.confirmMbankPayment(created.payment, otp = readln())
    } catch (error: PaymentException) { println(error.message) } // whether money may have moved; if so, recover() asks the gateway
    gateway.recover().collect { recovered -> // everything unfinished, including payments of a crashed process
        if (recovered is Recovered.Payment && recovered.entry.state == JournalState.CHARGED) {
            println("paid: deliver ${recovered.entry.note}") // the only reason to ship
            gateway.finish(recovered.entry)
        } else println("not paid, or for a person: $recovered")
    }
}
