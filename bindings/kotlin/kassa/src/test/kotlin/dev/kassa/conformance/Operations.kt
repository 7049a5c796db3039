package dev.kassa.conformance

import dev.kassa.Callback
import dev.kassa.CheckoutLabels
import dev.kassa.CheckoutTexts
import dev.kassa.Dialect
import dev.kassa.Elqr
import dev.kassa.Gateway
import dev.kassa.Kassa
import dev.kassa.Language
import dev.kassa.PaymentEntry
import dev.kassa.PaymentException
import dev.kassa.PaymentRef
import dev.kassa.Provider
import dev.kassa.QrCode
import dev.kassa.ReturnRedirect
import dev.kassa.Recovered
import dev.kassa.WatchReport
import dev.kassa.calling
import dev.kassa.internal.parseLocalDateTime
import dev.kassa.support.at
import dev.kassa.support.decimal
import dev.kassa.support.int
import dev.kassa.support.isTrue
import dev.kassa.support.jsonOf
import dev.kassa.support.jsonText
import dev.kassa.support.optionalLong
import dev.kassa.support.optionalText
import dev.kassa.support.parseJson
import dev.kassa.support.text
import dev.kassa.toKassa
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.toList
import kotlinx.serialization.json.JsonElement
import java.nio.ByteBuffer

// Maps the names in the vectors to the SDK's methods.

/** What a step brought: its result in the canonical form, and everything that can be printed of it. */
class Came(val result: JsonElement, val printed: String)

/** The step's value in the canonical form, or its exception. */
inline fun came(form: (Any?) -> JsonElement = ::canonical, step: () -> Any?): Came = try {
    val value = step()
    Came(jsonOf("answer" to form(value)), printed(value))
} catch (error: PaymentException) {
    Came(jsonOf("error" to canonical(error)), printed(error))
}

/** Everything that the language can print of a value: `toString`, and the stack trace of an exception, causes included. */
fun printed(value: Any?): String = when (value) {
    is Throwable -> "$value\n${value.localizedMessage}\n${value.stackTraceToString()}"
    is Iterable<*> -> value.joinToString("\n", transform = ::printed)
    is Ends -> printed(value.recovered) + printed(value.error)
    else -> value.toString()
}

val gatewayCalls: Map<String, suspend (AnyGateway, JsonElement) -> Any?> = mapOf(
    "create_card_payment" to { gateway, input -> gateway.createCardPayment(cardPaymentOf(input)) },
    "payment_status" to { gateway, input ->
        gateway.paymentStatus(input.at("gateway_number").text, input.at("language").optionalText)
    },
    "create_mbank_payment" to { gateway, input -> gateway.createMbankPayment(mbankPaymentOf(input)) },
    "confirm_mbank_payment" to { gateway, input ->
        gateway.confirmMbankPayment(paymentRefOf(input.at("payment")), input.at("otp").text)
    },
    "check_megapay" to { gateway, input -> gateway.checkMegapay(megapayPaymentOf(input)) },
    "pay_by_megapay" to { gateway, input ->
        gateway.payByMegapay(megapayPaymentOf(input.at("payment")), input.at("pin").text)
    },
    "create_pay_form" to { gateway, input -> gateway.createPayForm(payFormOf(input)) },
    "provider_status" to { gateway, input ->
        gateway.providerStatus(input.at("order_number").text, providerOf(input.at("provider")))
    },
    "create_qr_image" to { gateway, input -> gateway.createQrImage(qrPaymentOf(input)) },
    "create_qr_data" to { gateway, input -> gateway.createQrData(qrPaymentOf(input)) },
    "qr_status" to { gateway, input -> gateway.qrStatus(input.at("transaction_id").text) },
    "check" to { gateway, input -> gateway.check(paymentRefOf(input.at("payment"))) },
    "verify_callback" to { gateway, input ->
        gateway.verifyCallback(Callback.parse(input.at("callback").jsonText), paymentRefOf(input.at("payment")))
    },
    "verify_return" to { gateway, input ->
        gateway.verifyReturn(ReturnRedirect.parse(input.at("url").text), paymentRefOf(input.at("payment")))
    },
    "unfinished" to { gateway, _ -> gateway.unfinished() },
    "recover" to { gateway, input -> recovered(gateway.recover(recoveryPolicyOf(input))) },
    "finish_entry" to { gateway, input -> gateway.finish(input.at("id").text).let { null } },
    "entry" to { gateway, input -> gateway.journal!!.entry(paymentRefOf(input.at("payment"))) },
    "close" to { gateway, _ -> gateway.close().let { null } },
)

