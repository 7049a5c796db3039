package dev.kassa.checkout

import dev.kassa.PaymentRef
import dev.kassa.Verdict

/** Queries a payment once by its stored reference: `checkout check REFERENCE`. For a support desk, which delivers nothing. */
fun main(arguments: Array<String>) = checkout { gateway ->
    when (val verdict = gateway.check(PaymentRef.parse(arguments[0]))) {
        is Verdict.Charged -> println("charged: ${verdict.payment}")
        is Verdict.Rejected -> println("not paid: ${verdict.report.reason.orEmpty()}")
        is Verdict.Pending -> println("still pending")
        is Verdict.Mismatch, is Verdict.Unverifiable -> println("a person should look: $verdict")
    }
}
