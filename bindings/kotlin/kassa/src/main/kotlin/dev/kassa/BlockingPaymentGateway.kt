package dev.kassa

/**
 * The interface of a blocking payment gateway, for Java and scripts. Use it as the type in your own code, so that tests can pass
 * something else than a [BlockingGateway]. [PaymentGateway] documents the methods, and has them for coroutines.
 *
 * For most tests, use a [FakeGateway][dev.kassa.testing.FakeGateway], which has a real [BlockingGateway]. Mocking libraries can use this
 * interface.
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

    /** See [PaymentGateway.checkMegapay]. */
    @Throws(PaymentException::class, InterruptedException::class)
    public fun checkMegapay(payment: MegapayPayment): MegapayChecked = throw noMegapay()

    /** See [PaymentGateway.payByMegapay]. */
    @Throws(PaymentException::class, InterruptedException::class)
    public fun payByMegapay(payment: MegapayPayment, pin: String): MegapayAccepted = throw noMegapay()

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
     * Polls a payment until there is a final verdict, or the policy's deadline passes. Nothing is sent until you request a report.
     *
     * @throws PaymentException.Invalid if the reference has no number to query by
     */
    @Throws(PaymentException::class)
    public fun watch(payment: PaymentRef, policy: PollPolicy): BlockingStatusWatch

    /**
     * Polls a payment with the default [PollPolicy].
     *
     * @throws PaymentException.Invalid if the reference has no number to query by
     */
    @Throws(PaymentException::class)
    public fun watch(payment: PaymentRef): BlockingStatusWatch = watch(payment, PollPolicy())

    /**
     * Refuses further calls, and ends every watch and recovery at once: their callers get [PaymentException.Misconfigured], which says
     * nothing about a payment. Then waits until every payment in flight has its response, at most until its deadline. Later calls throw
     * [PaymentException.Misconfigured]. An interrupt ends the wait, not the payments; an already interrupted thread does not wait.
     */
    override fun close()
}
