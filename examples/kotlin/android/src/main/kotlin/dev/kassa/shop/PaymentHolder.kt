package dev.kassa.shop

import dev.kassa.Card
import dev.kassa.Kassa
import dev.kassa.PaymentEntry
import dev.kassa.PaymentException
import dev.kassa.PaymentRef
import dev.kassa.ReturnRedirect
import dev.kassa.Verdict
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.cancel
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.ensureActive
import kotlinx.coroutines.flow.MutableStateFlow
import kotlinx.coroutines.flow.StateFlow
import kotlinx.coroutines.flow.asStateFlow
import kotlinx.coroutines.flow.filterIsInstance
import kotlinx.coroutines.flow.lastOrNull
import kotlinx.coroutines.launch
import java.math.BigDecimal

private const val CURRENCY = "KGS"
private const val ASKING = "Asking about your payment"
private const val UNKNOWN = "Your payment may have been made. Do not pay again: we are asking"
private const val UNREADABLE = "A payment may be open, and this app cannot read which. Do not pay again: ask the shop"

/** What the payer sees. */
sealed interface Screen {
    /** Nothing is being paid; [message] says what became of the last try, where there was one. */
    data class Ready(val message: String? = null) : Screen

    /** The payment is on its way to the gateway. */
    data object Sending : Screen

    /** The payer confirms the payment on the bank's page (3DS), which is to be opened. */
    data class Confirm(val page: String) : Screen

    /** The payer lets another phone scan this. */
    data class ShowQr(val text: String) : Screen

    /** The payment exists, or may exist; it is being asked about. */
    data class Waiting(val message: String) : Screen

    /** It is open, and nobody is asking any more: the payer may have it asked again. */
    data class StillOpen(val message: String) : Screen

    /** The app cannot tell what is with the money, and asking does not help: a person has to look. Nothing is paid until then. */
    data class PersonNeeded(val message: String) : Screen

    /** The money was taken: the price. */
    data class Paid(val price: BigDecimal) : Screen

    /** It ended without the money being taken. */
    data class NotPaid(val reason: String?) : Screen
}

/**
 * One checkout, without anything of Android's: what is shown, and what is to be remembered.
 *
 * A payment is remembered before it is sent, and until the gateway has said how it ended. Whatever happens in between (the app is killed
 * on the bank's page, the answer is lost, the payer comes back or never does), it is asked about and never sent again. The return by
 * deep link is a hint, which anybody can give: it makes the next question come at once, and the verdict decides.
 *
 * Call it on one thread, that of [scope].
 *
 * @param price what is paid, in som; an app with more than one price stores it beside the payment
 * @param saved what an earlier holder said in [saved]
 */
