package dev.kassa.android.ui

import android.util.Log
import dev.kassa.PaymentMethod

/**
 * What payers do in the sheets of the app, for its analytics. **There is no personal data in it**, and nothing by which a payer or an order
 * could be found: no phone, no reference, no address.
 *
 * Set the listener in `Application.onCreate`: a sheet that is restored after the system ended the app can only call it there.
 *
 * ```
 * class ShopApplication : Application() {
 *     override fun onCreate() {
 *         super.onCreate()
 *         KassaCheckoutEvents.listener = KassaCheckoutEvents.Listener { event -> analytics.log("checkout_${event.name}") }
 *     }
 * }
 * ```
 *
 * The payment does not wait for it or depend on it. **Deliver on the server's event, never on these.**
 */
public object KassaCheckoutEvents {
    /** The listener; null for none. */
    @JvmStatic
    @Volatile
    public var listener: Listener? = null

    /** Is told what happens. */
    public fun interface Listener {
        /** Called for each event on the main thread; an exception is logged, and the sheet continues. */
        public fun happened(event: Event)
    }

    /** Something that happened in a sheet. */
    public sealed class Event {
        /** Its name, the same in every language, such as `method_chosen`. */
        public abstract val name: String

        /** A sheet was opened: once, however often its screen is turned, or the system ends the app and brings it back. */
        public data object Opened : Event() {
            override val name: String get() = "opened"
        }

        /**
         * The payer chose a payment method from a list. A form that opens automatically, as for the only method, is not reported.
         *
         * @property method the way to pay
         */
        public data class MethodChosen(public val method: PaymentMethod) : Event() {
            override val name: String get() = "method_chosen"
        }

        /** A page of the gateway was opened in a browser, for the first time or again. */
        public data object PageOpened : Event() {
            override val name: String get() = "page_opened"
        }

        /**
         * The sheet was closed. Not reported if the system ends the app and the payer does not come back.
         *
         * @property result the result that the app got
         */
        public data class Ended(public val result: KassaCheckout.Result) : Event() {
            override val name: String get() = "ended"
        }
    }

    /** On the main thread. */
    internal fun tell(event: Event) {
        try {
            listener?.happened(event)
        } catch (problem: Exception) {
            Log.e("kassa", "the listener of KassaCheckoutEvents failed at ${event.name}", problem)
        }
    }
}