/** Every end until there are no more, and the error that ended the recovery, if one did. */
private suspend fun recovered(recovery: Flow<Recovered>): Ends {
    val ends = mutableListOf<Recovered>()
    return try {
        recovery.toList(ends)
        Ends(ends, null)
    } catch (error: PaymentException) {
        Ends(ends, error)
    }
}

/** What a recovery brought. */
data class Ends(val recovered: List<Recovered>, val error: PaymentException?)

suspend fun watchStep(watch: AnyWatch, name: String): Came = when (name) {
    "next" -> came(::watchReport) { watch.next() }
    "outcome" -> came { watch.outcome() }
    "all" -> all(watch)
    else -> error("no step is named $name")
}

/** Every report until the end, and the error that ended the watch, if one did. */
private suspend fun all(watch: AnyWatch): Came {
    val reports = mutableListOf<WatchReport>()
    val error = try {
        watch.reports().toList(reports)
        null
    } catch (error: PaymentException) {
        error
    }
    val result = jsonOf("reports" to reports.map(::watchReport), "error" to canonical(error))
    return Came(jsonOf("answer" to result), printed(reports) + printed(error))
}

/** What needs no gateway. */
val functions: Map<String, (JsonElement) -> Any?> = mapOf(
    "parse_callback" to { Callback.parse(it.at("body").jsonText) },
    "callback_status" to { Callback.parse(it.at("callback").jsonText).statusBy(dialectOf(it.at("dialect"))) },
    "parse_return_redirect" to { ReturnRedirect.parse(it.at("url").text) },
    "parse_payment_ref" to { PaymentRef.parse(it.at("text").text) },
    "callback_url" to { callbackKeyOf(it).callbackUrl(it.at("url").text, paymentRefOf(it.at("payment"))) },
    "return_url" to { callbackKeyOf(it).returnUrl(it.at("url").text, paymentRefOf(it.at("payment"))) },
    "read_callback_url" to { callbackKeyOf(it).readCallbackUrl(it.at("called").text) },
    "read_return_url" to { callbackKeyOf(it).readReturnUrl(it.at("called").text) },
    "payment_ref_text" to { paymentRefOf(it).toString() },
    "parse_payment_entry" to { PaymentEntry.parse(it.at("text").text) },
    "payment_entry_text" to { paymentEntryOf(it).toString() },
    "can_be_checked" to { paymentRefOf(it).canBeChecked },
    "make_payment_ref" to { madePaymentRef(it) },
    "payment_ref_of" to { paymentRefOfRequest(it.at("request").at("do").text, it.at("request").at("input")) },
    "advice" to { adviceOn(it.at("request").at("do").text, it.at("request").at("input")) },
    "parse_local_date_time" to { calling { parseLocalDateTime(it.at("text").text)?.toKassa() } },
    "provider_from_name" to { Provider.fromName(it.at("name").text) },
    "read_dialect" to { parseJson(Dialect.fromJson(it.at("json").jsonText).toJson()) },
    "named_dialect" to { parseJson(Dialect.named(it.at("name").text).toJson()) },
    "dialect_names" to { Dialect.names() },
    "explain_response" to { dialectOf(it.at("dialect")).explain(it.at("endpoint").text, it.at("response").jsonText) },
    "dialect_advice" to { dialectOf(it.at("dialect")).advice() },
    "qr_data_advice" to { qrDataOf(it).advice() },
    "som_to_tyiyn" to { Kassa.somToTyiyn(it.at("som").decimal) },
    "tyiyn_to_som" to { Kassa.tyiynToSom(it.at("tyiyn").optionalLong!!) },
    "new_order_number" to { Kassa.newOrderNumber() },
    "normalized_phone" to { Kassa.normalizedPhone(it.at("text").text) },
    "encode_qr" to { qrCodeOf(it) },
    "parse_elqr" to { Elqr.parse(it.at("text").text) },
    "write_elqr" to { elqrOf(it).text() },
    "check_elqr" to { checkElqr(it) },
    "elqr_bank_links" to { Elqr.parse(it.at("text").text).bankLinks() },
    "draw_qr_png" to { pngSize(qrCodeOf(it).png(it.at("px").int)) },
    "draw_qr_text" to { qrCodeOf(it).text().lines() },
    "draw_qr_svg" to { qrCodeOf(it).svg() },
    "type_number" to { typed("number", it) },
    "type_expiry" to { typed("expiry", it) },
    "type_cvc" to { typed("cvc", it) },
    "type_holder_name" to { typed("holder_name", it) },
    "violation_text" to { violationOf(it).textIn(Language.fromTag(it.at("language").text)) },
    "advice_text" to { adviceOf(it).textIn(Language.fromTag(it.at("language").text)) },
    "checkout_texts" to {
        CheckoutTexts.of(checkoutStateOf(it.at("state")), it.at("may_have_paid").isTrue, Language.fromTag(it.at("language").text))
    },
    "checkout_labels" to { CheckoutLabels.of(Language.fromTag(it.at("language").text)) },
    "amount_text" to {
        Kassa.amountText(it.at("amount").decimal, it.at("currency").text, Language.fromTag(it.at("language").text))
    },
    "pay_text" to { Kassa.payText(it.at("amount").decimal, it.at("currency").text, Language.fromTag(it.at("language").text)) },
    "phone_hint" to { Kassa.phoneHint(it.at("text").text, Language.fromTag(it.at("language").text)) },
    "language_from_tag" to { Language.fromTag(it.at("tag").text).toString() },
    "typed_card" to { cardInputOf(it).card().maskedNumber },
)

