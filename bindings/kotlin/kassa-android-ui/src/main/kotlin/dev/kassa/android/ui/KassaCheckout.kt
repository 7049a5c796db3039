package dev.kassa.android.ui

import android.content.Context
import android.content.Intent
import androidx.activity.result.contract.ActivityResultContract
import androidx.annotation.FontRes
import dev.kassa.Language
import dev.kassa.PaymentMethod
import kotlinx.coroutines.future.await
import java.math.BigDecimal
import java.util.Locale
import java.util.concurrent.CompletionStage
import java.util.function.Function

/** In dp. */
internal const val RADIUS = 12

/** In dp. A button of the sheet's is 52 high. */
private const val LARGEST_RADIUS = 32

/**
 * The payment sheet: it pays one checkout of the merchant's server (`kassa-server`) over the app's own screen, and returns the result.
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
 * You can launch it again with a token of the same checkout at any time, and it continues there; nothing is paid twice. **The shop
 * delivers on the server's event, never because an app says so.**
 *
 * To come back from the pages of banks by a link, see [ReturnActivity].
 */
public class KassaCheckout : ActivityResultContract<KassaCheckout.Request, KassaCheckout.Result>() {
    /** For Android, which calls it as the sheet is launched. */
    override fun createIntent(context: Context, input: Request): Intent {
        input.appearance.checkFont(context)
        return Intent(context, CheckoutActivity::class.java).putExtras(input.toBundle())
    }

    /** For Android, which calls it as the sheet is closed. What cannot be read is [Result.StillOpen]: it says nothing about the money. */
    override fun parseResult(resultCode: Int, intent: Intent?): Result = resultOf(intent?.extras)

    /**
     * Which checkout is paid, and how its sheet looks. A value that cannot work is an [IllegalArgumentException] that names it, here, or
     * for [Appearance.font] as the sheet is launched. Whether server and token are good, the sheet finds out.
     *
     * @property serverUrl the server's address: https, or http to a loopback address
     * @property clientToken the client token that the shop's back end got from the server for this checkout, `ct_…`
     * @property reference the app's own name of the order, such as its number: what [renewTokensBy] is called with. It is shown nowhere
     * @property title the shop's name, above the amount; "Payment" unless given
     * @property language the language of the sheet; by default that of the app's screen
     * @property phone the payer's phone, if the shop knows it: it is prefilled where a method asks for one, and the payer can change
     *   it. At most 100 characters
     * @property method the method that the payer has chosen in the shop. Its form is shown at once, if it has one and can be started;
     *   "back" leads to the list of methods. **No payment starts without a tap**, so a method without a form is shown in the list
     * @property appearance of the sheet
     */
    public class Request @JvmOverloads constructor(
        public val serverUrl: String,
        public val clientToken: String,
        public val reference: String = "",
        public val title: String? = null,
        public val language: Language? = null,
        public val phone: String? = null,
        public val method: PaymentMethod? = null,
        public val appearance: Appearance = Appearance(),
    ) {
        init {
            require((phone?.length ?: 0) <= LONGEST_SAVED) { "phone has ${phone?.length} characters, and may have $LONGEST_SAVED" }
        }

        /** Everything but the token and the phone. */
        override fun toString(): String =
            "Request(serverUrl=$serverUrl, clientToken=***, reference=$reference, title=$title, language=$language, " +
                "phone=${phone?.let { "***" }}, method=$method, appearance=$appearance)"
    }

    /**
     * How the sheet looks. A value that cannot work is an [IllegalArgumentException] that names it.
     *
     * ```
     * KassaCheckout.Appearance(accentColour = 0xFF6B2FA0.toInt(), cornerRadius = 4, font = R.font.inter)
     * ```
     *
     * @property theme light, dark, or as the system is
     * @property accentColour the colour of buttons, as an Android colour (`0xFF1F4F8F.toInt()`), always opaque; by default Kassa's blue.
     *   Fields and the spinner use it, too, if it contrasts with the sheet's background
     * @property onAccentColour the colour of text on it, with a contrast of at least 3 to 1 (better 4.5 to 1); by default black or white,
     *   whichever is more readable
     * @property cornerRadius of buttons, fields and messages in dp, from 0 to 32; the sheet's own is a little larger. It is 12 unless given
     * @property font the app's own, `R.font.…`; that of the system unless given
     */
    public class Appearance @JvmOverloads constructor(
        public val theme: Theme = Theme.SYSTEM,
        public val accentColour: Int? = null,
        public val onAccentColour: Int? = null,
        public val cornerRadius: Int = RADIUS,
        @get:FontRes public val font: Int? = null,
    ) {
        init {
            require(cornerRadius in 0..LARGEST_RADIUS) { "cornerRadius is $cornerRadius, and may be 0 to $LARGEST_RADIUS (dp)" }
            if (onAccentColour != null) {
                requireNotNull(accentColour) { "onAccentColour is given, and accentColour, which it stands upon, is not" }
                val contrast = contrast(opaque(accentColour), opaque(onAccentColour))
                require(contrast >= LEAST_CONTRAST) { "onAccentColour cannot be read upon accentColour: a contrast of $contrast, under 3" }
            }
        }

        /** All of it. */
        override fun toString(): String =
            "Appearance(theme=$theme, accentColour=${hex(accentColour)}, onAccentColour=${hex(onAccentColour)}, " +
                "cornerRadius=$cornerRadius, font=$font)"

        private fun hex(colour: Int?) = colour?.let { "#%08x".format(Locale.ROOT, it) }
    }

    /** Whether the sheet is light or dark. */
    public enum class Theme {
        /** As the system is. */
        SYSTEM,

        /** Always light. */
        LIGHT,

        /** Always dark. */
        DARK,
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
         * Not paid, and no payment was open when the sheet was closed: the payer left before starting one, or none can be made any more.
         * While the checkout is open, you can launch the sheet again.
         */
        public data object NotPaid : Result()

        /**
         * **Money may still move**, or the outcome is unknown: a payment was started, or the server could not be reached. Launch the
         * sheet again, or wait for the server's event.
         */
        public data object StillOpen : Result()

        /** The merchant's staff must find out what happened to the money. The payer must not pay again. */
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
         * @param renewToken called with the [Request.reference], on `Dispatchers.Default`; if it throws, the payer sees that the shop
         *   cannot be reached, and it is called again later
         */
        public fun renewTokensBy(renewToken: suspend (reference: String) -> String) {
            renewal = renewToken
        }

        /**
         * The same for Java, with a future instead of a suspend function.
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
