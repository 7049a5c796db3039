package dev.kassa

import dev.kassa.internal.DirectGateway
import kotlin.time.Duration

/** The core's gateway with this package's values: what all gateways here are made of. */
internal class GatewayCore(
    /** For `toString`. */
    val baseUrl: String,
    private val core: DirectGateway,
    val journal: Journal? = null,
) {
    fun withDeadline(deadline: Duration) = GatewayCore(baseUrl, calling { core.withDeadline(sendable(deadline)) }, journal)

    fun withJournal(journal: Journal) = GatewayCore(baseUrl, calling { core.withJournal(journal.core) }, journal)

    fun withNote(note: String) = GatewayCore(baseUrl, calling { core.withNote(sendable("note", note)) }, journal)

    fun unfinished(): UnfinishedPages = UnfinishedPages(calling { core.unfinishedPages() })

    fun recover(policy: RecoveryPolicy): RecoveryCore = RecoveryCore(calling { core.recover(policy.toCore()) })

    suspend fun finish(id: String): Unit = calling { core.finish(sendable("id", id)) }

    suspend fun createCardPayment(payment: CardPayment): CardPaymentCreated =
        calling { core.createCardPayment(payment.toCore()).toKassa() }

    suspend fun paymentStatus(gatewayNumber: String, language: String?): StatusReport =
        calling { core.paymentStatus(sendable("orderNumber", gatewayNumber), sendable("language", language)).toKassa() }

    suspend fun createMbankPayment(payment: MbankPayment): MbankPaymentCreated =
        calling { core.createMbankPayment(payment.toCore()).toKassa() }

    suspend fun confirmMbankPayment(payment: PaymentRef, otp: String): MbankConfirmed =
        calling { core.confirmMbankPayment(payment.toCore(), sendable("otp", otp)).toKassa() }

    suspend fun createPayForm(form: PayForm): PayFormCreated = calling { core.createPayForm(form.toCore()).toKassa() }

    suspend fun providerStatus(orderNumber: String, provider: Provider): StatusReport =
        calling { core.providerStatus(sendable("orderNumber", orderNumber), provider.toCore()).toKassa() }

    suspend fun createQrImage(payment: QrPayment): QrImage = calling { core.createQrImage(payment.toCore()).toKassa() }

    suspend fun createQrData(payment: QrPayment): QrData = calling { core.createQrData(payment.toCore()).toKassa() }

    suspend fun qrStatus(transactionId: String): StatusReport =
        calling { core.qrStatus(sendable("transaction_id", transactionId)).toKassa() }

    suspend fun check(payment: PaymentRef): Verdict = calling { core.check(payment.toCore()).toKassa() }

    suspend fun verifyCallback(callback: Callback, payment: PaymentRef): Verdict =
        calling { core.verifyCallback(callback.toCore(), payment.toCore()).toKassa() }

    suspend fun verifyReturn(redirect: ReturnRedirect, payment: PaymentRef): Verdict =
        calling { core.verifyReturn(redirect.toCore(), payment.toCore()).toKassa() }

    fun watch(payment: PaymentRef, policy: PollPolicy): WatchCore =
        WatchCore(calling { core.watch(payment.toCore(), policy.toCore()) })

    suspend fun close(): Unit = calling { core.closeAndWait() }

    suspend fun closeWithin(timeout: Duration): Boolean = calling { core.closeWithin(sendable(timeout)) }

    companion object {
        fun of(config: GatewayConfig, journal: Journal?): GatewayCore {
            val bare = GatewayCore(config.shownBaseUrl, calling { DirectGateway(config.toCore()) })
            return journal?.let(bare::withJournal) ?: bare
        }
    }
}
