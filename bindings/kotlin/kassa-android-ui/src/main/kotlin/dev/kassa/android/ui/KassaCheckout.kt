package dev.kassa.android.ui

import android.content.Context
import android.content.Intent
import androidx.activity.result.contract.ActivityResultContract
import dev.kassa.Language
import kotlinx.coroutines.future.await
import java.math.BigDecimal
import java.util.concurrent.CompletionStage
import java.util.function.Function

/**
 * The payment sheet: it pays one checkout of the merchant's server (`kassa-server`) over the app's own screen, and says how it ended.
 *
 * ```
 * class CartActivity : ComponentActivity() {
 *     private val checkout = registerForActivityResult(KassaCheckout()) { result ->
 *         when (result) {
 *             is KassaCheckout.Result.Paid -> showThanks()
 *             KassaCheckout.Result.NotPaid -> showCart()
 *             KassaCheckout.Result.StillOpen, KassaCheckout.Result.PersonNeeded -> showOrder()
 *         }
 *     }
 *
 *     fun onPay(order: Order) = checkout.launch(KassaCheckout.Request(order.serverUrl, order.clientToken))
 * }
 * ```
 *
 * It can be launched again with a token of the same checkout at any time, and goes on where that stands; nothing is paid twice.
 * **The shop delivers by the server's event, never because an app says so.**
 *
 * To come back from the pages of banks by a link, see [ReturnActivity].
 */
public class KassaCheckout : ActivityResultContract<KassaCheckout.Request, KassaCheckout.Result>() {
    /** For Android, which calls it as the sheet is launched. */
    override fun createIntent(context: Context, input: Request): Intent =
        Intent(context, CheckoutActivity::class.java).putExtras(input.toBundle())

    /** For Android, which calls it as the sheet is closed. What cannot be read is [Result.StillOpen]: it says nothing about the money. */
    override fun parseResult(resultCode: Int, intent: Intent?): Result = resultOf(intent?.extras)

    /**
     * Which checkout is paid, and how its sheet looks.
     *
     * @property serverUrl the server's address: https, or http to a loopback address
     * @property clientToken what the shop's back end got from the server for this checkout, `ct_…`
     * @property reference the app's own name of the order, such as its number: what [renewTokensBy] is called with. It is shown nowhere
     * @property title the shop's name, above the amount
     * @property language of the sheet; that of the app's screen unless given
     * @property colour of its buttons, as Android writes colours (`0xFF1F4F8F.toInt()`); what stands upon it is black or white
     */
    public class Request @JvmOverloads constructor(
        public val serverUrl: String,
        public val clientToken: String,
        public val reference: String = "",
        public val title: String? = null,
        public val language: Language? = null,
        public val colour: Int? = null,
    ) {
        /** Everything but the token. */
        override fun toString(): String =
            "Request(serverUrl=$serverUrl, clientToken=***, reference=$reference, title=$title, language=$language, colour=$colour)"
    }

    /** How the checkout stood when the sheet was closed. */
    public sealed class Result {
        /**
         * Paid, by the gateway's own report to the server.
         *
         * @property amount what was paid, in units of the currency
         * @property currency the currency's three letters
         */
        public data class Paid(public val amount: BigDecimal, public val currency: String) : Result()

        /**
         * Not paid, and no payment was open when it was closed: the payer left before beginning one, or none can be made any more. As long as
         * the checkout is open, the sheet can be launched again.
         */
        public data object NotPaid : Result()

        /**
         * **Money may still move**, or nobody knows: a payment was begun, or the server could not be reached. Launch the sheet again to see,
         * or wait for the server's event.
         */
        public data object StillOpen : Result()

        /** A person of the merchant's has to find out what became of the money. The payer must not pay again. */
        public data object PersonNeeded : Result()
    }

    /** What all sheets of the app share. */
    public companion object {
        @Volatile
        internal var renewal: (suspend (reference: String) -> String)? = null

        /**
         * Gives the function that gets a new client token from the shop's back end, when the one before is not good any more (it lives
         * for 15 minutes unless the server is set up otherwise). Without it the sheet asks the payer to close it and come back.
         *
         * Give it in `Application.onCreate`: a sheet that comes back after the system ended the app has nothing else to ask.
         *
         * ```
         * class ShopApplication : Application() {
         *     override fun onCreate() {
         *         super.onCreate()
         *         KassaCheckout.renewTokensBy { order -> shop.newClientToken(order) }
         *     }
         * }
         * ```
         *
         * @param renewToken is called with the [Request.reference], on `Dispatchers.Default`; where it throws, the payer is told that
         *   the shop cannot be reached, and it is called again after a while
         */
        public fun renewTokensBy(renewToken: suspend (reference: String) -> String) {
            renewal = renewToken
        }

        /**
         * The same for Java, with a future in place of a suspend function.
         *
         * ```java
         * KassaCheckout.renewTokensBy(shop::newClientToken);
         * ```
         */
        @JvmStatic
        public fun renewTokensBy(renewToken: Function<String, out CompletionStage<String>>) {
            renewal = { reference -> renewToken.apply(reference).await() }
        }
    }
}
