package dev.kassa

/**
 * What a payment gateway can do, for coroutines: what your own code takes, so that its tests can give it something else than a
 * [Gateway]. [BlockingPaymentGateway] and [FuturePaymentGateway] are the same for Java and for scripts.
 *
 * For most tests a [FakeGateway][dev.kassa.testing.FakeGateway] is enough, which has a real [Gateway]. Where a test needs an answer that
 * no gateway gives, it delegates the rest:
 *
 * ```
 * class Unreachable(gateway: PaymentGateway) : PaymentGateway by gateway {
 *     override suspend fun check(payment: PaymentRef): Verdict = throw PaymentException.Unavailable("no network")
 * }
 * ```
 *
 * It grows with the gateway's interface; what delegates the rest compiles on.
 */
public interface PaymentGateway : AutoCloseable {
    /**
     * Creates a card payment. **Moves money**; sent once.
     *
     * The answer means that the gateway accepted it, not that it is paid: follow its `nextStep`, then watch it.
     *
     * @throws PaymentException.OutcomeUnknown where the payment may exist all the same: watch it, never send it again. Every
     *   other [PaymentException] says that no money moved
     */
    public suspend fun createCardPayment(payment: CardPayment): CardPaymentCreated

    /**
     * Asks for the status of a payment by the **gateway's** own number (the `token` of the confirmation page).
     *
     * No exception says anything about the payment itself. A number that the gateway does not know is
     * [PaymentException.Refused].
     *
     * @param language the language (ISO 639-1) of the gateway's messages; the merchant's default without it
     */
    public suspend fun paymentStatus(gatewayNumber: String, language: String? = null): StatusReport

    /**
     * Creates a mobile-bank payment; the payer then receives a one-time password. **Moves money**; sent once.
     *
     * @throws PaymentException.OutcomeUnknown where the payment may exist all the same: watch it, never send it again. Every
     *   other [PaymentException] says that no money moved
     */
    public suspend fun createMbankPayment(payment: MbankPayment): MbankPaymentCreated

    /**
     * Confirms a mobile-bank payment with the payer's one-time password. **Moves money**; sent once.
     *
     * @param payment the reference of the answer to [createMbankPayment]: it knows what the confirmation carries back
     * @param otp the one-time password
     * @throws PaymentException.OutcomeUnknown where the payment may exist all the same: watch it, never send it again. Every
     *   other [PaymentException] says that no money moved. A wrong password is [PaymentException.Refused]
     */
    public suspend fun confirmMbankPayment(payment: PaymentRef, otp: String): MbankConfirmed

    /** Makes a hosted page on which the payer picks how to pay. Moves no money, whatever the exception; sent once. */
    public suspend fun createPayForm(form: PayForm): PayFormCreated

    /**
     * Asks for the status of a payment by the **merchant's** order number and the provider.
     *
     * No exception says anything about the payment itself. A number that the gateway does not know is
     * [PaymentException.Refused].
     */
    public suspend fun providerStatus(orderNumber: String, provider: Provider): StatusReport

    /**
     * Makes a QR code as the gateway's own picture, 400x400. Moves no money, whatever the exception; sent once.
     */
    public suspend fun createQrImage(payment: QrPayment): QrImage

    /**
     * Makes the data of a QR code, to be drawn with [QrCode]. Moves no money, whatever the exception; sent once.
     */
    public suspend fun createQrData(payment: QrPayment): QrData

    /**
     * Asks for the status of a QR payment by its transaction id.
     *
     * No exception says anything about the payment itself. An id that the gateway does not know is [PaymentException.Refused].
     */
    public suspend fun qrStatus(transactionId: String): StatusReport

    /**
     * Asks once about a payment, and compares the answer with what was asked for. Where a question is refused or its answer is not
     * understood, the next-best one is asked.
     *
     * It throws where the gateway could not be asked, or does not know the payment. Nothing is proved then: ask again.
     *
     * @throws PaymentException.Invalid where the reference has nothing to ask with
     */
    public suspend fun check(payment: PaymentRef): Verdict

    /**
     * Verifies that a payment is made when a callback says so: asks the gateway. **A callback is only a hint**: nothing proves who
     * sent it.
     *
     * Where the payment has no number of its own (a pay-form, the gateway's own QR picture), the callback's is taken as a claim: then
     * the gateway must report the amount that was asked for, and it must be ruled out that the number is that of a QR payment, whose
     * amount may be in tyiyn: `qr_numbers` in the [Dialect] says how. **One payment pays for one order**: remember the number of
     * [Verdict.Charged.payment], and accept it for no other order.
     *
     * It throws where the gateway could not be asked, or does not know the payment. Nothing is proved then: ask again.
     *
     * @param payment the reference that was stored at the sale, **never one that was made from the callback**
     */
    public suspend fun verifyCallback(callback: Callback, payment: PaymentRef): Verdict

    /**
     * Verifies that a payment is made when its payer comes back: asks the gateway. **A return is only a hint**: it passes through the
     * payer's browser. For a pay-form, its order number is taken as a claim, as [verifyCallback] takes a callback's.
     *
     * It throws as [verifyCallback] does.
     *
     * @param payment the reference that was stored at the sale
     */
    public suspend fun verifyReturn(redirect: ReturnRedirect, payment: PaymentRef): Verdict

    /**
     * Follows a payment until there is a final verdict, or the policy's deadline passes. Nothing is sent until its
     * reports are collected, or its outcome is waited for.
     *
     * @throws PaymentException.Invalid where the reference has nothing to ask with
     */
    public fun watch(payment: PaymentRef, policy: PollPolicy = PollPolicy()): StatusWatch

    /**
     * Refuses further calls, and ends every watch and recovery at once: whoever waits in one gets [PaymentException.Misconfigured], which
     * says nothing about a payment. Then waits until every payment on its way has its response, for as long as its deadline at most. Calls
     * that are made afterwards throw [PaymentException.Misconfigured].
     */
    public suspend fun closeAndWait()

    /**
     * The same as [closeAndWait], blocking the thread: for `use`. Where no payment is on its way it returns at once. An interrupt
     * ends the wait, not the payments; a thread that was interrupted before does not wait.
     */
    override fun close()
}
