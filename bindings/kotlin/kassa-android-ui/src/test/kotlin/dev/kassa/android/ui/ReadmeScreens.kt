package dev.kassa.android.ui

import androidx.compose.foundation.layout.Column
import androidx.compose.material3.Button
import androidx.compose.material3.Text
import androidx.compose.material3.TextField
import androidx.compose.runtime.Composable
import androidx.lifecycle.SavedStateHandle
import androidx.lifecycle.ViewModel
import dev.kassa.Checkout
import dev.kassa.Language
import dev.kassa.PaymentMethod

/** What the README's programs have beside what they show. */
class User(val phone: String)
class Shop(val newClientToken: () -> String)
private val shop = Shop { error("no shop") }

/** A shop's request, with a font among the shop's own resources. */
object Dressed {
    private object R {
        object font {
            const val inter = 1
        }
    }

    fun requestOf(order: Order, user: User): KassaCheckout.Request =
        KassaCheckout.Request(
            order.serverUrl, order.clientToken, order.number, title = "Honey", phone = user.phone, method = PaymentMethod.MBANK,
            appearance = KassaCheckout.Appearance(
                theme = KassaCheckout.Theme.LIGHT, accentColour = 0xFF6B2FA0.toInt(), onAccentColour = 0xFFFFFFFF.toInt(),
                cornerRadius = 4, font = R.font.inter,
            ),
        )
}

class Analytics(val log: (String) -> Unit)

fun listen(analytics: Analytics) {
    KassaCheckoutEvents.listener = KassaCheckoutEvents.Listener { event -> analytics.log("checkout_${event.name}") }
}

class PaymentViewModel(url: String, token: String, saved: SavedStateHandle) : ViewModel() {
    val payment = CheckoutModel(Checkout.open(url, token) { shop.newClientToken() }, Language.KYRGYZ, saved)
    override fun onCleared() = payment.close()
}

@Composable
fun PhoneForm(payment: CheckoutModel) = Column {
    Text(payment.texts.title)
    TextField(payment.phone, { payment.phone = it }, label = { Text(payment.labels.phone) })
    Text(payment.errorOf(CheckoutField.PHONE) ?: payment.phoneHint)
    Button(payment::pay) { Text(payment.payText) }
}
