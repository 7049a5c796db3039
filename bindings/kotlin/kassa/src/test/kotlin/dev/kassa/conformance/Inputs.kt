package dev.kassa.conformance

import dev.kassa.Advice
import dev.kassa.AdviceTopic
import dev.kassa.CallbackKey
import dev.kassa.Card
import dev.kassa.CardInput
import dev.kassa.CardPayment
import dev.kassa.CheckoutMessage
import dev.kassa.CheckoutState
import dev.kassa.Credentials
import dev.kassa.DeclineReason
import dev.kassa.Dialect
import dev.kassa.Elqr
import dev.kassa.ElqrKind
import dev.kassa.GatewayConfig
import dev.kassa.MbankPayment
import dev.kassa.MegapayPayment
import dev.kassa.MessageTopic
import dev.kassa.PayForm
import dev.kassa.PaymentEntry
import dev.kassa.PaymentKind
import dev.kassa.PaymentMethod
import dev.kassa.PaymentRef
import dev.kassa.PollPolicy
import dev.kassa.Provider
import dev.kassa.Proxy
import dev.kassa.QrData
import dev.kassa.QrLevel
import dev.kassa.QrPayment
import dev.kassa.Rule
import dev.kassa.RecoveryPolicy
import dev.kassa.StatusQueryForm
import dev.kassa.Violation
import dev.kassa.support.at
import dev.kassa.support.decimal
import dev.kassa.support.int
import dev.kassa.support.isTrue
import dev.kassa.support.items
import dev.kassa.support.jsonText
import dev.kassa.support.optionalLong
import dev.kassa.support.optionalMillis
import dev.kassa.support.optionalText
import dev.kassa.support.orNull
import dev.kassa.support.text
import kotlinx.serialization.json.JsonElement
import java.time.Instant
import kotlin.time.toJavaDuration

// Builds the SDK's values from the JSON of a vector.

fun configOf(value: JsonElement, serverUrl: String): GatewayConfig {
    val credentials = Credentials(value.at("login").text, value.at("password").text)
    val builder = GatewayConfig.Builder(value.at("base_url").text.replace("{server}", serverUrl), credentials)
    value.at("connect_timeout_ms").optionalMillis?.let { builder.connectTimeout(it.toJavaDuration()) }
    value.at("payment_deadline_ms").optionalMillis?.let { builder.paymentDeadline(it.toJavaDuration()) }
    value.at("query_deadline_ms").optionalMillis?.let { builder.queryDeadline(it.toJavaDuration()) }
    value.at("query_retries").orNull?.let { builder.queryRetries(it.int) }
    value.at("status_query").optionalText?.let { builder.statusQuery(StatusQueryForm.valueOf(it.uppercase())) }
    builder.dialect(dialectOf(value.at("dialect")))
    value.at("proxy").orNull?.let { builder.proxy(proxyOf(it, serverUrl)) }
    builder.extraRootCertificates(value.at("extra_root_certificates").items.map { it.text })
    builder.plainHttpHosts(value.at("plain_http_hosts").items.map { it.text })
    builder.userAgentSuffix(value.at("user_agent_suffix").optionalText)
    return builder.checkLuhn(value.at("check_luhn").isTrue).build()
}

/** The default one where there is none, one by its name where a text of small letters stands there, else one by its JSON. */
fun dialectOf(value: JsonElement): Dialect {
    val name = value.optionalText.orEmpty()
    return when {
        value.orNull == null -> Dialect()
        name.isNotEmpty() && name.all { it in 'a'..'z' } -> Dialect.named(name)
        else -> Dialect.fromJson(value.jsonText)
    }
}

fun qrDataOf(input: JsonElement) = QrData(
    input.at("payload").optionalText,
    input.at("transaction_id").optionalText,
    paymentRefOf(input.at("payment")),
    input.at("raw").optionalText.orEmpty(),
)

fun proxyOf(value: JsonElement, serverUrl: String): Proxy = when (value.optionalText) {
    "direct" -> Proxy.direct()
    "environment" -> Proxy.environment()
    else -> Proxy.url(value.at("url").text.replace("{server}", serverUrl))
}

