package dev.kassa.checkout.commands

import com.github.ajalt.clikt.parameters.groups.provideDelegate
import com.github.ajalt.clikt.parameters.options.flag
import com.github.ajalt.clikt.parameters.options.help
import com.github.ajalt.clikt.parameters.options.option
import dev.kassa.Gateway
import dev.kassa.PaymentRef
import dev.kassa.StatusReport
import dev.kassa.checkout.AS_EXPECTED
import dev.kassa.checkout.Checkout
import dev.kassa.checkout.Entry
import dev.kassa.checkout.Failure
import dev.kassa.checkout.Outcome
import dev.kassa.checkout.Report
import dev.kassa.checkout.SANDBOX_IN_MEMORY
import dev.kassa.checkout.Sale
import dev.kassa.checkout.State
import dev.kassa.checkout.follow
import dev.kassa.checkout.inWords
import dev.kassa.checkout.json
import dev.kassa.checkout.toJson
import dev.kassa.checkout.word
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.coroutineScope

/** `checkout status`: asks once. A stored reference tells what was asked for, so the report is judged by it. */
class StatusCommand : ShopCommand("status", "Ask once for the status of a payment") {
    private val subject by SubjectOptions()
    private val language by option().help("The language of the gateway's messages, two letters; with --gateway-number only")

    override suspend fun work(shop: Checkout): Ended {
        if (!subject.isNamed()) throw nothingNamed()
        return subject.stored?.let { judged(shop, it) } ?: told(shop)
    }

    private suspend fun judged(shop: Checkout, payment: PaymentRef): Ended {
        if (!payment.canBeAskedAbout) throw Failure.Usage("this reference names nothing to ask with yet; its callback will")
        shop.narrator.step("ask", "$payment")
        val verdict = shop.gateway.check(payment)
        shop.narrator.step("verdict", verdict.inWords())
        val answer = "answer" to verdict.report?.toJson()
        return Ended(AS_EXPECTED, json("payment" to payment, "verdict" to verdict.word, answer))
    }

    private suspend fun told(shop: Checkout): Ended {
        val report = ask(shop.gateway)
        shop.narrator.step("status", report.inWords())
        report.amount?.let { shop.narrator.step("amount", "${it.toPlainString()} ${report.currency.orEmpty()}") }
        return Ended(AS_EXPECTED, json("answer" to report.toJson()))
    }

    private suspend fun ask(gateway: Gateway): StatusReport {
        subject.transactionId?.let { return gateway.qrStatus(it) }
        subject.gatewayNumber?.let { return gateway.paymentStatus(it, language) }
        return gateway.providerStatus(subject.orderNumber ?: throw nothingNamed(), subject.provider)
    }
}

/** `checkout watch`: follows a payment to its end, or every one that an earlier run left open. */
class WatchCommand : ShopCommand(
    "watch",
    "Follow a payment to its end; with --resume every one that an earlier run left open",
) {
    private val subject by SubjectOptions()
    private val askedFor by AskedForOptions()
    private val resume by option().flag()
        .help("Follow every payment that the state file holds open for this gateway, and mark it when it is over")

    override suspend fun work(shop: Checkout): Ended {
        if (resume && subject.isNamed()) throw Failure.Usage("--resume names no payment")
        return if (resume) resume(shop) else watch(shop, askedFor.payment(subject) ?: throw nothingNamed())
    }

    private suspend fun watch(shop: Checkout, payment: PaymentRef): Ended {
        shop.introduce()
        shop.narrator.title("Watching $payment")
        val stored = shop.store.entries().findLast {
            it.payment == payment.toString() && it.gateway == shop.gatewayName && it.state == State.OPEN
        }
        val sale = stored?.let { Sale.resume(shop, it, "watch") } ?: Sale.bare(shop, payment, "watch")
        val report = sale.follow()
        return Ended(report.exitCode, report.toJson())
    }

    /** All at once: one that stays open must not keep the others waiting. */
    private suspend fun resume(shop: Checkout): Ended = coroutineScope {
        shop.introduce()
        shop.narrator.title("Payments that an earlier run left open")
        val (here, elsewhere) = shop.store.entries()
            .filter { it.state == State.OPEN }
            .partition { it.gateway == shop.gatewayName && it.gateway != SANDBOX_IN_MEMORY }
        elsewhere.forEach { leave(shop, it) }
        if (here.isEmpty()) shop.narrator.step("nothing", "is open with this gateway")
        val sales = here.map { Sale.resume(shop, it, "resumed") }
        val reports = sales.map { sale ->
            if (sales.size > 1) sale.nameInStory()
            sale.narrator.step("open", "${sale.report.payment}")
            async { sale.follow() }
        }.awaitAll()
        if (reports.size > 1) shop.narrator.table(reports)
        Ended(
            worst(reports.map(::exitCodeOf)),
            json("payments" to reports.map { it.toJson() }, "left_alone" to elsewhere.size),
        )
    }

    /** A payment of another gateway cannot be asked about here; one of a sandbox in memory nowhere. */
    private fun leave(shop: Checkout, entry: Entry) {
        if (entry.gateway != SANDBOX_IN_MEMORY) {
            return shop.narrator.step("elsewhere", "${entry.payment} is open with ${entry.gateway}: left alone")
        }
        shop.narrator.step("gone", "${entry.payment} was in a sandbox that kept it in memory and has ended")
        shop.store.update(entry.reference) { it.copy(state = State.GONE) }
    }
}

/** A resumed payment has done what is expected when it has come to its end, whichever. */
private fun exitCodeOf(report: Report) = if (report.outcome == Outcome.REJECTED) AS_EXPECTED else report.exitCode
