package dev.kassa

import java.math.BigDecimal
import java.time.Instant
import dev.kassa.internal.CheckoutState as CoreCheckoutState

/**
 * The state of a checkout, for a payment screen. It is sealed, so a `when` or a `switch` over it can be exhaustive.
 *
 * ```
 * when (state) {
 *     is CheckoutState.Opening, is CheckoutState.Sending, is CheckoutState.Waiting -> spinner()
 *     is CheckoutState.Ready -> buttons(state.methods)
 *     is CheckoutState.EnterOtp -> codeField(state.total, state.attemptsLeft)
 *     is CheckoutState.OpenPage -> if (state.begunHere) open(state.url) else button { open(state.url) }
 *     is CheckoutState.ShowQr -> picture(QrCode.encode(state.text).png())
 *     is CheckoutState.Paid -> thanks(state.amount, state.currency)
 *     is CheckoutState.NotPaid, is CheckoutState.PersonNeeded -> sorry(state.message)
 *     CheckoutState.Expired -> late()
 *     CheckoutState.TokenExpired -> checkout.renewToken(shop.newClientToken())
 * }
 * ```
 *
 * Whoever has the URL of a page can open it, so no state prints it.
 */
public sealed class CheckoutState {
    /**
     * The message for the payer beside the state, if any. One about the network stays until the problem is over, and **never means that
     * the payment failed**.
     */
    public open val message: CheckoutMessage? get() = null

    /** The payment methods that can be started in this state. */
    public open val methods: List<PaymentMethod> get() = emptyList()

    /** True only for [Paid]: the state is final. */
    public val isPaid: Boolean get() = this is Paid

    /** The state's name, the same in every language, such as `enter_otp`. */
    public val kind: String
        get() = when (this) {
            is Opening -> "opening"
            is Ready -> "ready"
            is Sending -> "sending"
            is EnterOtp -> "enter_otp"
            is OpenPage -> "open_page"
            is ShowQr -> "show_qr"
            is Waiting -> "waiting"
            is Paid -> "paid"
            is NotPaid -> "not_paid"
            is PersonNeeded -> "person_needed"
            Expired -> "expired"
            TokenExpired -> "token_expired"
        }

    /**
     * The server has not answered yet.
     *
     * @property message the reason, if there is a problem
     */
    public data class Opening @JvmOverloads constructor(override val message: CheckoutMessage? = null) : CheckoutState()

    /**
     * The payer chooses a payment method.
     *
     * @property methods the payment methods. The list may be empty
     * @property message the result of the last attempt, if any
     * @property canKeepMethod true while the payer chooses again although a payment is open: [Checkout.keepMethod] goes back to it
     */
    public data class Ready @JvmOverloads constructor(
        override val methods: List<PaymentMethod>,
        override val message: CheckoutMessage? = null,
        public val canKeepMethod: Boolean = false,
    ) : CheckoutState()

    /**
     * The payer's action is being sent. No other action is possible meanwhile.
     *
     * @property message the problem, if any
     */
    public data class Sending @JvmOverloads constructor(override val message: CheckoutMessage? = null) : CheckoutState()

    /**
     * The payer enters the code from a message, the one-time password of the mobile bank or the PIN of a MegaPay wallet:
     * [Checkout.confirm]. **Entering the code accepts the total**: show [CheckoutTexts.cost] above the field.
     *
     * Amounts are compared by value: 100.10 equals 100.1.
     *
     * @property method the payment method that is confirmed
     * @property attemptsLeft how many attempts are left
     * @property message why the last code was not accepted, if any was tried
     * @property phoneLast2 the last two digits of the phone that the code went to, if the server's response has them
     * @property commission what the payer pays in addition to the amount, in units of the currency, if the gateway's response has a
     *   commission
     * @property total what the payer pays in all, if the gateway's response has a commission
     * @property codeExpiresAt until when the code is valid, by the server's clock, if the gateway's response says so
     * @property canChangeMethod whether the payer can choose another number or payment method: [Checkout.changeMethod]
     */
    public data class EnterOtp @JvmOverloads constructor(
        public val method: PaymentMethod,
        public val attemptsLeft: Int,
        override val message: CheckoutMessage? = null,
        public val phoneLast2: String? = null,
        public val commission: BigDecimal? = null,
        public val total: BigDecimal? = null,
        public val codeExpiresAt: Instant? = null,
        public val canChangeMethod: Boolean = false,
    ) : CheckoutState() {
        private fun compared() = listOf(
            method, attemptsLeft, message, phoneLast2, commission.byValue(), total.byValue(), codeExpiresAt, canChangeMethod,
        )

        override fun equals(other: Any?): Boolean = other is EnterOtp && compared() == other.compared()

        override fun hashCode(): Int = compared().hashCode()
    }

