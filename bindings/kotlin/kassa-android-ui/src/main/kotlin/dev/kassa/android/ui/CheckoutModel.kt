package dev.kassa.android.ui

import androidx.annotation.MainThread
import androidx.compose.runtime.Stable
import androidx.compose.runtime.derivedStateOf
import androidx.compose.runtime.getValue
import androidx.compose.runtime.mutableStateOf
import androidx.compose.runtime.setValue
import androidx.lifecycle.SavedStateHandle
import dev.kassa.BankLink
import dev.kassa.CardBrand
import dev.kassa.CardInput
import dev.kassa.Checkout
import dev.kassa.CheckoutDetails
import dev.kassa.CheckoutLabels
import dev.kassa.CheckoutState
import dev.kassa.CheckoutTexts
import dev.kassa.Elqr
import dev.kassa.FieldState
import dev.kassa.Kassa
import dev.kassa.Language
import dev.kassa.PaymentException
import dev.kassa.PaymentMethod
import dev.kassa.QrCode
import dev.kassa.Rule
import dev.kassa.Violation
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.SupervisorJob
import kotlinx.coroutines.cancel
import kotlinx.coroutines.launch

internal const val IS_AWAY = "dev.kassa.is_away"
private const val SEEN = "dev.kassa.seen_payments"
private const val IS_BEGUN = "dev.kassa.is_begun"

/** Banks send at least so many characters. Sent, a code that is shorter would use up a try. */
private const val SHORTEST_CODE = 4

/**
 * The state and input of a payment screen, without its UI: it takes a checkout of the merchant's server from the choice of a method to
 * its result. The sheet of [KassaCheckout] uses one; a Compose screen of your own reads its properties and recomposes when one changes.
 * Only the sheet reports [KassaCheckoutEvents].
 *
 * ```
 * class PaymentViewModel(url: String, token: String, saved: SavedStateHandle) : ViewModel() {
 *     val payment = CheckoutModel(Checkout.open(url, token) { shop.newClientToken() }, Language.KYRGYZ, saved)
 *     override fun onCleared() = payment.close()
 * }
 *
 * @Composable
 * fun PhoneForm(payment: CheckoutModel) = Column {
 *     Text(payment.texts.title)
 *     TextField(payment.phone, { payment.phone = it }, label = { Text(payment.labels.phone) })
 *     Text(payment.errorOf(CheckoutField.PHONE) ?: payment.phoneHint)
 *     Button(payment::pay) { Text(payment.payText) }
 * }
 * ```
 *
 * It polls the checkout until [close]. Actions return at once and never throw: invalid input is not sent, and the error is shown at its
 * field ([errorOf]). Only [renewToken], which takes a text of the app, can throw. **Use it only on the main thread.**
 *
 * Card fields and code are cleared when they are sent, when the state no longer needs them, and after [close]; **they are never saved**.
 *
 * @param checkout a checkout that nothing else acts on; it is closed with the model
 * @param language the payer's language
 * @param saved the view model's saved state: it keeps the phone, the chosen method, and whether something that was shown can still be
 *   paid, if the system ends the app
 * @param phone the payer's phone, if the shop knows it
 * @param method the method that was chosen in the shop: preselected once if no payment is open
 */
