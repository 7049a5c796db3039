package dev.kassa.checkout

import dev.kassa.Callback
import dev.kassa.Gateway
import dev.kassa.PaymentException
import dev.kassa.PaymentRef
import dev.kassa.QueryFailed
import dev.kassa.ReturnRedirect
import dev.kassa.StatusReport
import dev.kassa.Verdict
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
        if (error is PaymentException.DeadlineExpired) stillOpen(error.last)
        report.watchError = error
    }
    // The gateway has reported an open status before, or nobody has said that the payment is in doubt.
    if (report.outcome == Outcome.UNKNOWN && report.error == null) report.outcome = Outcome.OPEN
    awaitCallback()
    return end()
}

/** A watch that was in doubt at its deadline stays so. */
private fun Sale.stillOpen(last: StatusReport?) {
    if (last == null || report.outcome == Outcome.PERSON_NEEDED) return
    report.status = last
    report.outcome = Outcome.OPEN
}

private suspend fun Sale.watchToTheEnd() = coroutineScope {
    if (!report.payment.canBeAskedAbout) awaitNumber()
    if (!report.payment.canBeAskedAbout) return@coroutineScope
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
        is Verdict -> report.inWords().also { heard(report) }
        is QueryFailed -> "asking failed, we go on (${report.error.kind}: ${report.error.message})"
    }
    if (text != told) narrator.step("status", text)
    return text
}

/**
 * A pay-form and a QR picture tell no number: the gateway's callback does, or the payer's return. The gateway was told that its callback has arrived, and
 * sends it no more: where it could not be asked, it is asked again.
 */
private suspend fun Sale.awaitNumber() {
    narrator.step("waiting", "for the callback, which names the order")
    val deadline = TimeSource.Monotonic.markNow() + shop.policy.deadline
    while (!report.payment.canBeAskedAbout && report.outcome != Outcome.REJECTED) {
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
    is Arrival.OfReturn -> weigh(arrival.redirect)
    is Arrival.OfCallback -> if (arrival.isDuplicate) {
        narrator.step("callback", "the same once more: nothing to do")
        report.callbacks += SeenCallback(arrival.callback, "duplicate")
    } else {
        weigh(arrival.callback)
    }
}

/** Asks the gateway about a callback, and keeps what it says. */
private suspend fun Sale.weigh(callback: Callback) {
    val checked = check(shop.gateway, narrator, callback, report.payment)
    val isOurs = checked.verdict == null || learnFrom(checked.verdict)
    report.callbacks += if (isOurs) checked.seen else SeenCallback(callback, "contradicted", listOf("orderNumber"))
    if (checked.isToBeAskedAgain && unchecked.size < MOST_UNCHECKED) unchecked += callback
}

/** A return makes the next question come at once. Where there is no number to ask with yet, it claims one. */
private suspend fun Sale.weigh(redirect: ReturnRedirect) {
    val (order, code) = redirect
    narrator.step("return", "the payer is back, order $order, statusCode ${code ?: "none"}: a hint, so we ask")
    if (report.payment.canBeAskedAbout) return
    try {
        val verdict = shop.gateway.verifyReturn(redirect, report.payment)
        narrator.step("return", "asked, the gateway says: ${verdict.inWords()}")
        learnFrom(verdict)
    } catch (error: PaymentException) {
        narrator.warn("return", "the gateway could not be asked (${error.kind}: ${error.message})")
    }
}

/**
 * What the gateway stands by tells the number of a pay-form or a QR picture. False where that number is another payment's: whoever
 * paid once could claim it for every cart of the same amount (replay).
 */
private fun Sale.learnFrom(verdict: Verdict): Boolean {
    if (report.payment.canBeAskedAbout) return true
    return when (verdict) {
        is Verdict.Charged -> claim(verdict.payment)
        is Verdict.Open -> claim(verdict.payment)
        is Verdict.Rejected -> true.also { heard(verdict) }
        is Verdict.Contradicted, is Verdict.Unverifiable -> true
    }
}

private fun Sale.claim(payment: PaymentRef): Boolean {
    try {
        if (shop.store.claim(report.reference, shop.gatewayName, payment)) {
            learned(payment)
            return true
        }
        val number = payment.orderNumber ?: payment.transactionId
        narrator.warn("callback", "NOT OURS, order $number pays for another payment already")
    } catch (failure: Failure.State) {
        // Without the state file nobody knows what was paid with it.
        narrator.warn("state", failure.message)
    }
    return false
}

/** A status in a few words. */
fun StatusReport.inWords(): String {
    val details = listOfNotNull(code?.let { "code $it" }, reason)
    return if (details.isEmpty()) "$status" else "$status (${details.joinToString()})"
}

/** The word that programs see. */
val Verdict.word: String
    get() = when (this) {
        is Verdict.Charged -> "charged"
        is Verdict.Rejected -> "rejected"
        is Verdict.Open -> "open"
        is Verdict.Contradicted -> "contradicted"
        is Verdict.Unverifiable -> "unverifiable"
    }

/** A verdict in a few words. */
fun Verdict.inWords(): String = when (this) {
    is Verdict.Charged -> report.inWords()
    is Verdict.Rejected -> report.inWords()
    is Verdict.Open -> report.inWords()
    is Verdict.Contradicted -> "NOT what was asked for, it differs in ${fields.joinToString()}"
    is Verdict.Unverifiable -> "NOT proved: $why"
}

/** What the gateway says about a callback; no verdict where it could not be asked. */
class Checked(val seen: SeenCallback, val verdict: Verdict?, val isToBeAskedAgain: Boolean = false)

/** Asks the gateway about a callback, and tells what it says. */
suspend fun check(gateway: Gateway, narrator: Narrator, callback: Callback, payment: PaymentRef): Checked {
    val said = callback.inWords()
    val verdict = try {
        gateway.verifyCallback(callback, payment)
    } catch (error: PaymentException) {
        narrator.warn("callback", "$said; the gateway could not be asked (${error.kind}: ${error.message})")
        return Checked(SeenCallback(callback, "not_asked"), verdict = null, isToBeAskedAgain = error.isRetryable)
    }
    val text = "$said; asked, the gateway says: ${verdict.inWords()}"
    val fields = (verdict as? Verdict.Contradicted)?.fields.orEmpty()
    when (verdict) {
        is Verdict.Contradicted, is Verdict.Unverifiable -> narrator.warn("callback", text)
        is Verdict.Charged, is Verdict.Rejected, is Verdict.Open -> narrator.step("callback", text)
    }
    return Checked(SeenCallback(callback, verdict.word, fields), verdict)
}

/** The unit of a QR callback's amount is not shown by the interface, so none is named. */
private fun Callback.inWords(): String {
    val unit = currency?.takeIf { requisite == null }?.let { " $it" }.orEmpty()
    return "order $orderNumber $status, amount ${amount.toPlainString()}$unit"
}
