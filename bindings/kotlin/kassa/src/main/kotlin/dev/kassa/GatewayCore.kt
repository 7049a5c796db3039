package dev.kassa

import dev.kassa.internal.AsyncCall
import dev.kassa.internal.FfiConverterBoolean
import dev.kassa.internal.FfiConverterTypeCardPaymentCreated
import dev.kassa.internal.FfiConverterTypeMbankConfirmed
import dev.kassa.internal.FfiConverterTypeMbankPaymentCreated
import dev.kassa.internal.FfiConverterTypeMegapayAccepted
import dev.kassa.internal.FfiConverterTypeMegapayChecked
import dev.kassa.internal.FfiConverterTypePayFormCreated
import dev.kassa.internal.FfiConverterTypeQrData
import dev.kassa.internal.FfiConverterTypeQrImage
import dev.kassa.internal.FfiConverterTypeStatusReport
import dev.kassa.internal.FfiConverterTypeVerdict
import kotlinx.coroutines.CompletableJob
import kotlinx.coroutines.Job
import java.nio.ByteBuffer
import kotlin.time.Duration
import dev.kassa.internal.Gateway as CoreGateway

/** The core's gateway with this package's values: what all gateways here are made of. */
internal class GatewayCore(
    /** For `toString`. */
    val baseUrl: String,
    private val core: CoreGateway,
    val journal: Journal? = null,
    /** Completed as soon as somebody closes this gateway, or one of those that share its connections. */
    val closed: CompletableJob = Job(),
) {
    val isClosed: Boolean get() = closed.isCompleted

    fun withDeadline(deadline: Duration) = GatewayCore(baseUrl, calling { core.withDeadline(sendable(deadline)) }, journal, closed)

    fun withJournal(journal: Journal) = GatewayCore(baseUrl, calling { core.withJournal(journal.core) }, journal, closed)

    fun withNote(note: String) = GatewayCore(baseUrl, calling { core.withNote(sendable("note", note)) }, journal, closed)

    fun unfinished(): UnfinishedPages = UnfinishedPages(calling { core.unfinishedPages() })

    fun recover(policy: RecoveryPolicy): RecoveryCore = RecoveryCore(calling { core.recover(policy.toCore()) })

    fun watch(payment: PaymentRef, policy: PollPolicy): WatchCore =
        WatchCore(calling { core.watch(payment.toCore(), policy.toCore()) })

    fun createCardPayment(payment: CardPayment) =
        call({ FfiConverterTypeCardPaymentCreated.read(it).toKassa() }) {
            AsyncCall.CreateCardPayment(core, payment.toCore())
        }

    fun paymentStatus(gatewayNumber: String, language: String?) = query(::readStatus) {
        AsyncCall.PaymentStatus(core, sendable("orderNumber", gatewayNumber), sendable("language", language))
    }

    fun createMbankPayment(payment: MbankPayment) =
        call({ FfiConverterTypeMbankPaymentCreated.read(it).toKassa() }) {
            AsyncCall.CreateMbankPayment(core, payment.toCore())
        }

    fun confirmMbankPayment(payment: PaymentRef, otp: String) =
        call({ FfiConverterTypeMbankConfirmed.read(it).toKassa() }) {
            AsyncCall.ConfirmMbankPayment(core, payment.toCore(), sendable("otp", otp))
        }

    fun checkMegapay(payment: MegapayPayment) =
        call({ FfiConverterTypeMegapayChecked.read(it).toKassa() }) { AsyncCall.CheckMegapay(core, payment.toCore()) }

    fun payByMegapay(payment: MegapayPayment, pin: String) =
        call({ FfiConverterTypeMegapayAccepted.read(it).toKassa() }) {
            AsyncCall.PayByMegapay(core, payment.toCore(), sendable("pinCode", pin))
        }

    fun createPayForm(form: PayForm) =
        call({ FfiConverterTypePayFormCreated.read(it).toKassa() }) { AsyncCall.CreatePayForm(core, form.toCore()) }

    fun providerStatus(orderNumber: String, provider: Provider) = query(::readStatus) {
        AsyncCall.ProviderStatus(core, sendable("orderNumber", orderNumber), provider.toCore())
    }

    fun createQrImage(payment: QrPayment) =
        call({ FfiConverterTypeQrImage.read(it).toKassa() }) { AsyncCall.CreateQrImage(core, payment.toCore()) }

    fun createQrData(payment: QrPayment) =
        call({ FfiConverterTypeQrData.read(it).toKassa() }) { AsyncCall.CreateQrData(core, payment.toCore()) }

    fun qrStatus(transactionId: String) =
        query(::readStatus) { AsyncCall.QrStatus(core, sendable("transaction_id", transactionId)) }

    fun check(payment: PaymentRef) = query(::readVerdict) { AsyncCall.Check(core, payment.toCore()) }

    fun verifyCallback(callback: Callback, payment: PaymentRef) =
        query(::readVerdict) { AsyncCall.VerifyCallback(core, callback.toCore(), payment.toCore()) }

    fun verifyReturn(redirect: ReturnRedirect, payment: PaymentRef) =
        query(::readVerdict) { AsyncCall.VerifyReturn(core, redirect.toCore(), payment.toCore()) }

    fun finish(id: String) = call({}) { AsyncCall.Finish(core, sendable("id", id)) }

    fun close() = call({}) {
        closed.complete()
        AsyncCall.Close(core)
    }

    fun closeWithin(timeout: Duration) = call({ FfiConverterBoolean.read(it) }) {
        closed.complete()
        AsyncCall.CloseWithin(core, sendable(timeout))
    }

    private fun <T> call(read: (ByteBuffer) -> T, call: () -> AsyncCall) = GatewayCall(isQuery = false, read, call)

    private fun <T> query(read: (ByteBuffer) -> T, call: () -> AsyncCall) = GatewayCall(isQuery = true, read, call)

    companion object {
        fun of(config: GatewayConfig, journal: Journal?): GatewayCore {
            val bare = GatewayCore(config.shownBaseUrl, calling { CoreGateway(config.toCore()) })
            return journal?.let(bare::withJournal) ?: bare
        }
    }
}

private fun readStatus(answer: ByteBuffer): StatusReport = FfiConverterTypeStatusReport.read(answer).toKassa()

internal fun readVerdict(answer: ByteBuffer): Verdict = FfiConverterTypeVerdict.read(answer).toKassa()