/** A key by its secret, and by the previous ones. */
fun callbackKeyOf(input: JsonElement): CallbackKey =
    input.at("previous").items.fold(CallbackKey(input.at("secret").text)) { key, secret -> key.withPrevious(secret.text) }

fun cardOf(input: JsonElement) = Card(
    input.at("pan").text,
    input.at("expiry_month").text,
    input.at("expiry_year").int,
    input.at("cvc").text,
    input.at("holder_name").text,
)

fun cardInputOf(input: JsonElement): CardInput {
    fun typed(name: String) = input.at(name).optionalText.orEmpty()
    val form = CardInput().withNumber(typed("number")).withExpiry(typed("expiry"))
        .withCvc(typed("cvc")).withHolderName(typed("holder_name"))
    return input.at("as_of").orNull?.items?.let { (year, month) -> form.asOf(year.int, month.int) } ?: form
}

fun violationOf(input: JsonElement) = Violation(
    input.at("field").text,
    Rule.valueOf(input.at("rule").text.uppercase()),
    input.at("limit").optionalText,
    input.at("text").text,
)

fun adviceOf(input: JsonElement) =
    Advice(input.at("field").text, AdviceTopic.valueOf(input.at("topic").text.uppercase()), input.at("text").text)

fun checkoutStateOf(value: JsonElement): CheckoutState {
    val message = value.at("message").orNull?.let(::messageOf)
    val methods = value.at("methods").items.map(::methodOf)
    return when (val kind = value.at("kind").text) {
        "opening" -> CheckoutState.Opening(message)
        "ready" -> CheckoutState.Ready(methods, message, value.at("can_keep_method").isTrue)
        "sending" -> CheckoutState.Sending(message)
        "enter_otp" -> CheckoutState.EnterOtp(
            methodOf(value.at("method")), value.at("attempts_left").int, message, value.at("phone_last2").optionalText,
            value.at("commission").orNull?.decimal, value.at("total").orNull?.decimal,
            value.at("code_expires_at_ms").optionalLong?.let(Instant::ofEpochMilli), value.at("can_change_method").isTrue,
        )
        "open_page" -> CheckoutState.OpenPage(value.at("url").text, value.at("begun_here").isTrue, methods, message)
        "show_qr" -> CheckoutState.ShowQr(value.at("text").text, message, value.at("can_change_method").isTrue)
        "waiting" -> CheckoutState.Waiting(value.at("page_url").optionalText, methods, message)
        "paid" -> CheckoutState.Paid(value.at("amount").decimal, value.at("currency").text)
        "not_paid" -> CheckoutState.NotPaid(messageOf(value.at("reason")))
        "person_needed" -> CheckoutState.PersonNeeded(messageOf(value.at("message")))
        "expired" -> CheckoutState.Expired
        "token_expired" -> CheckoutState.TokenExpired
        else -> error("no state is named $kind")
    }
}

private fun methodOf(value: JsonElement) = PaymentMethod.valueOf(value.text.uppercase())

private fun messageOf(value: JsonElement) =
    CheckoutMessage(
        MessageTopic.valueOf(value.at("topic").text.uppercase()), value.at("reason").optionalText,
        value.at("decline").optionalText?.let { DeclineReason.valueOf(it.uppercase()) },
    )

fun cardPaymentOf(input: JsonElement) = CardPayment(
    orderNumber = input.at("order_number").text,
    description = input.at("description").text,
    amount = input.at("amount").decimal,
    currency = input.at("currency").text,
    card = cardOf(input),
    language = input.at("language").text,
    callbackUrl = input.at("callback_url").text,
    ip = input.at("ip").text,
    returnUrl = input.at("return_url").optionalText,
    email = input.at("email").optionalText,
)

fun mbankPaymentOf(input: JsonElement) = MbankPayment(
    input.at("order_number").text,
    input.at("phone").text,
    input.at("amount_som").optionalLong!!,
    input.at("comment").text,
    input.at("callback_url").optionalText,
)

fun megapayPaymentOf(input: JsonElement) = MegapayPayment(
    input.at("order_number").text,
    input.at("amount").decimal,
    input.at("phone").text,
    input.at("account").text,
    input.at("callback_url").optionalText,
)

