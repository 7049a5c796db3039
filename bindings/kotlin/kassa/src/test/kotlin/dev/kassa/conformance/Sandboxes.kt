package dev.kassa.conformance

import dev.kassa.sandbox.CallbackAttempt
import dev.kassa.sandbox.Endpoint
import dev.kassa.sandbox.FaultName
import dev.kassa.sandbox.Payment
import dev.kassa.sandbox.Request
import dev.kassa.sandbox.Sandbox
import dev.kassa.sandbox.SandboxOptions
import dev.kassa.support.PATIENCE_SECONDS
import dev.kassa.support.at
import dev.kassa.support.int
import dev.kassa.support.jsonOf
import dev.kassa.support.keys
import dev.kassa.support.optionalLong
import dev.kassa.support.optionalMillis
import dev.kassa.support.optionalText
import dev.kassa.support.orNull
import dev.kassa.support.statusOfPost
import dev.kassa.support.text
import kotlinx.serialization.json.JsonElement
import java.net.URI
import java.net.URLEncoder
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.TimeUnit
import kotlin.time.Duration.Companion.seconds

/** The sandbox of one vector: its own, or one that is shared, which a vector has for itself and leaves empty. */
class BorrowedSandbox private constructor(private val sandbox: Sandbox, private val isShared: Boolean) : AutoCloseable {
    val url: String get() = sandbox.baseUrl

    /** A step that is the sandbox's, or its payer's. */
    fun step(name: String, input: JsonElement): Any? = steps.getValue(name)(sandbox, input)

    override fun close() {
        if (!isShared) return sandbox.close()
        sandbox.reset()
        idle += sandbox
    }

    companion object {
        /** Those that may be shared, and that no vector uses at the moment. */
        private val idle = ConcurrentLinkedQueue<Sandbox>()

        /** With the login and the password of the vector's configuration, which are the same in all vectors. */
        fun of(spec: JsonElement): BorrowedSandbox? {
            val kind = spec.at("sandbox").orNull?.text ?: return null
            val config = spec.at("config")
            // No callback is sent again because its receiver had to wait for a processor.
            val patience = PATIENCE_SECONDS.seconds
            val options = SandboxOptions(
                login = config.at("login").text, password = config.at("password").text, callbackTimeout = patience, log = null,
            )
            val isShared = kind == "shared"
            return BorrowedSandbox((if (isShared) idle.poll() else null) ?: Sandbox.start(options), isShared)
        }

        fun stopAll() = generateSequence { idle.poll() }.forEach { it.close() }

        val steps: Map<String, (Sandbox, JsonElement) -> Any?> = mapOf(
            "set_fault" to { sandbox, input -> sandbox.setFault(input).let { null } },
            "clear_faults" to { sandbox, _ -> sandbox.faults.clear().let { null } },
            "approve" to { sandbox, input -> sandbox.approve(input.at("number").text).let { null } },
            "decline" to { sandbox, input -> sandbox.decline(input.at("number").text).let { null } },
            "post_form" to { sandbox, input -> sandbox.postForm(input) },
            "ledger" to { sandbox, _ -> sandbox.ledger().map(::ledgerLine) },
            "requests" to { sandbox, input -> onceThere(input) { sandbox.requests() }.map(::requestLine) },
            "callbacks" to { sandbox, input -> onceThere(input) { sandbox.callbacks() }.map(::callbackLine) },
        )
    }
}

private fun Sandbox.setFault(fault: JsonElement) {
    check(fault.keys.all { it in setOf("name", "endpoint", "order_number", "times", "delay_ms") }) { "a setting is not known: $fault" }
    faults.add(
        FaultName.entries.single { it.word == fault.at("name").text },
        orderNumber = fault.at("order_number").optionalText,
        times = fault.at("times").optionalLong?.toInt(),
        endpoint = fault.at("endpoint").optionalText?.let { word -> Endpoint.entries.single { it.word == word } },
        delay = fault.at("delay_ms").optionalMillis,
    )
}

/** What the payer's browser does; no redirect is followed. */
private fun Sandbox.postForm(input: JsonElement): Int {
    val fields = input.at("fields")
    val form = fields.keys.joinToString("&") { "$it=${URLEncoder.encode(fields.at(it).text, Charsets.UTF_8)}" }
    return statusOfPost(URI("$baseUrl${input.at("page").text}?token=${input.at("token").text}"), form)
}

/**
 * What is on record once there is as much as the step wants: a request may still be worked on when the SDK has given up on it, and a
 * callback's receiver has its answer before the sandbox writes it down.
 */
private fun <T> onceThere(input: JsonElement, read: () -> List<T>): List<T> {
    val end = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS)
    while (true) {
        val found = read()
        if (found.size >= input.at("count").int || System.nanoTime() > end) return found
        Thread.sleep(10)
    }
}

private fun ledgerLine(payment: Payment) = jsonOf(
    "order_number" to payment.orderNumber,
    "gateway_number" to payment.gatewayNumber,
    "transaction_id" to payment.transactionId,
    "status" to payment.status,
    "times_charged" to payment.timesCharged,
)

private fun requestLine(request: Request) = jsonOf(
    "endpoint" to request.endpoint.word,
    "http_status" to request.httpStatus,
    "fault" to request.fault?.word,
)

private fun callbackLine(attempt: CallbackAttempt) =
    jsonOf("http_status" to attempt.httpStatus, "fault" to attempt.fault?.word)
