package dev.kassa

import java.util.concurrent.CompletableFuture

/**
 * The interface of an asynchronous payment gateway, for Java. Use it as the type in your own code, so that tests can pass something else
 * than a [FutureGateway]. [PaymentGateway] documents the methods, and has them for coroutines.
 *
 * For most tests, use a [FakeGateway][dev.kassa.testing.FakeGateway], which has a real [FutureGateway]. Mocking libraries can use this
 * interface.
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

    /** See [PaymentGateway.checkMegapay]. */
    public fun checkMegapay(payment: MegapayPayment): CompletableFuture<MegapayChecked> =
        CompletableFuture<MegapayChecked>().apply { completeExceptionally(noMegapay()) }

    /** See [PaymentGateway.payByMegapay]. */
    public fun payByMegapay(payment: MegapayPayment, pin: String): CompletableFuture<MegapayAccepted> =
        CompletableFuture<MegapayAccepted>().apply { completeExceptionally(noMegapay()) }

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
     * Polls a payment until there is a final verdict, or the policy's deadline passes. Nothing is sent until you request a report.
     *
     * @throws PaymentException.Invalid if the reference has no number to query by
     */
    @Throws(PaymentException::class)
    public fun watch(payment: PaymentRef, policy: PollPolicy): FutureStatusWatch

    /**
     * Polls a payment with the default [PollPolicy].
     *
     * @throws PaymentException.Invalid if the reference has no number to query by
     */
    @Throws(PaymentException::class)
    public fun watch(payment: PaymentRef): FutureStatusWatch = watch(payment, PollPolicy())

    /**
     * Refuses further calls, and ends every watch and recovery at once: their callers get [PaymentException.Misconfigured], which says
     * nothing about a payment. The future completes when every payment in flight has its response.
     */
    public fun closeAndWait(): CompletableFuture<Void?>

    /**
     * The same as [closeAndWait], blocking the thread. An interrupt ends the wait, not the payments; an already interrupted thread does
     * not wait.
     */
    override fun close()
}
