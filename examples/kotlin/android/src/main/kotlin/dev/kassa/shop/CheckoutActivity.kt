package dev.kassa.shop

import android.app.Activity
import android.content.ActivityNotFoundException
import android.content.Intent
import android.net.Uri
import android.os.Bundle
import android.view.WindowManager.LayoutParams.FLAG_SECURE
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.MainScope
import kotlinx.coroutines.cancel
import kotlinx.coroutines.launch

/** Sells a jar of honey, by card or by QR code. There is nothing to save in its instance state: the journal knows it. */
class CheckoutActivity : Activity() {
    private val drawing = MainScope()
    private lateinit var view: CheckoutView

    /** What is under way stays under way when the screen is turned. There is no checkout until Kassa is loaded. */
    private class Kept(val scope: CoroutineScope, val checkout: Checkout)

    private var kept: Kept? = null

    override fun onCreate(savedInstanceState: Bundle?) {
        super.onCreate(savedInstanceState)
        // Card numbers are kept out of screenshots and of the list of recent apps.
        window.addFlags(FLAG_SECURE)
        view = CheckoutView(this, PRICE)
        setContentView(view.root)
        drawing.launch { begin(lastNonConfigurationInstance as? Kept ?: newCheckout()) }
    }

    private suspend fun newCheckout(): Kept {
        val gateway = (application as ShopApplication).gateway.await()
        return MainScope().let { Kept(it, Checkout(gateway, it)) }
    }

    private suspend fun begin(kept: Kept) {
        this.kept = kept
        view.onPayByCard = kept.checkout::payByCard
        view.onPayByQr = kept.checkout::payByQr
        view.onOpenPage = ::open
        view.onAskAgain = kept.checkout::cameBack
        kept.checkout.screen.collect(view::show)
    }

    /** The payer comes back, by the deep link or by whatever way. */
    override fun onResume() {
        super.onResume()
        kept?.checkout?.cameBack()
    }

    override fun onRetainNonConfigurationInstance(): Any? = kept

    override fun onDestroy() {
        super.onDestroy()
        drawing.cancel()
        if (!isChangingConfigurations) kept?.scope?.cancel()
    }

    /** In the browser, where the payer sees whose page it is; never in a view of the app's own. */
    private fun open(page: String) = try {
        startActivity(Intent(Intent.ACTION_VIEW, Uri.parse(page)))
    } catch (_: ActivityNotFoundException) {
        view.tell("This phone has no browser. Open $page on another one")
    }
}
