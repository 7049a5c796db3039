package dev.kassa.checkout.commands

import com.github.ajalt.clikt.parameters.groups.provideDelegate
import com.github.ajalt.clikt.parameters.options.default
import com.github.ajalt.clikt.parameters.options.help
import com.github.ajalt.clikt.parameters.options.option
import dev.kassa.PaymentException
import dev.kassa.checkout.AS_EXPECTED
import dev.kassa.checkout.CardOrder
import dev.kassa.checkout.Checkout
import dev.kassa.checkout.Failure
import dev.kassa.checkout.MbankOrder
import dev.kassa.checkout.NOT_AS_EXPECTED
import dev.kassa.checkout.Outcome
import dev.kassa.checkout.PayFormOrder
import dev.kassa.checkout.QrOrder
import dev.kassa.checkout.Report
import dev.kassa.checkout.flows.takeCard
import dev.kassa.checkout.flows.takeMbank
import dev.kassa.checkout.flows.takePayForm
import dev.kassa.checkout.flows.takeQr
import dev.kassa.checkout.json
import dev.kassa.checkout.toJson
import kotlinx.serialization.json.JsonObject

/** `checkout all`: four payments one after the other, so that each can be read. */
class AllCommand : ShopCommand(
    "all",
    "Run four payments from request to final status: card with 3DS, MBank, pay-form, QR",
) {
    private val phone by option().default(MbankOrder().phone).help("The phone number of the MBank payment")
    private val card by CardOptions()

    override suspend fun work(shop: Checkout): Ended {
        refuseRobotsAbroad(shop)
        shop.introduce()
        val flows: List<Pair<String, suspend () -> Report>> = listOf(
            "Card with 3DS" to { takeCard(shop, CardOrder(card = secrets.card(card.fields()))) },
            "MBank with a one-time password" to { takeMbank(shop, MbankOrder(phone = phone)) },
            "Pay-form: the payer picks how to pay" to { takePayForm(shop, PayFormOrder()) },
            "Dynamic QR code" to { takeQr(shop, QrOrder()) },
        )
        val reports = mutableListOf<Report>()
        var failed: JsonObject? = null
        for ((place, flow) in flows.withIndex()) {
            shop.narrator.title("${place + 1}/${flows.size}  ${flow.first}")
            failed = runOrTell(shop, reports, flow.second)
            if (failed != null) break
        }
        return sumUp(shop, reports, failed)
    }

    /** What cannot even begin ends the run, and hides nothing of what was paid before. */
    private suspend fun runOrTell(shop: Checkout, reports: MutableList<Report>, flow: suspend () -> Report): JsonObject? {
        try {
            reports += flow()
            return null
        } catch (failure: Failure) {
            if (reports.isEmpty()) throw failure
            shop.narrator.warn("error", "${failure.kind}: ${failure.message}")
            return failure.toJson()
        } catch (error: PaymentException) {
            if (reports.isEmpty()) throw error
            shop.narrator.warn("error", "${error.kind}: ${error.message}")
            return error.toJson()
        }
    }

    private fun sumUp(shop: Checkout, reports: List<Report>, failed: JsonObject?): Ended {
        val exitCode = worst(reports.map(::exitCodeOf) + listOfNotNull(failed?.let { NOT_AS_EXPECTED }))
        shop.narrator.table(reports)
        shop.narrator.print(
            when (exitCode) {
                AS_EXPECTED -> "\nAll four payments ended as expected: charged, each with a callback that was checked."
                else -> "\nNot every payment ended as expected."
            },
        )
        val flows = "flows" to reports.map { it.toJson() }
        return Ended(exitCode, if (failed == null) json(flows) else json(flows, "error" to failed))
    }
}

/** On a real gateway only a person can be the payer. */
private fun refuseRobotsAbroad(shop: Checkout) {
    if (!shop.payer.isRobot && !shop.isInteractive) {
        throw Failure.Usage(
            "`all` on a gateway that is not on this machine needs a person to be the payer: add --interactive, and give your own " +
                "test card and phone",
        )
    }
    if (!shop.callbacksArrive) shop.requiredCallbackUrl("")
}

/** Charged is not enough here: the callback must have arrived and been checked. */
private fun exitCodeOf(report: Report): Int {
    val isComplete = report.outcome == Outcome.CHARGED && report.hasGoodCallback
    return if (report.exitCode == AS_EXPECTED && !isComplete) NOT_AS_EXPECTED else report.exitCode
}