/** One field of a card form, after its text was typed. */
private fun typed(field: String, input: JsonElement): JsonElement {
    val form = cardInputOf(jsonOf(field to input.at("text"), "as_of" to input.at("as_of")))
    return when (field) {
        "number" -> jsonOf(
            "text" to form.number, "state" to canonical(form.numberState), "brand" to form.brand.toString(),
            "lengths" to form.numberLengths,
        )
        "expiry" -> jsonOf("text" to form.expiry, "state" to canonical(form.expiryState))
        "cvc" -> jsonOf("text" to form.cvc, "state" to canonical(form.cvcState))
        else -> jsonOf("text" to form.holderName, "state" to canonical(form.holderNameState))
    }
}

private fun paymentRefOfRequest(name: String, input: JsonElement) = when (name) {
    "create_card_payment" -> cardPaymentOf(input).paymentRef()
    "create_mbank_payment" -> mbankPaymentOf(input).paymentRef()
    "check_megapay" -> megapayPaymentOf(input).paymentRef()
    "create_pay_form" -> payFormOf(input).paymentRef()
    "create_qr_image", "create_qr_data" -> qrPaymentOf(input).paymentRef()
    else -> error("no reference for $name")
}

private fun adviceOn(name: String, input: JsonElement) = when (name) {
    "create_card_payment" -> cardPaymentOf(input).advice()
    "create_mbank_payment" -> mbankPaymentOf(input).advice()
    "check_megapay" -> megapayPaymentOf(input).advice()
    "create_pay_form" -> payFormOf(input).advice()
    else -> error("no advice on $name")
}

/** Nothing where it is right. */
private fun checkElqr(input: JsonElement): Any? {
    Elqr.parse(input.at("text").text).check(input.at("amount_tyiyn").optionalLong!!)
    return null
}

private fun qrCodeOf(input: JsonElement) = QrCode.encode(input.at("text").text, levelOf(input.at("level")))

/** The first chunk of a PNG says how wide and high it is. */
private fun pngSize(png: ByteArray) = ByteBuffer.wrap(png).let { jsonOf("width" to it.getInt(16), "height" to it.getInt(20)) }

/** A value made of the input, in every printed form that it has. */
fun print(type: String, value: JsonElement): String = when (type) {
    "card" -> cardOf(value).let { "$it ${it.maskedNumber}" }
    "card_input" -> cardInputOf(value).toString()
    "card_payment" -> cardPaymentOf(value).toString()
    "mbank_payment" -> mbankPaymentOf(value).toString()
    "megapay_payment" -> megapayPaymentOf(value).toString()
    "pay_form" -> payFormOf(value).toString()
    "qr_payment" -> qrPaymentOf(value).toString()
    "callback_key" -> callbackKeyOf(value).toString()
    "credentials" -> configOf(value, "").credentials.toString()
    "proxy" -> proxyOf(value.at("proxy"), "").toString()
    "gateway_config" -> configOf(value, "").toString()
    "gateway" -> Gateway(configOf(value, "")).toString()
    "poll_policy" -> policyOf(value).toString()
    "payment_ref" -> paymentRefOf(value).toString()
    else -> error("no type is named $type")
}
