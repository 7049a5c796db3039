package dev.kassa

/**
 * What a payment gateway can do, for Java, scripts and other callers that wait: what your own code takes, so that its tests can give it
 * something else than a [BlockingGateway]. [PaymentGateway] says more, and has the same methods for coroutines.
 *
 * For most tests a [FakeGateway][dev.kassa.testing.FakeGateway] is enough, which has a real [BlockingGateway]; a library that makes mocks
 * takes this interface.
 */
public interface BlockingPaymentGateway : AutoCloseable {
    /** See [PaymentGateway.createCardPayment]. */
    @Throws(PaymentException::class, InterruptedException::class)
    public fun createCardPayment(payment: CardPayment): CardPaymentCreated

    /** See [PaymentGateway.paymentStatus]. */
    @Throws(PaymentException::class, InterruptedException::class)
    public fun paymentStatus(gatewayNumber: String, language: String?): StatusReport

    /** See [PaymentGateway.paymentStatus]: in the merchant's own language. */
    @Throws(PaymentException::class, InterruptedException::class)
    public fun paymentStatus(gatewayNumber: String): StatusReport = paymentStatus(gatewayNumber, null)

    /** See [PaymentGateway.createMbankPayment]. */
    @Throws(PaymentException::class, InterruptedException::class)
    public fun createMbankPayment(payment: MbankPayment): MbankPaymentCreated

    /** See [PaymentGateway.confirmMbankPayment]. */
    @Throws(PaymentException::class, InterruptedException::class)
    public fun confirmMbankPayment(payment: PaymentRef, otp: String): MbankConfirmed

    /** See [PaymentGateway.createPayForm]. */
    @Throws(PaymentException::class, InterruptedException::class)
    public fun createPayForm(form: PayForm): PayFormCreated

    /** See [PaymentGateway.providerStatus]. */
    @Throws(PaymentException::class, InterruptedException::class)
    public fun providerStatus(orderNumber: String, provider: Provider): StatusReport

    /** See [PaymentGateway.createQrImage]. */
    @Throws(PaymentException::class, InterruptedException::class)
    public fun createQrImage(payment: QrPayment): QrImage

    /** See [PaymentGateway.createQrData]. */
    @Throws(PaymentException::class, InterruptedException::class)
    public fun createQrData(payment: QrPayment): QrData

    /** See [PaymentGateway.qrStatus]. */
    @Throws(PaymentException::class, InterruptedException::class)
    public fun qrStatus(transactionId: String): StatusReport

    /** See [PaymentGateway.check]. */
    @Throws(PaymentException::class, InterruptedException::class)
    public fun check(payment: PaymentRef): Verdict

    /** See [PaymentGateway.verifyCallback]. */
    @Throws(PaymentException::class, InterruptedException::class)
    public fun verifyCallback(callback: Callback, payment: PaymentRef): Verdict

    /** See [PaymentGateway.verifyReturn]. */
    @Throws(PaymentException::class, InterruptedException::class)
    public fun verifyReturn(redirect: ReturnRedirect, payment: PaymentRef): Verdict

    /**
     * Follows a payment until there is a final verdict, or the policy's deadline passes. Nothing is sent until the watch is
     * asked for a report.
     *
     * @throws PaymentException.Invalid where the reference has nothing to ask with
     */
    @Throws(PaymentException::class)
    public fun watch(payment: PaymentRef, policy: PollPolicy): BlockingStatusWatch

    /**
     * Follows a payment with the policy that a [PollPolicy] is unless changed.
     *
     * @throws PaymentException.Invalid where the reference has nothing to ask with
     */
    @Throws(PaymentException::class)
    public fun watch(payment: PaymentRef): BlockingStatusWatch = watch(payment, PollPolicy())

    /**
     * Refuses further calls, and ends every watch and recovery at once: whoever waits in one gets [PaymentException.Misconfigured], which
     * says nothing about a payment. Then waits until every payment on its way has its response, for as long as its deadline at most. Calls
     * that are made afterwards throw [PaymentException.Misconfigured]. An interrupt ends the wait, not the payments; a thread that was
     * interrupted before does not wait.
     */
    override fun close()
}
