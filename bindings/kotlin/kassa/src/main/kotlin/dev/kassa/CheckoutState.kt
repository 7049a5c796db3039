package dev.kassa

import java.math.BigDecimal
import dev.kassa.internal.CheckoutState as CoreCheckoutState

/**
 * Where a checkout stands, which is what a payment screen shows. It is sealed, so a `when` or a `switch` over it is complete.
 *
 * ```
 * when (state) {
 *     is CheckoutState.Opening, is CheckoutState.Sending, is CheckoutState.Waiting -> spinner()
 *     is CheckoutState.Ready -> buttons(state.methods)
 *     is CheckoutState.EnterOtp -> codeField(state.attemptsLeft)
 *     is CheckoutState.OpenPage -> if (state.begunHere) open(state.url) else button { open(state.url) }
 *     is CheckoutState.ShowQr -> picture(QrCode.encode(state.text).png())
 *     is CheckoutState.Paid -> thanks(state.amount, state.currency)
 *     is CheckoutState.NotPaid, is CheckoutState.PersonNeeded -> sorry(state.message)
 *     CheckoutState.Expired -> late()
 *     CheckoutState.TokenExpired -> checkout.renewToken(shop.newClientToken())
 * }
 * ```
 *
 * Whoever has the address of a page can open it, so no state prints one.
 */
public sealed class CheckoutState {
    /**
     * What the payer reads beside the state, where there is something. One about the network is there for as long as that lasts, and **never
     * means that the payment failed**.
     */
    public open val message: CheckoutMessage? get() = null

    /** The ways to pay that can be begun here. */
    public open val methods: List<PaymentMethod> get() = emptyList()

    /** True for [Paid] alone: nothing changes any more. */
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
     * @property message why not, where something is in the way
     */
    public data class Opening @JvmOverloads constructor(override val message: CheckoutMessage? = null) : CheckoutState()

    /**
     * The payer chooses how to pay.
     *
     * @property methods the ways to pay. There may be none for which there is an action here
     * @property message what became of the last try, where there was one
     * @property canKeepMethod true while the payer chooses again though a payment is open: [Checkout.keepMethod] goes back to that
     */
    public data class Ready @JvmOverloads constructor(
        override val methods: List<PaymentMethod>,
        override val message: CheckoutMessage? = null,
        public val canKeepMethod: Boolean = false,
    ) : CheckoutState()

    /**
     * What the payer asked for is on its way. Nothing else can be asked for meanwhile.
     *
     * @property message what is in the way
     */
    public data class Sending @JvmOverloads constructor(override val message: CheckoutMessage? = null) : CheckoutState()

    /**
     * The payer enters the one-time password that the mobile bank sent: [Checkout.confirm].
     *
     * @property attemptsLeft how many passwords may still be tried
     * @property message why the last one was not taken, where there was one
     * @property phoneLast2 the last two digits of the phone that the password went to, where the server tells them
     * @property canChangeMethod whether the payer can choose another number or another way to pay: [Checkout.changeMethod]
     */
    public data class EnterOtp @JvmOverloads constructor(
        public val attemptsLeft: Int,
        override val message: CheckoutMessage? = null,
        public val phoneLast2: String? = null,
        public val canChangeMethod: Boolean = false,
    ) : CheckoutState()

    /**
     * The payer pays, or confirms a payment by card (3DS), on a page of the gateway's.
     *
     * @property url the page: https, or loopback. It is not printed
     * @property begunHere true where an action of this object led here: open it at once. False after the app was killed, or where another
     *   device began: show a button that opens it
     * @property methods other ways to pay that can be begun instead
     * @property message what became of another try
     */
    public data class OpenPage @JvmOverloads constructor(
        public val url: String,
        public val begunHere: Boolean,
        override val methods: List<PaymentMethod> = emptyList(),
        override val message: CheckoutMessage? = null,
    ) : CheckoutState() {
        /** Without what opens a payment for whoever reads it. */
        override fun toString(): String =
            "OpenPage(url=***, begunHere=$begunHere, methods=$methods, message=$message)"
    }

    /**
     * The payer scans a code with the app of a bank: draw the text with [QrCode]. On the phone itself the text, where it is a link, opens
     * that app.
     *
     * @property text the text of the code. It is not printed
     * @property message what is in the way, or what became of the last action
     * @property canChangeMethod whether the payer can choose another way to pay: [Checkout.changeMethod]. **A code that was left can
     *   still be paid**, so warn a payer who may have paid by it
     */
    public data class ShowQr @JvmOverloads constructor(
        public val text: String,
        override val message: CheckoutMessage? = null,
        public val canChangeMethod: Boolean = false,
    ) : CheckoutState() {
        /** Without what opens a payment for whoever reads it. */
        override fun toString(): String = "ShowQr(text=***, message=$message, canChangeMethod=$canChangeMethod)"
    }

    /**
     * The payer has done everything, and the gateway is asked how it ended.
     *
     * @property pageUrl the page that the payer came back from, to be opened again by a button. It is not printed
     * @property methods other ways to pay that can be begun instead
     * @property message what is known, or in the way
     */
    public data class Waiting @JvmOverloads constructor(
        public val pageUrl: String? = null,
        override val methods: List<PaymentMethod> = emptyList(),
        override val message: CheckoutMessage? = null,
    ) : CheckoutState() {
        /** Without what opens a payment for whoever reads it. */
        override fun toString(): String = "Waiting(pageUrl=${pageUrl?.let { "***" }}, methods=$methods, message=$message)"
    }

    /**
     * **Paid**, by the gateway's own report to the merchant's server. The end.
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
     * Not paid, and it cannot be paid any more.
     *
     * @property reason why; the [message], too
     */
    public data class NotPaid(public val reason: CheckoutMessage) : CheckoutState() {
        override val message: CheckoutMessage get() = reason
    }

    /**
     * What became of the money is for a person of the merchant's to find out. **The payer must not pay again.**
     *
     * @property message what the payer is told
     */
    public data class PersonNeeded(override val message: CheckoutMessage) : CheckoutState()

    /** Nobody paid in time. */
    public data object Expired : CheckoutState()

    /**
     * The client token is not good any more, and nobody gave a new one ([Checkout.renewToken]). **It says nothing about the money.**
     */
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
    is CoreCheckoutState.EnterOtp ->
        CheckoutState.EnterOtp(attemptsLeft.toInt(), message?.toKassa(), phoneLast2, canChangeMethod)
    is CoreCheckoutState.OpenPage -> CheckoutState.OpenPage(url, begunHere, methods.toKassa(), message?.toKassa())
    is CoreCheckoutState.ShowQr -> CheckoutState.ShowQr(text, message?.toKassa(), canChangeMethod)
    is CoreCheckoutState.Waiting -> CheckoutState.Waiting(pageUrl, methods.toKassa(), message?.toKassa())
    is CoreCheckoutState.Paid -> CheckoutState.Paid(amount, currency)
    is CoreCheckoutState.NotPaid -> CheckoutState.NotPaid(reason.toKassa())
    is CoreCheckoutState.PersonNeeded -> CheckoutState.PersonNeeded(message.toKassa())
    is CoreCheckoutState.Expired -> CheckoutState.Expired
    is CoreCheckoutState.TokenExpired -> CheckoutState.TokenExpired
}