    /**
     * The payer pays, or confirms a card payment (3DS), on a page of the gateway.
     *
     * @property url the page: https, or loopback. It is not printed
     * @property begunHere true if an action of this object led here: open the page at once. False after the app was killed, or if another
     *   device began: show a button that opens it
     * @property methods other payment methods that can be started instead
     * @property message the result of another attempt
     */
    public data class OpenPage @JvmOverloads constructor(
        public val url: String,
        public val begunHere: Boolean,
        override val methods: List<PaymentMethod> = emptyList(),
        override val message: CheckoutMessage? = null,
    ) : CheckoutState() {
        /** Masks what would let a reader open the payment. */
        override fun toString(): String =
            "OpenPage(url=***, begunHere=$begunHere, methods=$methods, message=$message)"
    }

    /**
     * The payer scans a code with a bank's app: draw the text with [QrCode]. On the phone itself, open the text if it is a link.
     *
     * @property text the text of the code. It is not printed
     * @property message a problem, or the result of the last action
     * @property canChangeMethod whether the payer can choose another payment method: [Checkout.changeMethod]. **An abandoned code can
     *   still be paid**, so warn a payer who may have paid with it
     */
    public data class ShowQr @JvmOverloads constructor(
        public val text: String,
        override val message: CheckoutMessage? = null,
        public val canChangeMethod: Boolean = false,
    ) : CheckoutState() {
        /** Masks what would let a reader open the payment. */
        override fun toString(): String = "ShowQr(text=***, message=$message, canChangeMethod=$canChangeMethod)"
    }

    /**
     * The payer has done everything; the gateway is polled for the result.
     *
     * @property pageUrl the page that the payer came back from, for a button that opens it again. It is not printed
     * @property methods other payment methods that can be started instead
     * @property message what is known, or the problem
     */
    public data class Waiting @JvmOverloads constructor(
        public val pageUrl: String? = null,
        override val methods: List<PaymentMethod> = emptyList(),
        override val message: CheckoutMessage? = null,
    ) : CheckoutState() {
        /** Masks what would let a reader open the payment. */
        override fun toString(): String = "Waiting(pageUrl=${pageUrl?.let { "***" }}, methods=$methods, message=$message)"
    }

    /**
     * **Paid**, by the gateway's report to the merchant's server. Final.
     *
     * Amounts are compared by value: 100.10 equals 100.1.
     *
     * @property amount what was paid, in units of the currency
     * @property currency the currency's three letters
     */
    public data class Paid(public val amount: BigDecimal, public val currency: String) : CheckoutState() {
        private fun compared() = listOf(amount.byValue(), currency)

        override fun equals(other: Any?): Boolean = other is Paid && compared() == other.compared()

        override fun hashCode(): Int = compared().hashCode()
    }

    /**
     * Not paid, and it can no longer be paid.
     *
     * @property reason why not; the same as [message]
     */
    public data class NotPaid(public val reason: CheckoutMessage) : CheckoutState() {
        override val message: CheckoutMessage get() = reason
    }

    /**
     * The merchant's staff must find out what happened to the money. **The payer must not pay again.**
     *
     * @property message the message for the payer
     */
    public data class PersonNeeded(override val message: CheckoutMessage) : CheckoutState()

    /** Nobody paid in time. */
    public data object Expired : CheckoutState()

    /** The client token has expired, and no new one was given ([Checkout.renewToken]). **It says nothing about the money.** */
    public data object TokenExpired : CheckoutState()

    /** The states without fields, for Java. */
    public companion object {
        /** [Expired], for Java. */
        @JvmStatic
        public fun expired(): CheckoutState = Expired

        /** [TokenExpired], for Java. */
        @JvmStatic
        public fun tokenExpired(): CheckoutState = TokenExpired
    }
}

internal fun CoreCheckoutState.toKassa(): CheckoutState = when (this) {
    is CoreCheckoutState.Opening -> CheckoutState.Opening(message?.toKassa())
    is CoreCheckoutState.Ready -> CheckoutState.Ready(methods.toKassa(), message?.toKassa(), canKeepMethod)
    is CoreCheckoutState.Sending -> CheckoutState.Sending(message?.toKassa())
    is CoreCheckoutState.EnterOtp -> CheckoutState.EnterOtp(
        method.toKassa(), attemptsLeft.toInt(), message?.toKassa(), phoneLast2, commission, total, codeExpiresAt, canChangeMethod,
    )
    is CoreCheckoutState.OpenPage -> CheckoutState.OpenPage(url, begunHere, methods.toKassa(), message?.toKassa())
    is CoreCheckoutState.ShowQr -> CheckoutState.ShowQr(text, message?.toKassa(), canChangeMethod)
    is CoreCheckoutState.Waiting -> CheckoutState.Waiting(pageUrl, methods.toKassa(), message?.toKassa())
    is CoreCheckoutState.Paid -> CheckoutState.Paid(amount, currency)
    is CoreCheckoutState.NotPaid -> CheckoutState.NotPaid(reason.toKassa())
    is CoreCheckoutState.PersonNeeded -> CheckoutState.PersonNeeded(message.toKassa())
    is CoreCheckoutState.Expired -> CheckoutState.Expired
    is CoreCheckoutState.TokenExpired -> CheckoutState.TokenExpired
}
