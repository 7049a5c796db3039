package dev.kassa.checkout

import dev.kassa.Callback
import dev.kassa.CallbackVerdict
import dev.kassa.ExpectedPayment
import dev.kassa.Gateway
import dev.kassa.PaymentException
import dev.kassa.PaymentKind
import dev.kassa.PaymentRef
import dev.kassa.QueryFailed
import dev.kassa.StatusReport
import dev.kassa.WatchReport
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.flow.catch
import kotlinx.coroutines.flow.map
import kotlinx.coroutines.flow.produceIn
import kotlinx.coroutines.selects.select
import kotlinx.coroutines.withTimeoutOrNull
import kotlin.time.Duration
import kotlin.time.TimeSource

/** How many callbacks wait for a gateway that cannot be asked. */
private const val MOST_UNCHECKED = 64

/** Follows the payment to its end, and waits a little for its callback. */
suspend fun Sale.follow(): Report {
    try {
        watchToTheEnd()
    } catch (error: PaymentException) {
        narrator.warn("watch", error.message)
        if (error is PaymentException.DeadlineExpired) error.last?.let(::saw)
        report.watchError = error
    }
    // The gateway has reported an open status before, or nobody has said that the payment is in doubt.
    if (report.outcome == Outcome.UNKNOWN && report.error == null) report.outcome = Outcome.OPEN
    awaitCallback()
    return end()
}

private suspend fun Sale.watchToTheEnd() = coroutineScope {
    if (!report.payment.canBeAskedAbout) awaitNumber()
    narrator.step("waiting", "for the final status, asking every ${inTime(shop.policy.interval)}")
    val watch = shop.gateway.watch(report.payment, shop.policy)
    // What ends the watch waits for its turn like a report, so that it interrupts no callback that is being checked.
    val reports = watch.reports.map { Result.success(it) }.catch { emit(Result.failure(it)) }.produceIn(this)
    var told = ""
    do {
        val isOver = select {
            mailbox.arrivals.onReceive { arrival ->
                take(arrival)
                watch.checkNow()
                false
            }
            reports.onReceiveCatching { next ->
                val report = next.getOrNull()?.getOrThrow()
                if (report != null) told = tell(report, told)
                report == null
            }
        }
    } while (!isOver)
}

/** Tells a report of the watch, unless it says what the one before said. */
private fun Sale.tell(report: WatchReport, told: String): String {
    val text = when (report) {
        is StatusReport -> report.inWords().also { saw(report) }
        is QueryFailed -> "asking failed, we go on (${report.error.kind}: ${report.error.message})"
    }
    if (text != told) narrator.step("status", text)
    return text
}

/**
 * A pay-form and a QR picture tell no number: the gateway's callback does. The gateway was told that its callback has arrived, and
 * sends it no more: where it could not be asked, it is asked again.
 */
private suspend fun Sale.awaitNumber() {
    narrator.step("waiting", "for the callback, which names the order")
    val deadline = TimeSource.Monotonic.markNow() + shop.policy.deadline
    while (!report.payment.canBeAskedAbout) {
        if (deadline.hasPassedNow()) throw PaymentException.DeadlineExpired()
        val pause = minOf(shop.policy.interval, -deadline.elapsedNow())
        when (val arrival = nextWithin(pause)) {
            null -> weighAgain()
            else -> take(arrival)
        }
    }
}

private suspend fun Sale.weighAgain() {
    val again = unchecked.toList()
    unchecked.clear()
    for (callback in again) {
        report.callbacks.removeIf { it.verdict == "not_asked" && it.callback.orderNumber == callback.orderNumber }
        weigh(callback)
    }
}

/** Waits for a callback that the gateway confirms, no longer than asked for. */
private suspend fun Sale.awaitCallback() {
    while (true) take(mailbox.arrivals.tryReceive().getOrNull() ?: break)
    val isOver = report.outcome == Outcome.CHARGED || report.outcome == Outcome.REJECTED
    if (!isOver || !awaitsCallback || report.hasGoodCallback) return
    narrator.step("waiting", "for its callback")
    val wait = shop.callbackWait
    val deadline = TimeSource.Monotonic.markNow() + wait
    while (!report.hasGoodCallback) {
        val arrival = nextWithin(-deadline.elapsedNow())
            ?: return narrator.warn("callback", "none that the gateway confirms came within $wait")
        take(arrival)
    }
}

/** What arrives next. It is only received when it can be taken, so none gets lost where the time is over. */
private suspend fun Sale.nextWithin(time: Duration): Arrival? =
    mailbox.arrivals.tryReceive().getOrNull() ?: withTimeoutOrNull(time) { mailbox.arrivals.receive() }

