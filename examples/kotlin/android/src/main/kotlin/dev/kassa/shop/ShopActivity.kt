package dev.kassa.shop

import android.os.Bundle
import android.widget.Button
import android.widget.LinearLayout
import android.widget.TextView
import androidx.activity.ComponentActivity
import androidx.lifecycle.lifecycleScope
import dev.kassa.android.ui.KassaCheckout
import dev.kassa.android.ui.KassaCheckout.Result
import kotlinx.coroutines.launch
import java.io.IOException

private const val ORDER = "order"
private const val MESSAGE = "message"
private const val PADDING = 48

/** Sells a jar of honey. All that is saved is the order's number: how far it is paid, the server knows. */
class ShopActivity : ComponentActivity() {
    private val backend: ShopBackend get() = (application as ShopApplication).backend
    private val checkout = registerForActivityResult(KassaCheckout(), ::show)
    private lateinit var message: TextView
    private lateinit var buy: Button

    /** The order that may be paid. */
    private var order: String? = null

    override fun onCreate(savedInstanceState: Bundle?) {
        super.onCreate(savedInstanceState)
        order = savedInstanceState?.getString(ORDER)
        message = TextView(this).apply { text = savedInstanceState?.getString(MESSAGE) ?: "A jar of honey" }
        buy = Button(this).apply { text = "Buy" }
        buy.setOnClickListener { lifecycleScope.launch { buy() } }
        setContentView(
            LinearLayout(this).apply {
                orientation = LinearLayout.VERTICAL
                fitsSystemWindows = true
                setPadding(PADDING, PADDING, PADDING, PADDING)
                addView(message)
                addView(buy)
            },
        )
    }

    /** While an order may be paid, it is gone on with, and no other is made. */
    private suspend fun buy() {
        buy.isEnabled = false
        try {
            val order = order?.let { backend.order(it) } ?: backend.order()
            this.order = order.number
            checkout.launch(KassaCheckout.Request(order.serverUrl, order.clientToken, order.number, title = "Honey"))
        } catch (_: IOException) {
            message.text = if (order == null) "The shop cannot be reached. Nothing was paid." else "The shop cannot be reached. Try again"
        } finally {
            buy.isEnabled = true
        }
    }

    /** What the payer sees. The shop delivers by the server's event, whatever the app says. */
    private fun show(result: Result) {
        message.text = when (result) {
            is Result.Paid -> "Paid: ${result.amount} ${result.currency}. Thank you"
            Result.NotPaid -> "Nothing was paid"
            Result.StillOpen -> "Your payment is on its way. Tap to see how it stands"
            Result.PersonNeeded -> "Do not pay again: the shop calls you"
        }
        if (result is Result.Paid || result is Result.NotPaid) order = null
    }

    override fun onSaveInstanceState(outState: Bundle) {
        super.onSaveInstanceState(outState)
        outState.putString(ORDER, order)
        outState.putString(MESSAGE, "${message.text}")
    }
}
