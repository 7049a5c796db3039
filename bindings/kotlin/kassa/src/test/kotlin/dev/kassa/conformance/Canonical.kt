package dev.kassa.conformance

import dev.kassa.Advice
import dev.kassa.BankLink
import dev.kassa.Callback
import dev.kassa.CardPaymentCreated
import dev.kassa.CheckoutLabels
import dev.kassa.CheckoutTexts
import dev.kassa.DialectField
import dev.kassa.DialectReading
import dev.kassa.Elqr
import dev.kassa.ElqrField
import dev.kassa.FieldState
import dev.kassa.JournalEntry
import dev.kassa.JournalState
import dev.kassa.MbankConfirmed
import dev.kassa.MbankPaymentCreated
import dev.kassa.MegapayAccepted
import dev.kassa.MegapayChecked
import dev.kassa.NextStep
import dev.kassa.PayFormCreated
import dev.kassa.PaymentEntry
import dev.kassa.PaymentException
import dev.kassa.PaymentRef
import dev.kassa.PaymentStatus
import dev.kassa.Provider
import dev.kassa.QrCode
import dev.kassa.QrData
import dev.kassa.QrImage
import dev.kassa.QueryFailed
import dev.kassa.ReturnRedirect
import dev.kassa.Recovered
import dev.kassa.StatusReport
import dev.kassa.Unfinished
import dev.kassa.Verdict
import dev.kassa.Violation
import dev.kassa.support.json
import dev.kassa.support.jsonOf
import dev.kassa.support.text
import dev.kassa.toCore
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonObject
import java.math.BigDecimal
import java.time.LocalDateTime
import java.util.Base64

/** The canonical JSON form of every public type. */
fun canonical(value: Any?): JsonElement = when (value) {
    is List<*> -> json(value.map(::canonical))
    is BigDecimal -> jsonOf("\$decimal" to value.toPlainString())
    is LocalDateTime -> localDateTime(value)
    is Provider -> provider(value)
    is PaymentRef -> paymentRef(value)
    is PaymentEntry -> jsonOf("payment" to canonical(value.payment), "page_url" to value.pageUrl, "qr_text" to value.qrText)
    is JournalEntry -> journalEntry(value)
    is JournalState -> json(value.toString())
    is Unfinished.Payment -> jsonOf("kind" to "payment", "entry" to canonical(value.entry))
    is Unfinished.Unreadable -> jsonOf("kind" to "unreadable", "id" to value.id, "why" to value.why)
    is Recovered.Payment -> jsonOf("kind" to "payment", "entry" to canonical(value.entry))
    is Recovered.Unreadable -> jsonOf("kind" to "unreadable", "id" to value.id, "why" to value.why)
    is Ends -> jsonOf("recovered" to canonical(value.recovered), "error" to canonical(value.error))
    is PaymentStatus -> status(value)
    is StatusReport -> report(value)
    is CardPaymentCreated -> cardPaymentCreated(value)
    is NextStep.OpenConfirmation -> jsonOf("kind" to "open_confirmation", "url" to value.url.toString())
    is NextStep.CheckStatus -> jsonOf("kind" to "check_status", "status" to value.status)
    is MbankPaymentCreated -> mbankPaymentCreated(value)
    is MbankConfirmed -> mbankConfirmed(value)
    is MegapayChecked -> megapayChecked(value)
    is MegapayAccepted -> megapayAccepted(value)
    is PayFormCreated -> payFormCreated(value)
    is QrImage -> qrImage(value)
    is QrData -> qrData(value)
    is QrCode -> qrCode(value)
    is Callback -> callback(value)
    is Verdict -> verdict(value)
    is DialectReading -> jsonOf(
        "fields" to canonical(value.fields), "code_means" to value.codeMeans, "status_means" to value.statusMeans,
        "unread" to value.unread, "problem" to value.problem,
    )
    is DialectField -> jsonOf("name" to value.name, "pointer" to value.pointer, "value" to value.value)
    is Elqr -> elqr(value)
    is ElqrField -> jsonOf("tag" to value.tag, "text" to value.text)
    is BankLink -> jsonOf("bank" to value.bank, "url" to value.url.toString())
    is ReturnRedirect -> jsonOf("order_number" to value.orderNumber, "status_code" to value.statusCode)
    is Violation -> violation(value)
    is Advice -> jsonOf("field" to value.field, "topic" to value.topic.toString(), "text" to value.text)
    is CheckoutTexts -> jsonOf(
        "title" to value.title, "explanation" to value.explanation, "cost" to value.cost, "message" to value.message,
        "reason" to value.reason,
    )
    is CheckoutLabels -> labels(value)
    FieldState.Incomplete -> json("incomplete")
    FieldState.Complete -> json("complete")
    is FieldState.Wrong -> jsonOf("kind" to "wrong", "violation" to canonical(value.violation))
    is QueryFailed -> jsonOf("kind" to "query_failed", "error" to canonical(value.error))
    is PaymentException -> error(value)
    else -> json(value)
}

