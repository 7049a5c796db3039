package dev.kassa.checkout

import dev.kassa.CardPaymentCreated
import dev.kassa.MbankConfirmed
import dev.kassa.MbankPaymentCreated
import dev.kassa.NextStep
import dev.kassa.PayFormCreated
import dev.kassa.PaymentException
import dev.kassa.QrData
import dev.kassa.QrImage
import dev.kassa.StatusReport
import dev.kassa.Violation
import kotlinx.serialization.json.JsonArray
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonNull
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive
import java.nio.file.Path
import kotlin.time.DurationUnit

// The line of JSON for programs. Amounts are texts, so that no reader rounds them.

/** An object of these fields. */
fun json(vararg fields: Pair<String, Any?>): JsonObject = JsonObject(fields.associate { (name, value) -> name to value.toJson() })

private fun Any?.toJson(): JsonElement = when (this) {
    null -> JsonNull
    is JsonElement -> this
    is Boolean -> JsonPrimitive(this)
    is Int -> JsonPrimitive(this)
    is Long -> JsonPrimitive(this)
    is Double -> JsonPrimitive(this)
    is List<*> -> JsonArray(map { it.toJson() })
    else -> JsonPrimitive(toString())
}

/** What came of a payment. */
fun Report.toJson(): JsonObject = json(
    "flow" to flow,
    "reference" to reference,
    "order_number" to order,
    "payment" to payment,
    "outcome" to outcome.word,
    "answer" to answer,
    "status" to status?.toJson(),
    "error" to error?.toJson(),
    "watch_error" to watchError?.toJson(),
    "callbacks" to callbacks.map { it.toJson() },
    "seconds" to elapsed.toDouble(DurationUnit.SECONDS),
)

/** A callback that came in. */
fun SeenCallback.toJson(): JsonObject = json(
    "order_number" to callback.orderNumber,
    "status" to callback.status,
    "amount" to callback.amount.toPlainString(),
    "verdict" to verdict,
    "fields" to fields,
)

/** Why a command could not do its work. */
fun Failure.toJson(): JsonObject =
    json("kind" to kind, "payment_may_exist" to false, "retryable" to false, "describe" to message)

/** A payment's error: its kind, its fields, what it means for the money, and the same in a sentence. */
fun PaymentException.toJson(): JsonObject {
    val fields = when (this) {
        is PaymentException.Invalid -> json("violations" to violations.map { it.toJson() })
        is PaymentException.Misconfigured -> json("detail" to detail)
        is PaymentException.Unauthorized -> json("detail" to detail)
        is PaymentException.Unavailable -> json("detail" to detail, "retry_after_seconds" to retryAfter?.inWholeSeconds)
        is PaymentException.Refused -> json("reason" to reason)
        is PaymentException.OutcomeUnknown -> json("payment" to payment, "reason" to reason, "detail" to detail)
        is PaymentException.Unexpected -> json("detail" to detail)
        is PaymentException.DeadlineExpired -> json("last" to last?.toJson())
    }
    val meaning = json(
        "http_status" to httpStatus,
        "code" to code,
        "body" to body,
        "kind" to kind,
        "payment_may_exist" to paymentMayExist,
        "retryable" to isRetryable,
        "describe" to message,
    )
    return JsonObject(fields + meaning)
}

private fun Violation.toJson() = json("field" to field, "rule" to rule, "limit" to limit, "text" to text)

/** A status as the gateway reports it. */
fun StatusReport.toJson(): JsonObject = json(
    "status" to status,
    "is_final" to status.isFinal,
    "code" to code,
    "reason" to reason,
    "order_number" to orderNumber,
    "amount" to amount?.toPlainString(),
    "currency" to currency,
    "raw" to raw,
)

/** The answer to a card payment. */
fun CardPaymentCreated.toJson(): JsonObject {
    val next = when (val step = nextStep) {
        is NextStep.OpenConfirmation -> json("kind" to "OpenConfirmation", "url" to step.url)
        is NextStep.AskStatus -> json("kind" to "AskStatus", "status" to step.status)
    }
    return json(
        "payment" to payment,
        "next_step" to next,
        "code" to code,
        "amount" to amount?.toPlainString(),
        "currency" to currency,
        "raw" to raw,
    )
}

/** The answer to a mobile-bank payment. */
fun MbankPaymentCreated.toJson(): JsonObject =
    json("payment" to payment, "code" to code, "reason" to reason, "raw" to raw)

/** The answer to a confirmation. */
fun MbankConfirmed.toJson(): JsonObject =
    json("payment" to payment, "code" to code, "reason" to reason, "status" to status, "raw" to raw)

/** The answer to a pay-form. */
fun PayFormCreated.toJson(): JsonObject = json("payment" to payment, "pay_form_url" to payFormUrl, "raw" to raw)

/** The data of a QR code. */
fun QrData.toJson(): JsonObject =
    json("payment" to payment, "payload" to payload, "transaction_id" to transactionId, "raw" to raw)

/** The picture of a QR code: where it is, not what is in it. */
fun QrImage.toJson(file: Path): JsonObject = json("payment" to payment, "file" to file, "bytes" to png.size)
