package dev.kassa.sandbox

import kotlinx.serialization.json.JsonNull
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.jsonArray
import kotlinx.serialization.json.jsonObject
import kotlinx.serialization.json.jsonPrimitive
import java.math.BigDecimal
import java.time.OffsetDateTime
import kotlin.time.Duration.Companion.milliseconds

// Reads what the sandbox tells. Numbers are taken by their digits.

internal fun JsonObject.textOrNull(name: String): String? =
    get(name)?.takeIf { it !is JsonNull }?.jsonPrimitive?.content

internal fun JsonObject.text(name: String): String =
    textOrNull(name) ?: throw SandboxException("this is not the sandbox of this package: it does not tell $name")

internal fun JsonObject.intOrNull(name: String): Int? = textOrNull(name)?.toInt()

internal fun JsonObject.flag(name: String): Boolean = text(name).toBooleanStrict()

internal fun JsonObject.time(name: String): OffsetDateTime = OffsetDateTime.parse(text(name))

internal fun JsonObject.list(name: String): List<JsonObject> = get(name)?.jsonArray.orEmpty().map { it.jsonObject }

internal inline fun <reified T> JsonObject.namedOrNull(name: String): T? where T : Enum<T>, T : Word =
    textOrNull(name)?.let { named<T>(it) }

/** An object of those fields that are given. Only [JsonNull] makes one that is null. */
internal fun objectOf(vararg fields: Pair<String, Any?>): JsonObject = JsonObject(
    fields.mapNotNull { (name, value) ->
        when (value) {
            null -> null
            is Number -> name to JsonPrimitive(value)
            is Boolean -> name to JsonPrimitive(value)
            is JsonNull -> name to value
            is Word -> name to JsonPrimitive(value.word)
            else -> name to JsonPrimitive(value.toString())
        }
    }.toMap(),
)

internal fun payment(told: JsonObject) = Payment(
    kind = named(told.text("kind")),
    orderNumber = told.text("order_number"),
    gatewayNumber = told.text("gateway_number"),
    transactionId = told.textOrNull("transaction_id"),
    provider = told.namedOrNull<Sandbox.Provider>("provider"),
    amount = told.textOrNull("amount")?.let(::BigDecimal),
    currency = told.text("currency"),
    status = told.text("status"),
    code = told.text("code"),
    timesCharged = told.text("times_charged").toInt(),
    createdAt = told.time("created_at"),
)

internal fun request(told: JsonObject) = Request(
    endpoint = named(told.text("endpoint")),
    orderNumber = told.textOrNull("order_number"),
    httpStatus = told.intOrNull("http_status"),
    fault = told.namedOrNull<FaultName>("fault"),
    at = told.time("at"),
)

internal fun callbackAttempt(told: JsonObject) = CallbackAttempt(
    orderNumber = told.text("order_number"),
    url = told.text("url"),
    status = told.text("status"),
    attempt = told.text("attempt").toInt(),
    httpStatus = told.intOrNull("http_status"),
    error = told.textOrNull("error"),
    fault = told.namedOrNull<FaultName>("fault"),
    body = told.text("body"),
    at = told.time("at"),
)

internal fun switchValues(told: JsonObject) = SwitchValues(
    reusedOrderNumber = named(told.text("reused_order_number")),
    statusNumbers = named(told.text("status_numbers")),
    threeDs1Page = told.flag("three_ds_1_page"),
    redirectDeclines = told.flag("redirect_declines"),
    language = named(told.text("language")),
    actsAs = named(told.text("acts_as")),
    mbankQuid = named(told.text("mbank_quid")),
)

internal fun clockValues(told: JsonObject) = ClockValues(
    now = told.time("now"),
    ahead = told.text("ahead_ms").toLong().milliseconds,
    resolveAfterQueries = told.intOrNull("resolve_after_queries"),
    resolveAfter = told.textOrNull("resolve_after_ms")?.toLong()?.milliseconds,
)

internal fun fault(told: JsonObject) = Fault(
    id = told.text("id").toLong(),
    name = named(told.text("name")),
    struck = told.text("struck").toInt(),
    endpoint = told.namedOrNull<Endpoint>("endpoint"),
    orderNumber = told.textOrNull("order_number"),
    probability = told.textOrNull("probability")?.toDouble() ?: 1.0,
    times = told.intOrNull("times"),
)
