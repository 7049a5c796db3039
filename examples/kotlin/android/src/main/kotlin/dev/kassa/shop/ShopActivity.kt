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

/** Sells a jar of honey. The app saves only the order's number; the server knows the payment's state. */
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

    /** An order that may be paid is continued, and no other one is made. */
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

    /** For the payer's eyes only. The shop delivers on the server's event. */
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