fun payFormOf(input: JsonElement) = PayForm(
    input.at("amount").decimal, input.at("service_name").text, input.at("callback_url").text, input.at("return_url").text,
    input.at("entry_id").optionalText,
)

fun qrPaymentOf(input: JsonElement) = QrPayment(
    input.at("sum_tyiyn").optionalLong, input.at("requisite").optionalText, input.at("callback_url").optionalText,
    input.at("entry_id").optionalText,
)

fun providerOf(value: JsonElement): Provider = when (value.optionalText) {
    "cards" -> Provider.Cards
    "mega_pay" -> Provider.MegaPay
    "mbank" -> Provider.MBank
    else -> Provider.Other(value.at("name").text)
}

fun paymentRefOf(value: JsonElement) = PaymentRef(
    PaymentKind.valueOf(value.at("kind").text.uppercase()),
    value.at("order_number").optionalText,
    value.at("gateway_number").optionalText,
    value.at("provider").orNull?.let(::providerOf),
    value.at("transaction_id").optionalText,
    value.at("confirm_identifier").optionalText,
    value.at("amount").at("\$decimal").orNull?.decimal,
    value.at("currency").optionalText,
    value.at("is_claimed").isTrue,
    value.at("entry_id").optionalText,
    value.at("transaction_from_code").isTrue,
)

fun paymentEntryOf(value: JsonElement) =
    PaymentEntry(paymentRefOf(value.at("payment")), value.at("page_url").optionalText, value.at("qr_text").optionalText)

/** A code to be written. What is absent is left at its default. */
fun elqrOf(input: JsonElement): Elqr {
    val code = Elqr(
        ElqrKind.valueOf(input.at("kind").text.uppercase()),
        input.at("provider").text,
        input.at("payee").text,
        input.at("mcc").text,
        serviceCode = input.at("service_code").optionalText,
        amountTyiyn = input.at("amount_tyiyn").optionalLong,
        transaction = input.at("transaction").optionalText,
        amountEditable = input.at("amount_editable").orNull?.isTrue,
        comment = input.at("comment").optionalText,
    )
    return input.at("link").optionalText?.let { code.copy(link = it) } ?: code
}

/** A reference as its functions make it. */
fun madePaymentRef(input: JsonElement): PaymentRef {
    val made = when (val kind = input.at("kind").text) {
        "card" -> PaymentRef.card(input.at("order_number").text, input.at("amount").decimal, input.at("currency").text)
        "mbank" -> PaymentRef.mbank(input.at("order_number").text, input.at("amount_som").optionalLong!!)
        "megapay" -> PaymentRef.megapay(input.at("order_number").text, input.at("amount").decimal)
        "pay_form" -> PaymentRef.payForm(input.at("amount").decimal)
        "qr" -> PaymentRef.qr(input.at("sum_tyiyn").optionalLong)
        else -> error("no kind is named $kind")
    }
    val numbered = input.at("gateway_number").optionalText?.let(made::withGatewayNumber) ?: made
    val identified = input.at("transaction_id").optionalText?.let(numbered::withTransactionId) ?: numbered
    val claimed = input.at("claimed").orNull ?: return identified
    return identified.withClaimedNumber(claimed.at("order_number").text, claimed.at("provider").orNull?.let(::providerOf))
}

fun policyOf(input: JsonElement): PollPolicy {
    val default = PollPolicy()
    return PollPolicy(
        input.at("interval_ms").optionalMillis ?: default.interval,
        input.at("deadline_ms").optionalMillis ?: default.deadline,
    )
}

fun recoveryPolicyOf(input: JsonElement): RecoveryPolicy {
    val default = RecoveryPolicy()
    return RecoveryPolicy(
        input.at("interval_ms").optionalMillis ?: default.interval,
        input.at("deadline_ms").optionalMillis ?: default.deadline,
        input.at("at_once").orNull?.int ?: default.atOnce,
        input.at("follow_new").isTrue,
    )
}

fun levelOf(value: JsonElement) = QrLevel.valueOf(value.text.uppercase())