/** A report of a watch says of what kind it is. */
fun watchReport(value: Any?): JsonElement =
    if (value is Verdict) jsonOf("kind" to "status", "verdict" to canonical(value)) else canonical(value)

/** Each by its name. */
private fun labels(value: CheckoutLabels): JsonElement {
    val getters = CheckoutLabels::class.java.methods.filter { it.name.startsWith("get") && it.returnType == String::class.java }
    return JsonObject(getters.associate { snakeCase(it.name.removePrefix("get")) to json(it.invoke(value)) })
}

private fun snakeCase(name: String) =
    name.replaceFirstChar { it.lowercase() }.replace(Regex("[A-Z]")) { "_" + it.value.lowercase() }

private fun localDateTime(value: LocalDateTime) = jsonOf(
    "year" to value.year, "month" to value.monthValue, "day" to value.dayOfMonth,
    "hour" to value.hour, "minute" to value.minute, "second" to value.second, "nanosecond" to value.nano,
    "text" to value.toCore().asText(),
)

private fun provider(value: Provider): JsonElement = when (value) {
    Provider.Cards -> json("cards")
    Provider.MegaPay -> json("mega_pay")
    Provider.MBank -> json("mbank")
    is Provider.Other -> jsonOf("kind" to "other", "name" to value.name)
}

private fun paymentRef(value: PaymentRef) = jsonOf(
    "kind" to value.kind.toString(),
    "order_number" to value.orderNumber,
    "gateway_number" to value.gatewayNumber,
    "provider" to canonical(value.provider),
    "transaction_id" to value.transactionId,
    "confirm_identifier" to value.confirmIdentifier,
    "amount" to canonical(value.amount),
    "currency" to value.currency,
    "is_claimed" to true.takeIf { value.isClaimed },
    "entry_id" to value.entryId,
    "transaction_from_code" to true.takeIf { value.transactionFromCode },
)

private fun journalEntry(value: JournalEntry) = jsonOf(
    "id" to value.id, "payment" to canonical(value.payment), "begun_ms" to value.begun.toEpochMilli(),
    "state" to canonical(value.state), "is_finished" to true.takeIf { value.isFinished }, "reason" to value.reason, "code" to value.code,
    "page_url" to value.pageUrl, "qr_text" to value.qrText, "note" to value.note,
)

private fun status(value: PaymentStatus): JsonElement = when (value) {
    PaymentStatus.Charged -> json("charged")
    PaymentStatus.Rejected -> json("rejected")
    is PaymentStatus.Other -> jsonOf("kind" to "other", "word" to value.word)
}

private fun report(value: StatusReport) = jsonOf(
    "status" to canonical(value.status), "code" to value.code, "reason" to value.reason,
    "order_number" to value.orderNumber, "amount" to canonical(value.amount), "currency" to value.currency,
    "raw" to value.raw,
)

private fun cardPaymentCreated(value: CardPaymentCreated) = jsonOf(
    "payment" to canonical(value.payment), "next_step" to canonical(value.nextStep), "code" to value.code,
    "amount" to canonical(value.amount), "currency" to value.currency, "raw" to value.raw,
)

private fun mbankPaymentCreated(value: MbankPaymentCreated) = jsonOf(
    "payment" to canonical(value.payment), "code" to value.code, "reason" to value.reason, "status" to value.status,
    "raw" to value.raw,
)

private fun mbankConfirmed(value: MbankConfirmed) = jsonOf(
    "payment" to canonical(value.payment), "code" to value.code, "reason" to value.reason, "status" to value.status,
    "raw" to value.raw,
)

private fun megapayChecked(value: MegapayChecked) = jsonOf(
    "payment" to canonical(value.payment), "commission" to canonical(value.commission), "total" to canonical(value.total),
    "pin_lifetime_ms" to value.pinLifetime?.inWholeMilliseconds, "code" to value.code, "reason" to value.reason, "raw" to value.raw,
)