private suspend fun Sale.take(arrival: Arrival) = when (arrival) {
    is Arrival.OfReturn -> {
        val (order, code) = arrival.redirect
        narrator.step("return", "the payer is back, order $order, statusCode ${code ?: "none"}: a hint, so we ask")
    }
    is Arrival.OfCallback -> if (arrival.isDuplicate) {
        narrator.step("callback", "the same once more: nothing to do")
        report.callbacks += SeenCallback(arrival.callback, "duplicate")
    } else {
        weigh(arrival.callback)
    }
}

/** Asks the gateway about a callback, and keeps what it says. */
private suspend fun Sale.weigh(callback: Callback) {
    val checked = check(shop.gateway, narrator, callback, expected)
    val isOurs = checked.verdict == null || learnFrom(callback, checked.verdict)
    report.callbacks += if (isOurs) checked.seen else SeenCallback(callback, "contradicted", listOf("orderNumber"))
    if (checked.isToBeAskedAgain && unchecked.size < MOST_UNCHECKED) unchecked += callback
}

/**
 * A callback that the gateway stands by names the order of a pay-form or a QR picture. False where that order is another payment's:
 * whoever paid once could name it in a callback for every cart of the same amount.
 */
private fun Sale.learnFrom(callback: Callback, verdict: CallbackVerdict): Boolean {
    val known = when (verdict) {
        is CallbackVerdict.Confirmed -> verdict.report
        is CallbackVerdict.Pending -> verdict.report
        is CallbackVerdict.Contradicted, CallbackVerdict.Unverifiable -> return true
    }
    if (report.payment.canBeAskedAbout) return true
    val payment = when (report.payment.kind) {
        PaymentKind.PAY_FORM -> PaymentRef.payForm(callback.orderNumber, callback.provider)
        // The gateway's own word for it, which the callback does not contradict. Without one, the number would be the sender's choice,
        // and one paid code would pay for many carts.
        PaymentKind.QR -> if (known.orderNumber != null) PaymentRef.qr(callback.orderNumber) else return notNamed()
        PaymentKind.CARD, PaymentKind.MBANK -> return true
    }
    try {
        if (shop.store.claim(report.reference, shop.gatewayName, payment)) {
            learned(payment)
            return true
        }
        narrator.warn("callback", "NOT OURS, order ${callback.orderNumber} pays for another payment already")
    } catch (failure: Failure.State) {
        // Without the state file nobody knows what was paid with it.
        narrator.warn("state", failure.message)
    }
    return false
}

private fun Sale.notNamed(): Boolean {
    narrator.warn("callback", "the gateway does not say which order it is about, so it pays for none")
    return false
}

/** A status in a few words. */
fun StatusReport.inWords(): String {
    val details = listOfNotNull(code?.let { "code $it" }, reason)
    return if (details.isEmpty()) "$status" else "$status (${details.joinToString()})"
}

/** What the gateway says about a callback; no verdict where it could not be asked. */
class Checked(val seen: SeenCallback, val verdict: CallbackVerdict?, val isToBeAskedAgain: Boolean = false)

/** Asks the gateway about a callback, and tells what it says. */
suspend fun check(gateway: Gateway, narrator: Narrator, callback: Callback, expected: ExpectedPayment?): Checked {
    val said = callback.inWords()
    val verdict = try {
        gateway.verifyCallback(callback, expected)
    } catch (error: PaymentException) {
        narrator.warn("callback", "$said; the gateway could not be asked (${error.kind}: ${error.message})")
        return Checked(SeenCallback(callback, "not_asked"), verdict = null, isToBeAskedAgain = error.isRetryable)
    }
    val seen = when (verdict) {
        is CallbackVerdict.Confirmed -> {
            narrator.step("callback", "$said; asked, the gateway confirms: ${verdict.report.status}")
            SeenCallback(callback, "confirmed")
        }
        is CallbackVerdict.Pending -> {
            narrator.step("callback", "$said; asked, the gateway says it is still open: ${verdict.report.status}")
            SeenCallback(callback, "pending")
        }
        is CallbackVerdict.Contradicted -> {
            narrator.warn("callback", "$said; NOT TRUE, it differs in ${verdict.fields.joinToString()}")
            SeenCallback(callback, "contradicted", verdict.fields)
        }
        CallbackVerdict.Unverifiable -> {
            narrator.step("callback", "$said; it names nothing to ask with, so only the status counts")
            SeenCallback(callback, "unverifiable")
        }
    }
    return Checked(seen, verdict)
}

/** The unit of a QR callback's amount is not shown by the interface, so none is named. */
private fun Callback.inWords(): String {
    val unit = currency?.takeIf { requisite == null }?.let { " $it" }.orEmpty()
    return "order $orderNumber $status, amount ${amount.toPlainString()}$unit"
}
