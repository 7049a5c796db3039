import androidx.activity.ComponentActivity
import dev.kassa.Language
import dev.kassa.PaymentMethod
import dev.kassa.android.ui.CheckoutField
import dev.kassa.android.ui.CheckoutModel
import dev.kassa.android.ui.KassaCheckout
import dev.kassa.android.ui.KassaCheckout.Result
import dev.kassa.android.ui.KassaCheckoutEvents

/** All of the payment sheet that an app calls. It is only compiled. */
class CartActivity : ComponentActivity() {
    private val checkout = registerForActivityResult(KassaCheckout()) { result ->
        title = when (result) {
            is Result.Paid -> "${result.amount} ${result.currency}"
            Result.NotPaid, Result.StillOpen, Result.PersonNeeded -> "$result"
        }
    }

    fun onPay(serverUrl: String, clientToken: String) {
        KassaCheckout.renewTokensBy { reference -> renewed(reference) }
        KassaCheckoutEvents.listener = KassaCheckoutEvents.Listener { event -> title = event.name }
        val appearance = KassaCheckout.Appearance(KassaCheckout.Theme.DARK, accentColour = 0xFF6B2FA0.toInt(), cornerRadius = 4)
        val request = KassaCheckout.Request(
            serverUrl, clientToken, reference = "order-17", title = "Honey", language = Language.KYRGYZ,
            phone = "0555 000 101", method = PaymentMethod.MBANK, appearance = appearance,
        )
        checkout.launch(request)
    }

    /** A screen of its own. */
    fun pay(model: CheckoutModel, phone: String) {
        model.choose(PaymentMethod.MBANK)
        model.phone = phone
        model.pay()
        title = model.errorOf(CheckoutField.PHONE) ?: model.phoneHint
    }

    @Suppress("RedundantSuspendModifier") // as a call over the network
    private suspend fun renewed(reference: String): String = "ct_$reference"
}