private fun megapayAccepted(value: MegapayAccepted) = jsonOf(
    "payment" to canonical(value.payment), "transaction_id" to value.transactionId, "code" to value.code, "reason" to value.reason,
    "status" to value.status, "raw" to value.raw,
)

private fun payFormCreated(value: PayFormCreated) = jsonOf(
    "payment" to canonical(value.payment), "pay_form_url" to value.payFormUrl.toString(), "raw" to value.raw,
)

private fun qrImage(value: QrImage) = jsonOf(
    "payment" to canonical(value.payment),
    "png" to jsonOf("\$bytes" to Base64.getEncoder().encodeToString(value.png)),
    "raw" to value.raw,
)

private fun qrData(value: QrData) = jsonOf(
    "payload" to value.payload, "transaction_id" to value.transactionId, "payment" to canonical(value.payment),
    "raw" to value.raw,
)

private fun qrCode(value: QrCode): JsonElement {
    val rows = value.modules().map { row -> row.joinToString("") { if (it) "1" else "0" } }
    return jsonOf("size" to rows.size, "rows" to rows)
}

private fun callback(value: Callback) = jsonOf(
    "order_number" to value.orderNumber, "amount" to canonical(value.amount), "currency" to value.currency,
    "status" to canonical(value.status), "date_created" to canonical(value.dateCreated),
    "date_created_text" to value.dateCreatedText, "requisite" to value.requisite,
    "provider" to canonical(value.provider), "missing" to value.missing, "raw" to value.raw,
    "dedup_key" to value.dedupKey(), "payment_ref" to canonical(value.paymentRef()),
)

private fun elqr(value: Elqr) = jsonOf(
    "link" to value.link, "kind" to value.kind.toString(), "provider" to value.provider, "service_code" to value.serviceCode,
    "recipient" to value.recipient, "transaction" to value.transaction, "amount_editable" to value.amountEditable,
    "recipient_editable" to value.recipientEditable, "merchant_id" to value.merchantId,
    "merchant_service" to value.merchantService, "comment" to value.comment, "fields" to canonical(value.fields),
    "mcc" to value.mcc, "currency" to value.currency, "amount_tyiyn" to value.amountTyiyn, "payee" to value.payee,
    "other" to canonical(value.other), "checksum_ok" to value.checksumOk,
)

private fun verdict(value: Verdict): JsonElement {
    val payment = "payment" to canonical(value.payment)
    val report = "report" to canonical(value.report)
    val form = when (value) {
        is Verdict.Charged -> jsonOf("kind" to "charged", payment, report, "compared" to value.compared)
        is Verdict.Rejected -> jsonOf("kind" to "rejected", payment, report)
        is Verdict.Pending -> jsonOf("kind" to "pending", payment, report)
        is Verdict.Mismatch -> jsonOf("kind" to "mismatch", payment, "fields" to value.fields, report)
        is Verdict.Unverifiable -> jsonOf("kind" to "unverifiable", payment, "why" to value.why, report)
    }
    return JsonObject(form + ("is_charged" to json(value.isCharged)))
}

private fun violation(value: Violation) =
    jsonOf("field" to value.field, "rule" to value.rule.toString(), "limit" to value.limit, "text" to value.text)

private fun error(value: PaymentException): JsonElement {
    val shared = jsonOf(
        "kind" to value::class.simpleName, "text" to value.message,
        "payment_may_exist" to value.paymentMayExist, "is_retryable" to value.isRetryable,
    )
    return JsonObject(fieldsOf(value) + shared)
}

private fun fieldsOf(value: PaymentException) = when (value) {
    is PaymentException.Invalid -> jsonOf("violations" to canonical(value.violations))
    is PaymentException.Misconfigured -> jsonOf("detail" to value.detail, *response(value))
    is PaymentException.Unauthorized -> jsonOf("detail" to value.detail, *response(value))
    is PaymentException.Unavailable ->
        jsonOf("detail" to value.detail, "retry_after_ms" to value.retryAfter?.inWholeMilliseconds, *response(value))
    is PaymentException.Refused -> jsonOf("reason" to value.reason, *response(value))
    is PaymentException.OutcomeUnknown -> jsonOf(
        "payment" to canonical(value.payment), "reason" to value.reason, "detail" to value.detail, *response(value),
    )
    is PaymentException.Unexpected -> jsonOf("detail" to value.detail, *response(value))
    is PaymentException.DeadlineExpired -> jsonOf("last" to canonical(value.last))
}

/** What every error keeps of a response. */
private fun response(error: PaymentException) =
    arrayOf("http_status" to error.httpStatus, "code" to error.code, "body" to error.body)
