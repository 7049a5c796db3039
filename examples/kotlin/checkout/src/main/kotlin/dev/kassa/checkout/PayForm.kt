package dev.kassa.checkout

import dev.kassa.Kassa
import dev.kassa.PayForm
import java.math.BigDecimal

/** Makes a page on which the payer chooses how to pay: `checkout pay-form 100.10`. It waits until the page's callback is proved. */
fun main(arguments: Array<String>) = checkout { gateway ->
    Callbacks(gateway).use { callbacks ->
        // The answer names no payment, so the form's addresses do: by the name of its entry, which is chosen here.
        val form = PayForm(BigDecimal(arguments[0]), "Two coffees", callbacks.url, callbacks.url, entryId = Kassa.newOrderNumber())
        val payment = form.paymentRef()
        val signed = form.copy(
            callbackUrl = callbacks.key.callbackUrl(callbacks.url, payment),
            returnUrl = callbacks.key.returnUrl(callbacks.url, payment),
        )
        println("open: ${gateway.createPayForm(signed).payFormUrl}")
        callbacks.untilPaid(payment)
    }
}
