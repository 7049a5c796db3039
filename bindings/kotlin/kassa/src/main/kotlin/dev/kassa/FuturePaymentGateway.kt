package dev.kassa

import java.util.concurrent.CompletableFuture

/**
 * What a payment gateway can do, for Java programs that do not wait: what your own code takes, so that its tests can give it something
 * else than a [FutureGateway]. [PaymentGateway] says more, and has the same methods for coroutines.
 *
 * For most tests a [FakeGateway][dev.kassa.testing.FakeGateway] is enough, which has a real [FutureGateway]; a library that makes mocks
 * takes this interface.
 */
public interface FuturePaymentGateway : AutoCloseable {
    /** See [PaymentGateway.createCardPayment]. */
    public fun createCardPayment(payment: CardPayment): CompletableFuture<CardPaymentCreated>

    /** See [PaymentGateway.paymentStatus]. */
    public fun paymentStatus(gatewayNumber: String, language: String?): CompletableFuture<StatusReport>

    /** See [PaymentGateway.paymentStatus]: in the merchant's own language. */
    public fun paymentStatus(gatewayNumber: String): CompletableFuture<StatusReport> = paymentStatus(gatewayNumber, null)

    /** See [PaymentGateway.createMbankPayment]. */
    public fun createMbankPayment(payment: MbankPayment): CompletableFuture<MbankPaymentCreated>

    /** See [PaymentGateway.confirmMbankPayment]. */
    public fun confirmMbankPayment(payment: PaymentRef, otp: String): CompletableFuture<MbankConfirmed>

    /** See [PaymentGateway.createPayForm]. */
    public fun createPayForm(form: PayForm): CompletableFuture<PayFormCreated>

    /** See [PaymentGateway.providerStatus]. */
    public fun providerStatus(orderNumber: String, provider: Provider): CompletableFuture<StatusReport>

    /** See [PaymentGateway.createQrImage]. */
    public fun createQrImage(payment: QrPayment): CompletableFuture<QrImage>

    /** See [PaymentGateway.createQrData]. */
    public fun createQrData(payment: QrPayment): CompletableFuture<QrData>

    /** See [PaymentGateway.qrStatus]. */
    public fun qrStatus(transactionId: String): CompletableFuture<StatusReport>

    /** See [PaymentGateway.check]. */
    public fun check(payment: PaymentRef): CompletableFuture<Verdict>

    /** See [PaymentGateway.verifyCallback]. */
    public fun verifyCallback(callback: Callback, payment: PaymentRef): CompletableFuture<Verdict>

    /** See [PaymentGateway.verifyReturn]. */
    public fun verifyReturn(redirect: ReturnRedirect, payment: PaymentRef): CompletableFuture<Verdict>

    /**
     * Follows a payment until there is a final verdict, or the policy's deadline passes. Nothing is sent until the watch is
     * asked for a report.
     *
     * @throws PaymentException.Invalid where the reference has nothing to ask with
     */
    @Throws(PaymentException::class)
    public fun watch(payment: PaymentRef, policy: PollPolicy): FutureStatusWatch

    /**
     * Follows a payment with the policy that a [PollPolicy] is unless changed.
     *
     * @throws PaymentException.Invalid where the reference has nothing to ask with
     */
    @Throws(PaymentException::class)
    public fun watch(payment: PaymentRef): FutureStatusWatch = watch(payment, PollPolicy())

    /**
     * Refuses further calls, and ends every watch and recovery at once: who waits for one gets [PaymentException.Misconfigured], which says
     * nothing about a payment. The future is complete when every payment on its way has its response.
     */
    public fun closeAndWait(): CompletableFuture<Void?>

    /**
     * The same as [closeAndWait], blocking the thread. An interrupt ends the wait, not the payments; a thread that was interrupted before
     * does not wait.
     */
    override fun close()
}
