package dev.kassa.readme

import dev.kassa.*
import kotlin.io.path.Path
import kotlin.time.Duration.Companion.seconds

suspend fun main() = Gateway(GatewayConfig.fromEnvironment(), Journal.open(Path("payments"))).use { gateway ->
    try {
        val payment = MbankPayment(Kassa.newOrderNumber(), phone = "996555000101", amountSom = 250, comment = "Two tickets")
        val created = gateway.withNote("cart 17").createMbankPayment(payment)
        for (attempt in 1..3) try {
            println("The code from the SMS?")
            gateway.confirmMbankPayment(created.payment, otp = readln())
            break
        } catch (error: PaymentException.Refused) { println(error.message) } // such as a mistyped code: nothing was paid
    } catch (error: PaymentException) { println(error.message) } // whether money may have moved; if so, recover() asks the gateway
    // Everything unfinished, including payments of a crashed process. Here it waits for 15 seconds at most.
    gateway.recover(RecoveryPolicy(deadline = 15.seconds)).collect { recovered ->
        if (recovered is Recovered.Payment && recovered.entry.state == JournalState.CHARGED) {
            println("paid: deliver ${recovered.entry.note}") // the only reason to ship
            gateway.finish(recovered.entry)
        } else println("not paid, or for a person: $recovered")
    }
    gateway.unfinished().collect { println("not paid yet, or for a person; the next run asks again: $it") }
}
