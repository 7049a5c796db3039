package dev.kassa.android.ui

import androidx.activity.ComponentActivity

/** What the README's activity has beside what it shows. */
class Order(val serverUrl: String, val clientToken: String, val number: String)
private fun showThanks() = Unit
private fun showCart() = Unit
private fun showOrder() = Unit
private fun showContact() = Unit

class CartActivity : ComponentActivity() {
    private val checkout = registerForActivityResult(KassaCheckout()) { result ->
        when (result) {
            is KassaCheckout.Result.Paid -> showThanks()       // the shop delivers by the server's event, never because an app says so
            KassaCheckout.Result.NotPaid -> showCart()         // and no payment is open
            KassaCheckout.Result.StillOpen -> showOrder()      // money may still move: launch it again to see
            KassaCheckout.Result.PersonNeeded -> showContact() // the payer must not pay again
        }
    }

    fun onPay(order: Order) = checkout.launch(KassaCheckout.Request(order.serverUrl, order.clientToken, order.number))
}
