package dev.kassa.conformance

import dev.kassa.BlockingGateway
import dev.kassa.BlockingStatusWatch
import dev.kassa.Callback
import dev.kassa.CardPayment
import dev.kassa.CardPaymentCreated
import dev.kassa.FutureGateway
import dev.kassa.FutureStatusWatch
import dev.kassa.Gateway
import dev.kassa.GatewayConfig
import dev.kassa.Journal
import dev.kassa.MbankConfirmed
import dev.kassa.MbankPayment
import dev.kassa.MbankPaymentCreated
import dev.kassa.MegapayAccepted
import dev.kassa.MegapayChecked
import dev.kassa.MegapayPayment
import dev.kassa.PayForm
import dev.kassa.PayFormCreated
import dev.kassa.PaymentRef
import dev.kassa.PollPolicy
import dev.kassa.Provider
import dev.kassa.QrData
import dev.kassa.QrImage
import dev.kassa.QrPayment
import dev.kassa.ReturnRedirect
import dev.kassa.RecoveryPolicy
import dev.kassa.Recovered
import dev.kassa.StatusReport
import dev.kassa.Unfinished
import dev.kassa.Verdict
import dev.kassa.WatchCore
import dev.kassa.WatchReport
import dev.kassa.awaited
import dev.kassa.support.at
import dev.kassa.support.text
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.asFlow
import kotlinx.coroutines.flow.flow
import kotlinx.coroutines.flow.flowOn
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.future.await
import kotlinx.coroutines.runInterruptible
import kotlinx.serialization.json.JsonArray
import kotlinx.serialization.json.JsonObject
import kotlin.time.Duration

// A vector means the same whichever of the three gateways runs it.

/** The ways in which a program can use Kassa. */
enum class Way(val open: (GatewayConfig, Journal?) -> AnyGateway) {
    /** Each watch is one of the core's, on which the flow is built. */
    COROUTINES({ config, journal -> ByCoroutines(Gateway(config, journal)) }),

    /** Each watch is its flow of reports. */
    FLOWS({ config, journal -> ByFlows(Gateway(config, journal)) }),
    BLOCKING({ config, journal -> ByBlocking(BlockingGateway(config, journal)) }),
    FUTURES({ config, journal -> ByFutures(FutureGateway(config, journal)) }),
}

/** The vectors that are run in this way, too, beside all of them by coroutines. */
fun Way.chosenOf(vectors: List<Vector>): List<Vector> = when (this) {
    Way.COROUTINES -> vectors
    Way.FLOWS -> vectors.filter { it.group == "watching" }.mapNotNull(::asFlow)
    Way.BLOCKING, Way.FUTURES -> vectors.filter { it.group in groupsOfAllWays }
}

private val groupsOfAllWays = setOf("wire", "callbacks", "watching", "deadlines", "journal", "recovery")

/** Without asking for the outcome afterwards: a flow would ask the gateway for it. Null where reports are taken one by one. */
private fun asFlow(vector: Vector): Vector? {
    val steps = stepsOf(vector.spec)
    if (steps.any { it.at("do").text !in setOf("watch", "all", "outcome") }) return null
    val collected = steps.filter { it.at("do").text != "outcome" }
    return Vector(vector.group, vector.name, JsonObject((vector.spec as JsonObject) + ("steps" to JsonArray(collected))))
}

/** What all gateways can do. */
interface AnyGateway {
    suspend fun createCardPayment(payment: CardPayment): CardPaymentCreated
    suspend fun paymentStatus(gatewayNumber: String, language: String?): StatusReport
    suspend fun createMbankPayment(payment: MbankPayment): MbankPaymentCreated
    suspend fun confirmMbankPayment(payment: PaymentRef, otp: String): MbankConfirmed
    suspend fun checkMegapay(payment: MegapayPayment): MegapayChecked
    suspend fun payByMegapay(payment: MegapayPayment, pin: String): MegapayAccepted
    suspend fun createPayForm(form: PayForm): PayFormCreated
    suspend fun providerStatus(orderNumber: String, provider: Provider): StatusReport
    suspend fun createQrImage(payment: QrPayment): QrImage
    suspend fun createQrData(payment: QrPayment): QrData
    suspend fun qrStatus(transactionId: String): StatusReport
    suspend fun check(payment: PaymentRef): Verdict
    suspend fun verifyCallback(callback: Callback, payment: PaymentRef): Verdict
    suspend fun verifyReturn(redirect: ReturnRedirect, payment: PaymentRef): Verdict
    fun watch(payment: PaymentRef, policy: PollPolicy): AnyWatch
    fun withDeadline(deadline: Duration): AnyGateway
    fun withNote(note: String): AnyGateway
    val journal: Journal?
    suspend fun unfinished(): List<Unfinished>