@Stable
public class CheckoutModel @JvmOverloads @MainThread constructor(
    private val checkout: Checkout,
    language: Language,
    private val saved: SavedStateHandle = SavedStateHandle(),
    phone: String? = null,
    method: PaymentMethod? = null,
) : AutoCloseable {
    internal val typed = Typed(saved).also { it.begin(phone) }

    private val givenMethod = method
    private val emptyCard = CardInput()
    private val scope = CoroutineScope(SupervisorJob() + Dispatchers.Main.immediate)
    private var closed: KassaCheckout.Result? = null

    /** It may be a payment from the beginning: of an earlier screen, or of another phone. */
    private var seen by mutableStateOf(saved.get<String>(SEEN).let { name -> Seen.entries.find { it.name == name } } ?: Seen.PAYMENT)

    /** The checkout's state. */
    public var state: CheckoutState by mutableStateOf(checkout.state)
        private set

    /** The checkout's details; null until the server has answered. */
    public var details: CheckoutDetails? by mutableStateOf<CheckoutDetails?>(null)
        private set

    /** The language of everything that the payer reads. */
    public var language: Language by mutableStateOf(language)

    /** Whether something that a payer was shown can still be paid, such as a QR code that they left. */
    public val mayHavePaid: Boolean get() = seen.mayHavePaid

    /** The texts for the state. */
    public val texts: CheckoutTexts by derivedStateOf { CheckoutTexts.of(state, mayHavePaid, this.language) }

    /** The words of buttons and fields. */
    public val labels: CheckoutLabels by derivedStateOf { CheckoutLabels.of(this.language) }

    /** The amount, such as `390,50 сом`; null until the server has answered. */
    public val amountText: String? by derivedStateOf { details?.amountText(this.language) }

    /** The pay button, with the amount as soon as it is known. */
    public val payText: String by derivedStateOf { details?.payText(this.language) ?: labels.pay }

    /** The QR code to draw; null if the state has none, or its text is too long. */
    public val qrCode: QrCode? by derivedStateOf { (state as? CheckoutState.ShowQr)?.let { codeOf(it.text) } }

    /**
     * The hint below the phone field: to which number the code goes, normalized with [Kassa.normalizedPhone], or an example until the
     * input is a phone number. **Always show it**, so that the payer notices a mistake before the code goes to somebody else.
     */
    public val phoneHint: String by derivedStateOf { Kassa.phoneHint(typed.phone, this.language) ?: labels.phoneExample }

    init {
        show(checkout.state)
        if (saved.remove<Boolean>(IS_AWAY) == true) checkout.cameBack()
        // Takes the current state instead of the received one: an action may have changed it meanwhile.
        scope.launch { checkout.states.collect { refresh() } }
    }

    /**
     * The result if the payer closed the screen now. It does not change after [close]. It uses the core's state, because the shown one
     * may lag behind.
     */
    public val result: KassaCheckout.Result
        get() = closed ?: checkout.state.let { now -> resultOf(now, seen.after(now).mayHavePaid) }

    /** The ways to pay that can be begun now. */
    public val methods: List<PaymentMethod> get() = state.methods

    /** The method that [pay] starts: the chosen one, or the only one; null if none can be started now. */
    public val method: PaymentMethod?
        get() = typed.chosen?.takeIf { it in methods } ?: (state as? CheckoutState.Ready)?.methods?.singleOrNull()

    /** The payer chooses a way to pay. Nothing is sent. */
    public fun choose(method: PaymentMethod) {
        if (closed != null) return
        typed.chosen = method
    }

    /**
     * Pays with the chosen method and the input. If a field is invalid, nothing is sent, and [errorOf] has the error. If another payment
     * is open ([canKeepMethod]), this one replaces it.
     */
    public fun pay() {
        pay(method ?: return)
    }

    internal fun pay(method: PaymentMethod) = act {
        when (method) {
            PaymentMethod.PAY_FORM -> checkout.payByForm()
            PaymentMethod.QR -> checkout.payByQr()
            PaymentMethod.MBANK -> checkout.payByMbank(typed.phone)
            PaymentMethod.MEGAPAY -> checkout.payByMegapay(typed.phone)
            PaymentMethod.CARD -> checkout.payByCard((typed.card ?: emptyCard).card())
        }
    }

    /**
     * Confirms the payment with the entered code. Entering it accepts the total: show [CheckoutTexts.cost] above the field. A code that is
     * too short is not sent, so it uses up no attempt.
     */
    public fun confirm() {
        if (typed.code.count(Char::isLetterOrDigit) in 1 until SHORTEST_CODE) {
            typed.violations = listOf(Violation("otp", Rule.LENGTH, "$SHORTEST_CODE", "otp must have at least $SHORTEST_CODE characters"))
            return
        }
        act { checkout.confirm(typed.code) }
    }

    /**
     * Whether the payer can leave the open payment for another number or another way to pay: they typed somebody else's number, or have no
     * app that reads the code.
     */
    public val canChangeMethod: Boolean
        get() = when (val now = state) {
            is CheckoutState.EnterOtp -> now.canChangeMethod
            is CheckoutState.ShowQr -> now.canChangeMethod
            else -> false
        }

    /** The button that leaves the open payment. It is for those for whom that does not work, so it should be a quiet one. */
    public val changeMethodText: String get() = if (state is CheckoutState.ShowQr) labels.otherWay else labels.otherNumber

    /** What stands below it. */
    public val changeMethodHint: String get() = if (state is CheckoutState.ShowQr) labels.otherThanCodeHint else labels.otherNumberHint

    /** The payer chooses another number or method. Nothing is sent, and the open payment stays unchanged until [pay]. */
    public fun changeMethod(): Unit = act { checkout.changeMethod() }

    /** Whether the payer chooses again though a payment is open, and can go back to that. */
    public val canKeepMethod: Boolean get() = (state as? CheckoutState.Ready)?.canKeepMethod == true

    /** The payer goes back to the open payment. */
    public fun keepMethod(): Unit = act { checkout.keepMethod() }

    /** Whether a button that queries at once is useful: the payer may have paid, and the result is not known yet. */
    public val canCheckNow: Boolean
        get() = when (state) {
            is CheckoutState.OpenPage, is CheckoutState.ShowQr, is CheckoutState.Waiting -> true
            is CheckoutState.NotPaid, CheckoutState.Expired -> mayHavePaid
            else -> false
        }

    /** The button that queries the status at once ([checkNow]). */
    public val checkNowText: String get() = if (state is CheckoutState.Waiting) labels.checkNow else labels.havePaid

    /** The payer says that they have paid: the gateway is queried at once. With a page, this counts as the return from it. */
    public fun checkNow(): Unit = if (page == null) checkout.checkNow() else cameBack()

    /**
     * Continues with a new client token of the same checkout if the state is [CheckoutState.TokenExpired]. A text that cannot be a client
     * token is not sent, and a message says so.
     *
     * @throws PaymentException.Invalid if it contains an unpaired surrogate, which is not valid text
     */
    @Throws(PaymentException::class)
    public fun renewToken(clientToken: String) {
        checkout.renewToken(clientToken)
        refresh()
    }

    /** The page to open **now, without a tap**: the payer has just requested it. Open it, and call [pageOpened]. */
    public val pageToOpen: String? get() = (state as? CheckoutState.OpenPage)?.takeIf { it.begunHere }?.url

    /** The page that a button opens: the payer has been there, or it was begun on another device or before the app was ended. */
    public val page: String?
        get() = when (val now = state) {
            is CheckoutState.OpenPage -> now.url
            is CheckoutState.Waiting -> now.pageUrl
            else -> null
        }

    /** The button that opens the page ([page]), or opens it again if the payer has been there. */
    public val openPageText: String get() = if (state is CheckoutState.Waiting) labels.openPageAgain else labels.openPage

    /**
     * The URL that opens the QR code in a bank's app on this phone, never in a browser; null if the code is not a link that begins with
     * `https://`. If there are [bankLinks], offer those instead.
     */
    public val qrLink: String? get() = (state as? CheckoutState.ShowQr)?.text?.takeIf(::isLink)

    /**
     * The links that open an ELQR code in a bank's app on this phone: first for any bank, then one per bank. Open a link in an app, or in
     * a browser if no app handles it. Empty if the state has no code, or the code has another format or is damaged.
     */
    public val bankLinks: List<BankLink> by derivedStateOf { (state as? CheckoutState.ShowQr)?.let { bankLinksOf(it.text) }.orEmpty() }

    /**
     * The page was opened, or could not be opened: it is not opened automatically again.
     *
     * @param isAway whether the payer is there now: whatever brings the app to the front ([cameToFront]) is their return
     */
    @JvmOverloads
    public fun pageOpened(isAway: Boolean = true) {
        if (isAway) saved[IS_AWAY] = true
        checkout.pageOpened()
        refresh()
    }

    /** The payer came back from a page, by a deep link or by closing it. The link's content is not trusted, so it is not a parameter. */
    public fun cameBack() {
        saved.remove<Boolean>(IS_AWAY)
        checkout.cameBack()
        refresh()
    }

    /** The app came to the foreground (`onResume`): queries the gateway at once, and retries what waits for the network. */
    public fun cameToFront(): Unit = if (saved.get<Boolean>(IS_AWAY) == true) cameBack() else checkout.checkNow()

    /** The phone that gets the code, in any common notation. It stays as typed, pasted or autofilled. */
    public var phone: String
        get() = typed.phone
        set(text) = edit(CheckoutField.PHONE) { typed.phone = text }

    /** The code from the SMS, without the spaces that come with pasting. */
    public var code: String
        get() = typed.code
        set(text) = edit(CheckoutField.CODE) { typed.code = text.filterNot(Char::isWhitespace) }

    /** The card's number, in groups as its brand prints them. Set it to the text of the whole field, like all card fields. */
    public var cardNumber: String
        get() = card.number
        set(text) = edit(CheckoutField.CARD_NUMBER) { typed.card = card.withNumber(text) }

    /** The card's expiry, as `08/31`. */
    public var cardExpiry: String
        get() = card.expiry
        set(text) = edit(CheckoutField.CARD_EXPIRY) { typed.card = card.withExpiry(text) }

    /** The card's security code: three digits. */
    public var cardCvc: String
        get() = card.cvc
        set(text) = edit(CheckoutField.CARD_CVC) { typed.card = card.withCvc(text) }

    /** The name of the card's holder. */
    public var cardHolder: String
        get() = card.holderName
        set(text) = edit(CheckoutField.CARD_HOLDER) { typed.card = card.withHolderName(text) }

    /** The card's brand, as soon as its number shows it. */
    public val cardBrand: CardBrand get() = card.brand

    private val card: CardInput get() = typed.card ?: emptyCard

    /**
     * The error of a field, in the payer's language; null if there is none (yet). A card is validated while typing (digits,
     * check digit, expiry), everything else when it is sent.
     */
    public fun errorOf(field: CheckoutField): String? {
        val violation = typed.violations.find { fieldOf(it) == field } ?: brokenWhileTyping(field) ?: return null
        return when {
            field == CheckoutField.PHONE -> labels.phoneWrong
            field == CheckoutField.CODE && violation.rule == Rule.LENGTH -> labels.codeShort
            else -> violation.textIn(language)
        }
    }

    private fun brokenWhileTyping(field: CheckoutField): Violation? {
        val state = when (field) {
            CheckoutField.PHONE, CheckoutField.CODE -> return null
            CheckoutField.CARD_NUMBER -> card.numberState
            CheckoutField.CARD_EXPIRY -> card.expiryState
            CheckoutField.CARD_CVC -> card.cvcState
            CheckoutField.CARD_HOLDER -> card.holderNameState
        }
        return (state as? FieldState.Wrong)?.violation
    }

    /** An error that a field had when it was sent goes away as soon as somebody types there. After [close] nothing is taken. */
    private inline fun edit(field: CheckoutField, change: () -> Unit) {
        if (closed != null) return
        change()
        typed.violations = typed.violations.filterNot { fieldOf(it) == field }
    }

    /** The button that closes the screen. */
    public val closeText: String get() = if (state.isPaid) labels.done else labels.close

    /**
     * Call it when the screen closes: stops polling, and clears code and card. A payment that was sent continues at the server, and a new
     * model of the same checkout shows its state. Closing it again does nothing.
     */
    override fun close() {
        if (closed != null) return
        closed = result
        scope.cancel()
        typed.forgetSecrets()
        checkout.close()
    }

    /** The class name only. */
    override fun toString(): String = "CheckoutModel"

    /** Shows the state of now. */
    private fun refresh() {
        if (closed == null) show(checkout.state)
    }

    private fun show(next: CheckoutState) {
        seen = seen.after(next)
        saved[SEEN] = seen.name
        details = checkout.details
        // In these it is not known yet what can be begun.
        if (next !is CheckoutState.Opening && next !is CheckoutState.TokenExpired) begin(next)
        // After the end of the process the payment is open again, and nobody chooses any more.
        if (next is CheckoutState.EnterOtp || next is CheckoutState.ShowQr) typed.chosen = null
        // What was typed for one payment must not stand there at the next.
        if (next !is CheckoutState.EnterOtp) typed.code = ""
        if (PaymentMethod.CARD !in next.methods) typed.card = null
        state = next
    }

    /**
     * The way to pay that was chosen in the shop is chosen here, once: a payer who went back to the list stays there. Where a payment is
     * open, or may be, that comes first.
     */
    private fun begin(first: CheckoutState) {
        if (saved.contains(IS_BEGUN)) return
        saved[IS_BEGUN] = true
        if (typed.chosen == null && first is CheckoutState.Ready && !mayHavePaid) typed.chosen = givenMethod?.takeIf { it in first.methods }
    }

    /** What broke a rule is shown at its field. An action that came too late needs no word: the next state says what there is to do. */
    private inline fun act(action: () -> Unit) {
        if (closed != null) return
        typed.violations = emptyList()
        try {
            action()
            typed.done()
        } catch (problem: PaymentException.Invalid) {
            typed.violations = problem.violations.filter { it.rule != Rule.STATE }
        }
        refresh()
    }
}

/** A text that is too long for a code is a link at the best. */
internal fun codeOf(text: String): QrCode? = try {
    QrCode.encode(text)
} catch (_: PaymentException) {
    null
}

/** In capital letters, too: they make a smaller code. An http link can be changed on the way, so none is opened. */
internal fun isLink(text: String): Boolean = text.startsWith("https://", ignoreCase = true)

/** There are none for a damaged code, nor for one with elements that a link would leave out. */
internal fun bankLinksOf(text: String): List<BankLink> = try {
    Elqr.parse(text).bankLinks()
} catch (_: PaymentException) {
    emptyList()
}
