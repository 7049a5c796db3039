package dev.kassa.checkout

import dev.kassa.Callback
import dev.kassa.PaymentException
import dev.kassa.PaymentRef
import dev.kassa.StatusReport
import kotlinx.serialization.json.JsonObject
import java.util.Locale
import kotlin.time.Duration
import kotlin.time.Duration.Companion.seconds
import kotlin.time.DurationUnit

/** How a payment ended, as far as this run saw. */
enum class Outcome {
    /** The money was taken. */
    CHARGED,

    /** It ended without the money being taken. */
    REJECTED,

    /** The gateway tells of something else than was asked for, or of nothing that proves it: a person has to look. */
    PERSON_NEEDED,

    /** Made, and left to a later run, as `--no-wait` asks. */
    CREATED,

    /** It was still open when this run stopped following it. */
    OPEN,

    /** It may exist, and no status was ever seen. */
    UNKNOWN,

    /** The gateway never took it on: nothing happened. */
    NOT_MADE;

    /** The word that programs see. */
    val word: String get() = name.lowercase()
}

/** A callback that came in, and what the gateway says about it. */
class SeenCallback(
    val callback: Callback,
    /** `charged`, `rejected`, `open`, `contradicted`, `unverifiable`, `duplicate` or `not_asked`. */
    val verdict: String,
    /** The fields that a contradiction is about. */
    val fields: List<String> = emptyList(),
)

/** What came of one payment. */
class Report(
    val flow: String,
    /** This program's own reference. */
    val reference: String,
    var payment: PaymentRef,
) {
    var outcome = Outcome.UNKNOWN

    /** The gateway's answer to the call that began it. */
    var answer: JsonObject? = null

    /** The last status that was seen. */
    var status: StatusReport? = null

    /** What a call gave instead of an answer. */
    var error: PaymentException? = null

    /** Why following it ended without a final status. */
    var watchError: PaymentException? = null
    val callbacks = mutableListOf<SeenCallback>()
    var elapsed = Duration.ZERO

    /** The order number, or what stands for it: a QR transaction's id. */
    val order: String? get() = payment.orderNumber ?: payment.transactionId

    /** True where the gateway itself tells of the end that one of its callbacks told of. */
    val hasGoodCallback: Boolean get() = callbacks.any { it.verdict == "charged" || it.verdict == "rejected" }

    /** The program's exit code for it. */
    val exitCode: Int
        get() = when (outcome) {
            Outcome.CHARGED, Outcome.CREATED -> AS_EXPECTED
            Outcome.REJECTED, Outcome.NOT_MADE -> NOT_AS_EXPECTED
            Outcome.UNKNOWN, Outcome.PERSON_NEEDED -> NOT_KNOWN
            // Why following it ended says nothing of the payment: it may be charged by now.
            Outcome.OPEN -> error?.exitCode ?: NOT_KNOWN
        }

    /** What happened, in a few words. */
    val whatHappened: String
        get() {
            val shown = payment.amount?.let { " ${it.toPlainString()} ${payment.currency.orEmpty()}" }.orEmpty()
            val error = error
            return when (outcome) {
                Outcome.CHARGED ->
                    if (error is PaymentException.OutcomeUnknown) "charged$shown, found by asking" else "charged$shown"
                Outcome.REJECTED -> status?.reason?.let { "rejected: $it" } ?: "rejected"
                Outcome.PERSON_NEEDED -> "not proved: a person has to look"
                Outcome.CREATED -> "created, not followed"
                Outcome.OPEN -> error?.let { "still open after ${it.kind}" } ?: "still open"
                Outcome.UNKNOWN -> "unknown: it may have happened"
                Outcome.NOT_MADE -> error?.let { "not made: ${it.kind}" } ?: "not made"
            }
        }

    /** The callbacks in a few words, such as `1 charged`. */
    val callbackSummary: String
        get() = callbacks.groupingBy { it.verdict }.eachCount()
            .map { (verdict, count) -> "$count $verdict" }
            .joinToString().ifEmpty { "none" }
}

/** A time for people. */
fun inTime(elapsed: Duration): String =
    if (elapsed < 1.seconds) "${elapsed.inWholeMilliseconds} ms" else "${tenths(elapsed)} s"

private fun tenths(elapsed: Duration) = String.format(Locale.ROOT, "%.1f", elapsed.toDouble(DurationUnit.SECONDS))
