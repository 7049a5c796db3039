package dev.kassa.shop

import dev.kassa.Card
import dev.kassa.CardPayment
import dev.kassa.Gateway
import dev.kassa.JournalEntry
import dev.kassa.Kassa
import dev.kassa.PaymentException
import dev.kassa.QrPayment
import dev.kassa.StatusWatch
import dev.kassa.Unfinished
import dev.kassa.Verdict
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.flow.MutableStateFlow
import kotlinx.coroutines.flow.StateFlow
import kotlinx.coroutines.flow.asStateFlow
import kotlinx.coroutines.flow.firstOrNull
import kotlinx.coroutines.launch
import java.math.BigDecimal

val PRICE = BigDecimal("250.00")

/** The deep link that the manifest names. The gateway adds what it has to say. */
const val RETURN_URL = "kassa-shop://paid/"

/**
 * One checkout. The gateway's journal remembers the payment from before it is sent until it is finished, so that an app that was killed
 * at any moment goes on where it was. Call it on one thread, that of [scope].
 *
 * @param gateway with a journal
 */
class Checkout(private val gateway: Gateway, private val scope: CoroutineScope) {
    private val screens = MutableStateFlow<Screen>(Screen.Waiting("One moment"))
    private var watch: StatusWatch? = null

    /** What the payer sees. */
    val screen: StateFlow<Screen> = screens.asStateFlow()

    init {
        scope.launch { goOn() }
    }

    fun payByCard(card: Card) = pay {
        val number = Kassa.newOrderNumber()
        createCardPayment(CardPayment(number, "A jar of honey", PRICE, "KGS", card, "en", CALLBACK_URL, "203.0.113.7", RETURN_URL))
    }

    fun payByQr() = pay { createQrData(QrPayment(Kassa.somToTyiyn(PRICE), requisite = "Honey, Bishkek")) }

    /** The payer is back, or says so. That is only a hint: the next question comes at once, and its answer decides. */
    fun cameBack() {
        watch?.checkNow()
        if (screen.value !is Screen.StillOpen) return
        screens.value = Screen.Waiting(ASKING)
        scope.launch { goOn() }
    }

    /** While another payment is open, nothing happens. */
    private fun pay(send: suspend Gateway.() -> Unit) {
        if (screen.value !is Screen.Ready) return
        screens.value = Screen.Sending
        scope.launch {
            try {
                gateway.withNote("a jar of honey").send()
                goOn()
            } catch (_: PaymentException.OutcomeUnknown) {
                goOn() // it may have been charged: it is asked about, and never sent again
            } catch (error: PaymentException) {
                screens.value = Screen.Ready("Nothing was paid. ${error.message}")
            }
        }
    }

    /** What the journal has not done with: what was just sent, or what an app that was killed left behind. */
    private suspend fun goOn() = try {
        when (val left = gateway.unfinished().firstOrNull()) {
            null -> screens.value = Screen.Ready()
            is Unfinished.Payment -> follow(left.entry)
            is Unfinished.Unreadable -> screens.value = Screen.PersonNeeded("A payment may be open, and it ${left.why}")
        }
    } catch (error: PaymentException) {
        // The asking has ended; that says nothing about the payment.
        screens.value = Screen.StillOpen("Your payment may be open. ${error.message}")
    }

    private suspend fun follow(entry: JournalEntry) {
        val (page, code) = entry.pageUrl to entry.qrText
        screens.value = if (page != null) Screen.Confirm(page) else if (code != null) Screen.ShowQr(code) else Screen.Waiting(ASKING)
        val watch = gateway.watch(entry.payment).also { watch = it }
        screens.value = when (val verdict = watch.outcome()) {
            is Verdict.Charged -> {
                gateway.finish(entry) // where there is something to deliver, that comes first
                Screen.Paid("$PRICE")
            }
            is Verdict.Rejected -> Screen.Ready(verdict.report.reason?.let { "Not paid: $it" } ?: "Not paid")
            else -> Screen.PersonNeeded("The bank tells of another payment")
        }
    }
}

private const val ASKING = "Your payment may have been made: we are asking"

/** The server's own. Nobody listens there in the demonstration: the app asks instead. */
private const val CALLBACK_URL = "http://127.0.0.1:9/callback"
