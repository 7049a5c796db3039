package dev.kassa.android.ui

import android.util.Log
import dev.kassa.PaymentMethod

/**
 * What payers do in the sheets of the app, for its analytics. **There is no personal data in it**, and nothing by which a payer or an order
 * could be found: no phone, no reference, no address.
 *
 * Set the listener in `Application.onCreate`: a sheet that comes back after the system ended the app has nothing else to tell.
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
 * Nothing of the payment waits for it or depends on it. **What is delivered depends on the server's event, and never on these.**
 */
public object KassaCheckoutEvents {
    /** Who is told; nobody where it is null. */
    @JvmStatic
    @Volatile
    public var listener: Listener? = null

    /** Is told what happens. */
    public fun interface Listener {
        /** It has just happened. Called on the main thread; what it throws is written to the log, and the sheet goes on. */
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
         * The payer chose a way to pay from a list. A form that is open by itself, as of the only way, was chosen by nobody.
         *
         * @property method the way to pay
         */
        public data class MethodChosen(public val method: PaymentMethod) : Event() {
            override val name: String get() = "method_chosen"
        }

        /** A page of the gateway's was opened in a browser, for the first time or again. */
        public data object PageOpened : Event() {
            override val name: String get() = "page_opened"
        }

        /**
         * The sheet was closed. Where the system ends the app with the sheet, and the payer does not come back, it is not told.
         *
         * @property result what the app got for an answer
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