class PaymentHolder(
    private val backend: Backend,
    private val store: OpenPayment,
    private val scope: CoroutineScope,
    private val returnUrl: String,
    private val price: BigDecimal,
    saved: String? = null,
) {
    private val screens = MutableStateFlow<Screen>(Screen.Ready())

    private var entry: PaymentEntry? = null
    private var unreadable: String? = null
    private var watch: Watch? = null

    /** What the payer sees. */
    val screen: StateFlow<Screen> = screens.asStateFlow()

    /** What to put into the instance state: all it takes to go on after the app was killed. */
    val saved: String? get() = entry?.toString() ?: unreadable

    init {
        try {
            // What is stored is never older than what the instance state holds.
            entry = store.read() ?: saved?.let(PaymentEntry::parse)
            if (entry != null) follow()
        } catch (_: Exception) {
            // Another version of the app has written it, say. It could be a payment.
            unreadable = saved
            screens.value = Screen.PersonNeeded(UNREADABLE)
        }
    }

    /** Pays by card. While another payment is open, nothing happens. */
    fun payByCard(card: Card) {
        val orderNumber = Kassa.newOrderNumber()
        if (!isFree || !remember(PaymentEntry(PaymentRef.card(orderNumber, price, CURRENCY)))) return
        start {
            remember(backend.payByCard(orderNumber, price, card, returnUrl))
            follow()
        }
    }

    /** Shows a QR code. While another payment is open, nothing happens. */
    fun payByQr() {
        if (!isFree) return
        start {
            if (remember(backend.payByQr(price))) follow()
        }
    }

    /** The payer is back: by this deep link, or in some other way. A link to another payment is nobody's return. */
    fun cameBack(link: String? = null) {
        if (link != null && !isOfThisPayment(link)) return
        if (screens.value is Screen.StillOpen) askAgain() else watch?.checkNow()
    }

    /** Asks again about a payment that is still open. */
    fun askAgain() {
        if (screens.value is Screen.StillOpen) follow()
    }

    /** Stops asking. The payment goes on, and stays remembered. */
    fun close() = scope.cancel()

    private val isFree get() = entry == null && screens.value != Screen.Sending && screens.value !is Screen.PersonNeeded

    private fun isOfThisPayment(link: String) = orderIn(link).let { it != null && it == entry?.payment?.orderNumber }

    private fun start(send: suspend () -> Unit) {
        screens.value = Screen.Sending
        scope.launch {
            try {
                send()
            } catch (error: PaymentException.OutcomeUnknown) {
                remember(PaymentEntry(error.payment))
                follow(Screen.Waiting(UNKNOWN))
            } catch (error: PaymentException) {
                forget(Screen.Ready("Nothing was paid. ${error.message}"))
            } catch (_: Exception) {
                currentCoroutineContext().ensureActive() // nobody is there any more
                // The way to the server, or a defect: neither says anything about the money. A QR code that nobody saw takes none.
                if (entry == null) forget(Screen.Ready("Nothing was paid")) else follow(Screen.Waiting(UNKNOWN))
            }
        }
    }

    /** What the payer does now: the page or the code that is remembered, also after the app was killed. */
    private fun nextStep(): Screen {
        val page = entry?.pageUrl
        val code = entry?.qrText
        return if (page != null) Screen.Confirm(page) else if (code != null) Screen.ShowQr(code) else Screen.Waiting(ASKING)
    }

    private fun follow(meanwhile: Screen = nextStep()) {
        screens.value = meanwhile
        scope.launch {
            try {
                val watch = backend.watch(entry?.payment ?: return@launch)
                this@PaymentHolder.watch = watch
                // It goes on by itself until the last verdict, also where a query fails.
                watch.reports.filterIsInstance<Verdict>().lastOrNull()?.let(::show)
            } catch (error: Exception) {
                currentCoroutineContext().ensureActive()
                // The asking has ended; that says nothing about the payment.
                val why = (error as? PaymentException)?.message ?: "We cannot ask about it now"
                screens.value = Screen.StillOpen("Your payment is still open. $why")
            }
        }
    }

    private fun show(verdict: Verdict) = when (verdict) {
        is Verdict.Charged -> forget(Screen.Paid(price))
        is Verdict.Rejected -> forget(Screen.NotPaid(verdict.report.reason))
        is Verdict.Open -> Unit
        is Verdict.Contradicted -> {
            val told = listOfNotNull(verdict.report?.status, verdict.report?.amount?.toPlainString()).joinToString()
            askAPerson("The bank tells of another payment ($told), and the price is $price")
        }
        is Verdict.Unverifiable -> askAPerson("Nobody can tell whether you have paid: ${verdict.why}")
    }

    /** The payment stays remembered, so that no other is begun before somebody has looked. */
    private fun askAPerson(why: String) {
        screens.value = Screen.PersonNeeded("$why. Do not pay again: ask the shop")
    }

    /**
     * False where it cannot be stored; nothing may be sent then. The server may know more numbers, but what is to be paid is what this
     * payer was shown.
     */
    private fun remember(known: PaymentEntry): Boolean {
        val shown = known.copy(payment = known.payment.copy(amount = price, currency = CURRENCY))
        val isStored = store.write(shown)
        when {
            // It knows no less than what is stored.
            isStored || entry != null -> entry = shown
            else -> screens.value = Screen.Ready("Nothing was paid. The phone cannot store the payment")
        }
        return isStored
    }

    private fun forget(end: Screen) {
        entry = null
        watch = null
        // Where that fails, the next start asks once more, and hears the same.
        store.write(null)
        screens.value = end
    }
}

private fun orderIn(link: String) = try {
    ReturnRedirect.parse(link).orderNumber
} catch (_: PaymentException.Invalid) {
    null
}