    /** Where it is refused, no flow is begun. */
    fun recover(policy: RecoveryPolicy): Flow<Recovered>
    suspend fun finish(id: String)
    suspend fun close()
}

/** What all watches can do. */
interface AnyWatch {
    suspend fun next(): WatchReport?
    suspend fun outcome(): Verdict?
    fun checkNow()
    fun cancel()

    /** Every report from here to the end. */
    fun reports(): Flow<WatchReport> = flow { while (true) emit(next() ?: break) }
}

private open class ByCoroutines(protected val gateway: Gateway) : AnyGateway {
    override suspend fun createCardPayment(payment: CardPayment) = gateway.createCardPayment(payment)
    override suspend fun paymentStatus(gatewayNumber: String, language: String?) = gateway.paymentStatus(gatewayNumber, language)
    override suspend fun createMbankPayment(payment: MbankPayment) = gateway.createMbankPayment(payment)
    override suspend fun confirmMbankPayment(payment: PaymentRef, otp: String) = gateway.confirmMbankPayment(payment, otp)
    override suspend fun checkMegapay(payment: MegapayPayment) = gateway.checkMegapay(payment)
    override suspend fun payByMegapay(payment: MegapayPayment, pin: String) = gateway.payByMegapay(payment, pin)
    override suspend fun createPayForm(form: PayForm) = gateway.createPayForm(form)
    override suspend fun providerStatus(orderNumber: String, provider: Provider) = gateway.providerStatus(orderNumber, provider)
    override suspend fun createQrImage(payment: QrPayment) = gateway.createQrImage(payment)
    override suspend fun createQrData(payment: QrPayment) = gateway.createQrData(payment)
    override suspend fun qrStatus(transactionId: String) = gateway.qrStatus(transactionId)
    override suspend fun check(payment: PaymentRef) = gateway.check(payment)
    override suspend fun verifyCallback(callback: Callback, payment: PaymentRef) =
        gateway.verifyCallback(callback, payment)
    override suspend fun verifyReturn(redirect: ReturnRedirect, payment: PaymentRef) =
        gateway.verifyReturn(redirect, payment)
    override fun watch(payment: PaymentRef, policy: PollPolicy): AnyWatch = WatchOfCore(gateway.core.watch(payment, policy))
    override fun withDeadline(deadline: Duration): AnyGateway = ByCoroutines(gateway.withDeadline(deadline))
    override fun withNote(note: String): AnyGateway = ByCoroutines(gateway.withNote(note))
    override val journal get() = gateway.journal
    override suspend fun unfinished() = gateway.unfinished().toList()
    override fun recover(policy: RecoveryPolicy) = gateway.recover(policy)
    override suspend fun finish(id: String) = gateway.finish(id)
    override suspend fun close() = gateway.closeAndWait()
}

private class ByFlows(gateway: Gateway) : ByCoroutines(gateway) {
    override fun withDeadline(deadline: Duration): AnyGateway = ByFlows(gateway.withDeadline(deadline))
    override fun withNote(note: String): AnyGateway = ByFlows(gateway.withNote(note))
    override fun watch(payment: PaymentRef, policy: PollPolicy): AnyWatch {
        val watch = gateway.watch(payment, policy)
        return object : AnyWatch {
            override fun reports() = watch.reports
            override suspend fun next() = error("a flow is collected as a whole")
            override suspend fun outcome() = watch.outcome()
            override fun checkNow() = watch.checkNow()
            override fun cancel() = watch.cancel()
        }
    }
}

private class ByBlocking(private val gateway: BlockingGateway) : AnyGateway {
    override suspend fun createCardPayment(payment: CardPayment) = waiting { gateway.createCardPayment(payment) }
    override suspend fun paymentStatus(gatewayNumber: String, language: String?) =
        waiting { gateway.paymentStatus(gatewayNumber, language) }
    override suspend fun createMbankPayment(payment: MbankPayment) = waiting { gateway.createMbankPayment(payment) }
    override suspend fun confirmMbankPayment(payment: PaymentRef, otp: String) =
        waiting { gateway.confirmMbankPayment(payment, otp) }
    override suspend fun checkMegapay(payment: MegapayPayment) = waiting { gateway.checkMegapay(payment) }
    override suspend fun payByMegapay(payment: MegapayPayment, pin: String) = waiting { gateway.payByMegapay(payment, pin) }
    override suspend fun createPayForm(form: PayForm) = waiting { gateway.createPayForm(form) }
    override suspend fun providerStatus(orderNumber: String, provider: Provider) =
        waiting { gateway.providerStatus(orderNumber, provider) }
    override suspend fun createQrImage(payment: QrPayment) = waiting { gateway.createQrImage(payment) }
    override suspend fun createQrData(payment: QrPayment) = waiting { gateway.createQrData(payment) }
    override suspend fun qrStatus(transactionId: String) = waiting { gateway.qrStatus(transactionId) }
    override suspend fun check(payment: PaymentRef) = waiting { gateway.check(payment) }
    override suspend fun verifyCallback(callback: Callback, payment: PaymentRef) =
        waiting { gateway.verifyCallback(callback, payment) }
    override suspend fun verifyReturn(redirect: ReturnRedirect, payment: PaymentRef) =
        waiting { gateway.verifyReturn(redirect, payment) }
    override fun watch(payment: PaymentRef, policy: PollPolicy): AnyWatch = BlockingWatch(gateway.watch(payment, policy))
    override fun withDeadline(deadline: Duration): AnyGateway = ByBlocking(gateway.withDeadline(deadline))
    override fun withNote(note: String): AnyGateway = ByBlocking(gateway.withNote(note))
    override val journal get() = gateway.journal
    override suspend fun unfinished() = waiting { gateway.unfinished().toList() }
    override fun recover(policy: RecoveryPolicy) = gateway.recover(policy).asFlow().flowOn(Dispatchers.IO)
    override suspend fun finish(id: String) = waiting { gateway.finish(id) }
    override suspend fun close() = waiting { gateway.close() }
}

