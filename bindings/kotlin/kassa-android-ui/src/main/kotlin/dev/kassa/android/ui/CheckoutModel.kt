package dev.kassa.android.ui

import android.util.Log
import androidx.compose.runtime.getValue
import androidx.compose.runtime.mutableStateOf
import androidx.compose.runtime.setValue
import androidx.lifecycle.SavedStateHandle
import androidx.lifecycle.ViewModel
import androidx.lifecycle.viewModelScope
import dev.kassa.Checkout
import dev.kassa.CheckoutDetails
import dev.kassa.CheckoutSettings
import dev.kassa.CheckoutState
import dev.kassa.Language
import dev.kassa.PaymentException
import dev.kassa.PaymentMethod
import dev.kassa.Rule
import dev.kassa.android.ui.KassaCheckoutEvents.Event
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.launch
import kotlinx.coroutines.withContext

private const val IS_AWAY = "is_away"
private const val SEEN = "seen_payments"
private const val IS_BEGUN = "is_begun"
private const val IS_OPENED = "is_opened"

/**
 * The checkout behind the sheet, across turns of the screen. After the end of the process it is opened again with the same token, and is
 * where it was.
 */
internal class CheckoutModel(
    private val request: KassaCheckout.Request,
    private val language: Language,
    private val saved: SavedStateHandle,
) : ViewModel(), Actions {
    val typed = Typed(saved).apply { begin(request.phone) }

    var state by mutableStateOf<CheckoutState>(CheckoutState.Opening())
        private set

    /** What is to be paid, as soon as it is known. */
    var details by mutableStateOf<CheckoutDetails?>(null)
        private set

    /** The native library is loaded, and with it the texts of the core. */
    var isOpened by mutableStateOf(false)
        private set

    /** The sheet cannot show this checkout. */
    var isUnusable by mutableStateOf(false)
        private set

    /** It may be a payment from the beginning: of an earlier sheet, or of another phone. */
    private var seen by mutableStateOf(saved.get<String>(SEEN).let { name -> Seen.entries.find { it.name == name } } ?: Seen.PAYMENT)

    /** Whether something may still be paid that a payer has seen. */
    val mayHavePaid: Boolean get() = seen.mayHavePaid

    /** What the sheet answers where it is closed now. The core's state counts: the one that is shown may be a moment behind. */
    val result: KassaCheckout.Result
        get() {
            val now = checkout?.state ?: state
            return resultOf(now, seen.after(now).mayHavePaid)
        }

    private var checkout: Checkout? = null

    init {
        if (!saved.contains(IS_OPENED)) KassaCheckoutEvents.tell(Event.Opened)
        saved[IS_OPENED] = true
        viewModelScope.launch { follow() }
    }

    /** The sheet is in front again. */
    fun cameToFront() {
        val checkout = checkout ?: return
        if (saved.remove<Boolean>(IS_AWAY) == true) checkout.cameBack() else checkout.checkNow()
    }

    /** The link was followed that brings payers back. */
    fun cameBack() {
        left()
        cameToFront()
    }

    override fun choose(method: PaymentMethod) {
        KassaCheckoutEvents.tell(Event.MethodChosen(method))
        if (method.hasForm) typed.chosen = method else pay(method)
    }

    override fun pay(method: PaymentMethod) = act {
        when (method) {
            PaymentMethod.PAY_FORM -> it.payByForm()
            PaymentMethod.QR -> it.payByQr()
            PaymentMethod.MBANK -> it.payByMbank(typed.phone)
            PaymentMethod.CARD -> it.payByCard((typed.card ?: return@act).card())
        }
        typed.done()
    }

    override fun confirm() = act {
        it.confirm(typed.code)
        typed.done()
    }

    override fun changeMethod() = act {
        it.changeMethod()
        typed.done()
    }

    override fun keepMethod() = act {
        it.keepMethod()
        typed.done()
    }

    override fun pageOpened(isAway: Boolean) {
        if (isAway) left()
        checkout?.pageOpened()
        if (isAway) KassaCheckoutEvents.tell(Event.PageOpened)
    }

    override fun checkNow() {
        checkout?.checkNow()
    }

    /** Whatever brings the payer back to the front is their return. */
    private fun left() {
        saved[IS_AWAY] = true
    }

    override fun onCleared() {
        typed.forgetSecrets()
        checkout?.close()
    }

    private suspend fun follow() {
        // The native library is loaded by the first use of it, which takes some tenths of a second.
        val opened = try {
            withContext(Dispatchers.IO) { open() }
        } catch (problem: PaymentException) {
            Log.e("kassa", "the checkout cannot be opened: ${problem.message}")
            isUnusable = true
            return
        }
        checkout = opened
        isOpened = true
        if (saved.remove<Boolean>(IS_AWAY) == true) opened.cameBack()
        opened.states.collect { show(it, opened.details) }
    }

    private fun open(): Checkout {
        val settings = CheckoutSettings(language = language)
        val renewal = KassaCheckout.renewal ?: return Checkout.open(request.serverUrl, request.clientToken, settings)
        return Checkout.open(request.serverUrl, request.clientToken, settings) { renewal(request.reference) }
    }

    private fun show(next: CheckoutState, known: CheckoutDetails?) {
        seen = seen.after(next)
        saved[SEEN] = seen.name
        details = known
        if (next !is CheckoutState.Opening) begin(next)
        // After the end of the process the payment is open again, and nobody chooses any more.
        if (next is CheckoutState.EnterOtp || next is CheckoutState.ShowQr) typed.chosen = null
        state = next
    }

    /**
     * The way to pay that was chosen in the shop is chosen here, once: a payer who went back to the list stays there. Where a payment is open,
     * or may be, that comes first.
     */
    private fun begin(first: CheckoutState) {
        if (saved.contains(IS_BEGUN)) return
        saved[IS_BEGUN] = true
        if (typed.chosen == null && first is CheckoutState.Ready && !mayHavePaid) typed.chosen = request.method?.takeIf { it in first.methods }
    }

    /** What broke a rule is shown at its field. An action that came too late needs no word: the next state says what there is to do. */
    private inline fun act(action: (Checkout) -> Unit) {
        val checkout = checkout ?: return
        try {
            action(checkout)
        } catch (problem: PaymentException.Invalid) {
            typed.violations = problem.violations.filter { it.rule != Rule.STATE }
        }
    }
}
