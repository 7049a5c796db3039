import androidx.activity.ComponentActivity
import dev.kassa.Language
import dev.kassa.android.ui.KassaCheckout
import dev.kassa.android.ui.KassaCheckout.Result

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
        checkout.launch(KassaCheckout.Request(serverUrl, clientToken, reference = "order-17", title = "Honey", language = Language.KYRGYZ))
    }

    @Suppress("RedundantSuspendModifier") // as a call over the network
    private suspend fun renewed(reference: String): String = "ct_$reference"
}
