package dev.kassa.shop

import android.app.Activity
import android.content.ActivityNotFoundException
import android.content.Intent
import android.net.Uri
import android.os.Bundle
import android.view.WindowManager.LayoutParams.FLAG_SECURE
import kotlinx.coroutines.MainScope
import kotlinx.coroutines.cancel
import kotlinx.coroutines.launch
import java.math.BigDecimal

/** The deep link that the manifest names. The gateway adds what it has to say. */
const val RETURN_URL = "kassa-shop://paid/"

private const val SAVED_PAYMENT = "payment"
private val PRICE = BigDecimal("250.00")

/** Sells a jar of honey, by card or by QR code. What it knows is in a [PaymentHolder]. */
class CheckoutActivity : Activity() {
    private val drawing = MainScope()
    private lateinit var view: CheckoutView

    // There is none until Kassa is loaded. What was saved for it is kept until then.
    private var holder: PaymentHolder? = null
    private var saved: String? = null

    override fun onCreate(savedInstanceState: Bundle?) {
        super.onCreate(savedInstanceState)
        // Card numbers are kept out of screenshots and of the list of recent apps.
        window.addFlags(FLAG_SECURE)
        view = CheckoutView(this, PRICE)
        setContentView(view.root)
        saved = savedInstanceState?.getString(SAVED_PAYMENT)
        val kept = lastNonConfigurationInstance as? PaymentHolder
        if (kept != null) begin(kept) else drawing.launch { begin(newHolder()) }
    }

    private fun begin(holder: PaymentHolder) {
        this.holder = holder
        view.onPayByCard = { holder.payByCard(it) }
        view.onPayByQr = { holder.payByQr() }
        view.onOpenPage = ::open
        view.onAskAgain = { holder.askAgain() }
        drawing.launch { holder.screen.collect(view::show) }
        intent.data?.let { holder.cameBack("$it") }
    }

    /** The payer comes back by the deep link, and the app was still there. */
    override fun onNewIntent(intent: Intent) {
        super.onNewIntent(intent)
        setIntent(intent)
        holder?.cameBack(intent.dataString)
    }

    /** The payer comes back, by whatever way. */
    override fun onResume() {
        super.onResume()
        holder?.cameBack()
    }

    override fun onSaveInstanceState(outState: Bundle) {
        super.onSaveInstanceState(outState)
        outState.putString(SAVED_PAYMENT, holder.let { if (it == null) saved else it.saved })
    }

    /** The screen was turned: what is under way stays under way. */
    override fun onRetainNonConfigurationInstance(): Any? = holder

    override fun onDestroy() {
        super.onDestroy()
        drawing.cancel()
        if (!isChangingConfigurations) holder?.close()
    }

    private suspend fun newHolder(): PaymentHolder {
        val shop = application as ShopApplication
        return PaymentHolder(shop.backend.await(), shop.openPayment, MainScope(), RETURN_URL, PRICE, saved)
    }

    /** In the browser, where the payer sees whose page it is; never in a view of the app's own. */
    private fun open(page: String) = try {
        startActivity(Intent(Intent.ACTION_VIEW, Uri.parse(page)))
    } catch (_: ActivityNotFoundException) {
        view.tell("This phone has no browser. Open $page on another one")
    }
}
