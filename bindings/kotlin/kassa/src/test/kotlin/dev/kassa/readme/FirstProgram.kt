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
    } catch (error: PaymentException) { println(error.message) } // whether money may have moved; if so, deliverUnfinished queries the gateway
    // Everything unfinished, including payments of a crashed process. Here it waits for 15 seconds at most.
    val summary = gateway.deliverUnfinished(RecoveryPolicy(deadline = 15.seconds)) { entry ->
        println("paid: deliver ${entry.note}") // the only reason to ship; its entry is finished afterwards
    }
    println(summary) // what is left open is for the next run, or for a person
}
