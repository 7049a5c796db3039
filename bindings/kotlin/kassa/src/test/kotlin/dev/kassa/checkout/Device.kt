package dev.kassa.checkout

import dev.kassa.Checkout
import dev.kassa.CheckoutDetails
import dev.kassa.CheckoutMessage
import dev.kassa.CheckoutState
import dev.kassa.PaymentException
import dev.kassa.conformance.canonical
import dev.kassa.conformance.cardOf
import dev.kassa.support.PATIENCE_SECONDS
import dev.kassa.support.at
import dev.kassa.support.json
import dev.kassa.support.jsonOf
import dev.kassa.support.optionalLong
import dev.kassa.support.optionalText
import dev.kassa.support.text
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.cancel
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.launch
import kotlinx.coroutines.withTimeoutOrNull
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonNull
import kotlinx.serialization.json.JsonObject
import java.util.concurrent.atomic.AtomicLong

/** The payer's app on one device: a checkout, and what its screen has shown last. */
class Device(private val checkout: Checkout) : AutoCloseable {
    private val scope = CoroutineScope(Dispatchers.Default)
    private val states = Channel<CheckoutState>(Channel.CONFLATED)
    private var shown: JsonElement = JsonNull

    init {
        scope.launch {
            checkout.states.collect(states::send)
            states.close()
        }
    }

    /** Waits until the screen shows what is expected. It must show nothing of [never] on the way. */
    suspend fun until(expected: JsonElement, never: List<JsonElement>) {
        val seen = mutableListOf(shown)
        while (true) {
            check(never.none { matches(it, seen.last().at("kind")) }) { "must never show $never, and did: $seen" }
            if (matches(expected, seen.last())) return
            val next = withTimeoutOrNull(PATIENCE_SECONDS * 1_000) { states.receiveCatching() }
            checkNotNull(next) { "does not come to $expected: $seen" }
            shown = next.getOrNull()?.let(::canonicalState) ?: JsonNull
            seen += shown
            check(next.isSuccess || matches(expected, JsonNull)) { "ended before $expected: $seen" }
        }
    }

    /** What the payer does, or the app for them. */
    fun act(name: String, input: JsonElement): JsonElement {
        when (name) {
            "pay_by_mbank" -> checkout.payByMbank(input.at("phone").text)
            "pay_by_megapay" -> checkout.payByMegapay(input.at("phone").text)
            "pay_by_qr" -> checkout.payByQr()
            "pay_by_form" -> checkout.payByForm()
            "pay_by_card" -> checkout.payByCard(cardOf(input))
            "confirm" -> checkout.confirm(input.at("otp").text)
            "change_method" -> checkout.changeMethod()
            "keep_method" -> checkout.keepMethod()
            "page_opened" -> checkout.pageOpened()
            "came_back" -> checkout.cameBack()
            "check_now" -> checkout.checkNow()
            "renew_token" -> checkout.renewToken(input.at("client_token").text)
            "close" -> checkout.close()
            "details" -> return checkout.details?.let(::canonicalDetails) ?: JsonNull
            else -> error("no step of an app is named $name")
        }
        return JsonNull
    }

    /** The app dies: nobody closes anything, and the core's object is gone. */
    override fun close() {
        scope.cancel()
        checkout.core.close()
    }

    companion object {
        val steps = setOf(
            "pay_by_mbank", "pay_by_megapay", "pay_by_qr", "pay_by_form", "pay_by_card", "confirm", "change_method", "keep_method",
            "page_opened", "came_back", "check_now", "renew_token", "close", "details",
        )

        fun open(scene: Scene, input: JsonElement): Device {
            val serverUrl = input.at("server_url").optionalText ?: scene.serverUrl
            val clientToken = input.at("client_token").optionalText ?: scene.clientToken
            val failures = input.at("renews_after_failures").optionalLong
                ?: return Device(Checkout.open(serverUrl, clientToken))
            val calls = AtomicLong()
            return Device(
                Checkout.open(serverUrl, clientToken) {
                    check(calls.getAndIncrement() >= failures) { "the shop does not answer" }
                    scene.newToken()
                },
            )
        }
    }
}

/** What an action brought, in the canonical form. */
fun came(action: () -> JsonElement): JsonElement = try {
    jsonOf("answer" to action())
} catch (error: PaymentException) {
    jsonOf("error" to canonical(error))
}

private fun canonicalState(state: CheckoutState): JsonElement {
    val fields = when (state) {
        is CheckoutState.Opening -> jsonOf("message" to canonicalMessage(state.message))
        is CheckoutState.Ready -> jsonOf(
            "methods" to names(state), "message" to canonicalMessage(state.message), "can_keep_method" to state.canKeepMethod,
        )
        is CheckoutState.Sending -> jsonOf("message" to canonicalMessage(state.message))
        is CheckoutState.EnterOtp -> jsonOf(
            "method" to state.method.toString(), "attempts_left" to state.attemptsLeft, "message" to canonicalMessage(state.message),
            "phone_last2" to state.phoneLast2, "commission" to state.commission?.toPlainString(), "total" to state.total?.toPlainString(),
            "code_expires_at_ms" to state.codeExpiresAt?.toEpochMilli(), "can_change_method" to state.canChangeMethod,
        )
        is CheckoutState.OpenPage -> jsonOf(
            "url" to state.url, "begun_here" to state.begunHere, "methods" to names(state), "message" to canonicalMessage(state.message),
        )
        is CheckoutState.ShowQr -> jsonOf(
            "text" to state.text, "message" to canonicalMessage(state.message), "can_change_method" to state.canChangeMethod,
        )
        is CheckoutState.Waiting -> jsonOf(
            "page_url" to state.pageUrl, "methods" to names(state), "message" to canonicalMessage(state.message),
        )
        is CheckoutState.Paid -> jsonOf("amount" to state.amount.toPlainString(), "currency" to state.currency)
        is CheckoutState.NotPaid -> jsonOf("reason" to canonicalMessage(state.reason))
        is CheckoutState.PersonNeeded -> jsonOf("message" to canonicalMessage(state.message))
        CheckoutState.Expired, CheckoutState.TokenExpired -> jsonOf()
    }
    return JsonObject(fields + ("kind" to json(state.kind)))
}

private fun names(state: CheckoutState) = state.methods.map { it.toString() }

private fun canonicalMessage(message: CheckoutMessage?): JsonElement =
    message?.let { jsonOf("topic" to it.topic.toString(), "reason" to it.reason, "decline" to it.decline?.toString()) } ?: JsonNull

private fun canonicalDetails(details: CheckoutDetails) = jsonOf(
    "reference" to details.reference, "amount" to details.amount.toPlainString(), "currency" to details.currency,
    "description" to details.description, "methods" to details.methods.map { it.toString() }, "return_url" to details.returnUrl,
    "expires_at_ms" to details.expiresAt.toEpochMilli(),
)