private class ByFutures(private val gateway: FutureGateway) : AnyGateway {
    override suspend fun createCardPayment(payment: CardPayment) = gateway.createCardPayment(payment).await()
    override suspend fun paymentStatus(gatewayNumber: String, language: String?) =
        gateway.paymentStatus(gatewayNumber, language).await()
    override suspend fun createMbankPayment(payment: MbankPayment) = gateway.createMbankPayment(payment).await()
    override suspend fun confirmMbankPayment(payment: PaymentRef, otp: String) =
        gateway.confirmMbankPayment(payment, otp).await()
    override suspend fun checkMegapay(payment: MegapayPayment) = gateway.checkMegapay(payment).await()
    override suspend fun payByMegapay(payment: MegapayPayment, pin: String) = gateway.payByMegapay(payment, pin).await()
    override suspend fun createPayForm(form: PayForm) = gateway.createPayForm(form).await()
    override suspend fun providerStatus(orderNumber: String, provider: Provider) =
        gateway.providerStatus(orderNumber, provider).await()
    override suspend fun createQrImage(payment: QrPayment) = gateway.createQrImage(payment).await()
    override suspend fun createQrData(payment: QrPayment) = gateway.createQrData(payment).await()
    override suspend fun qrStatus(transactionId: String) = gateway.qrStatus(transactionId).await()
    override suspend fun check(payment: PaymentRef) = gateway.check(payment).await()
    override suspend fun verifyCallback(callback: Callback, payment: PaymentRef) =
        gateway.verifyCallback(callback, payment).await()
    override suspend fun verifyReturn(redirect: ReturnRedirect, payment: PaymentRef) =
        gateway.verifyReturn(redirect, payment).await()
    override fun watch(payment: PaymentRef, policy: PollPolicy): AnyWatch = FutureWatch(gateway.watch(payment, policy))
    override fun withDeadline(deadline: Duration): AnyGateway = ByFutures(gateway.withDeadline(deadline))
    override fun withNote(note: String): AnyGateway = ByFutures(gateway.withNote(note))
    override val journal get() = gateway.journal
    override suspend fun unfinished(): List<Unfinished> {
        val unfinished = gateway.unfinished()
        return flow { while (true) emit(unfinished.nextPage().await().ifEmpty { null } ?: break) }.toList().flatten()
    }
    override fun recover(policy: RecoveryPolicy): Flow<Recovered> {
        val recovery = gateway.recover(policy)
        return flow { while (true) emit(recovery.nextRecovered().await() ?: break) }
    }
    override suspend fun finish(id: String) = gateway.finish(id).await().let { }
    override suspend fun close() = gateway.closeAndWait().await().let { }
}

private class WatchOfCore(private val watch: WatchCore) : AnyWatch {
    override suspend fun next() = awaited { watch.next(it) }
    override suspend fun outcome() = awaited { watch.outcome(it) }
    override fun checkNow() = watch.checkNow()
    override fun cancel() = watch.cancel()
}

private class BlockingWatch(private val watch: BlockingStatusWatch) : AnyWatch {
    override suspend fun next() = waiting { watch.next() }
    override suspend fun outcome() = waiting { watch.outcome() }
    override fun checkNow() = watch.checkNow()
    override fun cancel() = watch.cancel()
}

private class FutureWatch(private val watch: FutureStatusWatch) : AnyWatch {
    override suspend fun next(): WatchReport? = watch.next().await()
    override suspend fun outcome(): Verdict? = watch.outcome().await()
    override fun checkNow() = watch.checkNow()
    override fun cancel() = watch.cancel()
}

private suspend fun <T> waiting(call: () -> T): T = runInterruptible(Dispatchers.IO, call)
