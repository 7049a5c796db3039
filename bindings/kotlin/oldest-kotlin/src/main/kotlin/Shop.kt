import dev.kassa.BlockingPaymentGateway
import dev.kassa.Checkout
import dev.kassa.CheckoutSettings
import dev.kassa.CheckoutState
import dev.kassa.Credentials
import dev.kassa.Dialect
import dev.kassa.Gateway
import dev.kassa.GatewayConfig
import dev.kassa.Kassa
import dev.kassa.Language
import dev.kassa.MbankPayment
import dev.kassa.PaymentException
import dev.kassa.PaymentGateway
import dev.kassa.PollPolicy
import dev.kassa.QueryFailed
import dev.kassa.Verdict
import dev.kassa.sandbox.FaultName
import dev.kassa.sandbox.Sandbox
import dev.kassa.sandbox.TestPhones
import kotlinx.coroutines.flow.first
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.runBlocking
import kotlinx.serialization.json.Json
import kotlinx.serialization.json.JsonObject
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds

/** A whole payment, with something of everything that a compiler has to read: coroutines, flows, durations, sealed types, JSON. */
fun main(): Unit = Sandbox.start().use { sandbox ->
    val config = GatewayConfig(
        sandbox.baseUrl,
        Credentials(sandbox.login, sandbox.password),
        queryDeadline = 20.seconds,
        dialect = Dialect.fromJson(Sandbox.dialectJson()),
    )
    sandbox.faults.add(FaultName.DELAY, delay = 10.milliseconds, times = 1)
    Gateway(config).use { gateway -> println("compiled with the oldest Kotlin: ${runBlocking { pay(Own(gateway)) }}") }
    println(runBlocking { shown("http://127.0.0.1:1") })
    check(Json.parseToJsonElement(Sandbox.dialectJson()) is JsonObject)
}

/** Interfaces with defaults, which a program has classes of its own behind. */
private class Own(gateway: PaymentGateway) : PaymentGateway by gateway

@Suppress("unused") // it is only compiled
private class OwnBlocking(gateway: BlockingPaymentGateway) : BlockingPaymentGateway by gateway

private suspend fun pay(gateway: PaymentGateway): String {
    val phone = TestPhones.MBANK_APPROVED
    val payment = MbankPayment(Kassa.newOrderNumber(), phone.phone, amountSom = 250, comment = "Two tickets")
    try {
        val created = gateway.createMbankPayment(payment)
        gateway.confirmMbankPayment(created.payment, phone.otp)
    } catch (error: PaymentException) {
        return told(error)
    }
    val watch = gateway.watch(payment.paymentRef(), PollPolicy(interval = 50.milliseconds, deadline = 30.seconds))
    return watch.reports.toList().joinToString { report ->
        when (report) {
            is Verdict.Charged -> "charged, as were ${report.compared}"
            is Verdict.Rejected -> "rejected"
            is Verdict.Pending -> "pending"
            is Verdict.Mismatch -> "another ${report.fields}"
            is Verdict.Unverifiable -> report.why
            is QueryFailed -> told(report.error)
        }
    }
}

private fun told(error: PaymentException): String = when (error) {
    is PaymentException.OutcomeUnknown -> "watch ${error.payment}"
    is PaymentException.Unavailable -> "again in ${error.retryAfter?.inWholeSeconds} s"
    else -> error.message
}

/** The payer's side, where no server is. */
private suspend fun shown(serverUrl: String): String {
    val settings = CheckoutSettings(connectTimeout = 20.seconds)
    return Checkout.open(serverUrl, "ct_none", settings) { "ct_another" }.use { checkout ->
        when (val state = checkout.states.first { it.message != null }) {
            is CheckoutState.Opening, is CheckoutState.Sending, is CheckoutState.Waiting -> state.message?.textIn(Language.ENGLISH).orEmpty()
            is CheckoutState.Ready -> "pay by ${state.methods}"
            is CheckoutState.EnterOtp -> "${state.attemptsLeft} tries"
            is CheckoutState.OpenPage -> state.url
            is CheckoutState.ShowQr -> state.text
            is CheckoutState.Paid -> "${state.amount}"
            is CheckoutState.NotPaid, is CheckoutState.PersonNeeded, CheckoutState.Expired, CheckoutState.TokenExpired -> state.kind
        }
    }
}
