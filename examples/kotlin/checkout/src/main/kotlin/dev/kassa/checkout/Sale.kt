package dev.kassa.checkout

import dev.kassa.Advice
import dev.kassa.Callback
import dev.kassa.Kassa
import dev.kassa.PaymentException
import dev.kassa.PaymentRef
import dev.kassa.Verdict
import kotlinx.serialization.json.JsonObject
import kotlin.time.TimeSource

/** One payment under way: stored, told about, followed. */
class Sale private constructor(
    val shop: Checkout,
    val report: Report,
    awaitsCallback: Boolean,
) {
    var narrator: Narrator = shop.narrator
        private set
    val awaitsCallback = awaitsCallback && shop.callbacksArrive
    val mailbox: Mailbox = shop.receiver.expect(report.reference)

    /** Callbacks that the gateway could not be asked about yet. */
    val unchecked = mutableListOf<Callback>()
    private val started = TimeSource.Monotonic.markNow()

    /** Names the payment in every line, where several are followed at once. */
    fun nameInStory() {
        narrator = narrator.about(report.order ?: report.reference)
    }

    /** Tells what is worth a second look. */
    fun advise(advice: List<Advice>) = advice.forEach { narrator.warn("advice", it.text) }

    /** Notes the gateway's answer, which may know more about the payment. */
    fun answered(answer: JsonObject, payment: PaymentRef) {
        report.answer = answer
        learned(payment)
    }

    /** Stores a reference that knows more than the one from before. */
    fun learned(payment: PaymentRef) {
        val fuller = payment.copy(gatewayNumber = payment.gatewayNumber ?: report.payment.gatewayNumber)
        if (fuller == report.payment) return
        report.payment = fuller
        update { it.copy(payment = fuller.toString()) }
    }

    /** Changes what is stored. The payment itself is stored already: a failure is told, and stops nothing. */
    fun update(change: (Entry) -> Entry) = try {
        shop.store.update(report.reference, change)
    } catch (failure: Failure.State) {
        narrator.warn("state", failure.message)
    }

    /** The call that begins or confirms the payment gave no answer. True where the payment is to be followed all the same. */
    fun failed(error: PaymentException): Boolean {
        if (error is PaymentException.OutcomeUnknown) {
            narrator.warn("unknown", "the payment may have happened: ${error.detail}")
            narrator.warn("unknown", "it is not sent again; its stored reference is watched instead")
            learned(error.payment)
        } else {
            narrator.warn("error", "${error.kind}: ${error.message}")
        }
        report.error = error
        return error.paymentMayExist
    }

    /** Takes in what a question brought. */
    fun heard(verdict: Verdict) {
        report.outcome = when (verdict) {
            is Verdict.Charged -> Outcome.CHARGED
            is Verdict.Rejected -> Outcome.REJECTED
            is Verdict.Open -> Outcome.OPEN
            is Verdict.Contradicted, is Verdict.Unverifiable -> Outcome.PERSON_NEEDED
        }
        verdict.report?.let { report.status = it }
    }

    /** The end, as it was seen last or as it is told here: marks the payment where it is over, and says how it ended. */
    fun end(outcome: Outcome = report.outcome): Report {
        report.outcome = outcome
        val over = when (outcome) {
            Outcome.CHARGED -> State.CHARGED
            Outcome.REJECTED -> State.REJECTED
            Outcome.NOT_MADE -> State.NOT_MADE
            Outcome.CREATED, Outcome.OPEN, Outcome.UNKNOWN, Outcome.PERSON_NEEDED -> null
        }
        if (over != null) update { it.copy(state = over) }
        report.elapsed = started.elapsedNow()
        narrator.end(report.exitCode, "${report.whatHappened}, in ${inTime(report.elapsed)}")
        if (over == null) narrator.step("later", "checkout watch --resume goes on with it")
        return report
    }

    companion object {
        /** Begins a payment: **it is on the disk when this returns**, and nothing has been sent. */
        fun begin(
            shop: Checkout,
            flow: String,
            payment: PaymentRef,
            reference: String,
            awaitsCallback: Boolean = false,
        ): Sale {
            shop.store.add(Entry(reference, "$payment", shop.gatewayName))
            val sale = Sale(shop, Report(flow, reference, payment), awaitsCallback)
            sale.narrator.step("stored", "$payment, before anything is sent")
            return sale
        }

        /** Goes on with a payment that an earlier call or run has stored. */
        fun resume(shop: Checkout, entry: Entry, flow: String): Sale =
            Sale(shop, Report(flow, entry.reference, entry.paymentRef()), awaitsCallback = false)

        /** Follows a payment that the state file does not know. */
        fun bare(shop: Checkout, payment: PaymentRef, flow: String): Sale =
            Sale(shop, Report(flow, Kassa.newOrderNumber(), payment), awaitsCallback = false)
    }
}

/** Tells a person who tries the embedded sandbox what its documentation says. */
fun Sale.tellTestOtp(otp: String?) {
    if (shop.isSandbox && !shop.payer.isRobot && otp != null) {
        narrator.step("payer", "the one-time passwords of test cards and phones are listed in sandbox/README.md")
    }
}
