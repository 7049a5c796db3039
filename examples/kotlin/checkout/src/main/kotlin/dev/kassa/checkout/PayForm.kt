package dev.kassa.checkout

import dev.kassa.Kassa
import dev.kassa.PayForm
import java.math.BigDecimal

/** Creates a pay-form, on which the payer chooses a method: `checkout pay-form 100.10`. It waits until the callback is verified. */
fun main(arguments: Array<String>) = checkout { gateway ->
    Callbacks(gateway).use { callbacks ->
        // The answer has no identifier, so the form's URLs do: the id of its journal entry, which is chosen here.
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
