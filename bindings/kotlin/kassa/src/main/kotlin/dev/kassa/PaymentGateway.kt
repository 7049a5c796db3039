package dev.kassa

/**
 * The interface of a payment gateway, for coroutines. Use it as the type in your own code, so that tests can pass something else than a
 * [Gateway]. [BlockingPaymentGateway] and [FuturePaymentGateway] have the same methods for Java and scripts.
 *
 * For most tests, use a [FakeGateway][dev.kassa.testing.FakeGateway], which has a real [Gateway]. For an answer that no gateway gives,
 * write a stub that delegates the rest:
 *
 * ```
 * class Unreachable(gateway: PaymentGateway) : PaymentGateway by gateway {
 *     override suspend fun check(payment: PaymentRef): Verdict = throw PaymentException.Unavailable("no network")
 * }
 * ```
 *
 * Later versions may add methods. A class that delegates (`by gateway`) forwards them; any other class inherits an implementation that
 * throws [Misconfigured][PaymentException.Misconfigured]. **If your wrapper limits or logs payments, override the new methods, too.**
 */
public interface PaymentGateway : AutoCloseable {
    /**
     * Creates a card payment. **Moves money**; sent once.
     *
     * An answer means that the gateway accepted the payment, not that it is paid: follow `nextStep`, then watch it.
     *
     * @throws PaymentException.OutcomeUnknown if the payment may exist: watch it, and never send it again. Every other [PaymentException]
     *   says that no money moved
     */
    public suspend fun createCardPayment(payment: CardPayment): CardPaymentCreated

    /**
     * Queries the status of a payment by the **gateway's** own number (the `token` of the confirmation page).
     *
     * No exception says anything about the payment itself. A number that the gateway does not know is
     * [PaymentException.Refused].
     *
     * @param language the language (ISO 639-1) of the gateway's messages; by default the merchant's
     */
    public suspend fun paymentStatus(gatewayNumber: String, language: String? = null): StatusReport

    /**
     * Creates a mobile-bank payment; the payer then receives a one-time password. **Moves money**; sent once.
     *
     * @throws PaymentException.OutcomeUnknown if the payment may exist: watch it, and never send it again. Every other [PaymentException]
     *   says that no money moved
     */
    public suspend fun createMbankPayment(payment: MbankPayment): MbankPaymentCreated

    /**
     * Confirms a mobile-bank payment with the payer's one-time password. **Moves money**; sent once.
     *
     * @param payment the reference from the answer of [createMbankPayment]: it has the identifier for the confirmation
     * @param otp the one-time password
     * @throws PaymentException.OutcomeUnknown if the payment may exist: watch it, and never send it again. Every other [PaymentException]
     *   says that no money moved. A wrong password is [PaymentException.Refused]
     */
    public suspend fun confirmMbankPayment(payment: PaymentRef, otp: String): MbankConfirmed

    /**
     * Sends the payer of a MegaPay wallet a PIN and returns the commission. **Treat it as moving money**: the gateway's interface does not
     * say that it does not. It is sent once. Show the payer the total before you ask for the PIN.
     *
     * @throws PaymentException.OutcomeUnknown if the payment may exist: watch it, and never send it again. Every other [PaymentException]
     *   says that no money moved. [PaymentException.Misconfigured] if the [Dialect] has no MegaPay requests (`megapay`)
     */
    public suspend fun checkMegapay(payment: MegapayPayment): MegapayChecked = throw noMegapay()

    /**
     * Pays from a MegaPay wallet with the payer's PIN, which [checkMegapay] had sent. **Moves money**; sent once.
     *
     * @param payment the same request as for [checkMegapay]
     * @param pin the PIN
     * @throws PaymentException.OutcomeUnknown if the payment may exist: watch it, and never send it again. Every other [PaymentException]
     *   says that no money moved. A wrong PIN is [PaymentException.Refused]
     */
    public suspend fun payByMegapay(payment: MegapayPayment, pin: String): MegapayAccepted = throw noMegapay()

    /**
     * Creates a pay-form, the gateway's own page on which the payer chooses a method. Moves no money, whatever the exception; sent once.
     */
    public suspend fun createPayForm(form: PayForm): PayFormCreated

    /**
     * Queries the status of a payment by the **merchant's** order number and the provider.
     *
     * No exception says anything about the payment itself. A number that the gateway does not know is
     * [PaymentException.Refused].
     */
    public suspend fun providerStatus(orderNumber: String, provider: Provider): StatusReport

    /** Creates a QR code as the gateway's own picture, 400x400. Moves no money, whatever the exception; sent once. */
    public suspend fun createQrImage(payment: QrPayment): QrImage

    /** Creates the data of a QR code, to be drawn with [QrCode]. Moves no money, whatever the exception; sent once. */
    public suspend fun createQrData(payment: QrPayment): QrData

    /**
     * Queries the status of a QR payment by its transaction id.
     *
     * No exception says anything about the payment itself. An id that the gateway does not know is [PaymentException.Refused].
     */
    public suspend fun qrStatus(transactionId: String): StatusReport

    /**
     * Queries a payment once and compares the report with the request. If a query is refused or its response is not understood, the
     * next-best query follows.
     *
     * It throws if the query failed, or the gateway does not know the payment. That proves nothing: verify again.
     *
     * @throws PaymentException.Invalid if the reference has no number to query by
     */
    public suspend fun check(payment: PaymentRef): Verdict

    /**
     * Verifies a callback: queries the gateway. **A callback is only a hint**: nothing proves who sent it.
     *
     * If the payment has no number of its own (a pay-form, the gateway's own QR picture), the callback's number is taken as a claim. Then
     * the gateway must report the requested amount, and the number must not be that of a QR payment, whose amount may be in tyiyn:
     * `qr_numbers` in the [Dialect] tells how to exclude that. **One payment pays for one order**: store the number of
     * [Verdict.Charged.payment], and accept it for no other order.
     *
     * It throws if the query failed, or the gateway does not know the payment. That proves nothing: verify again.
     *
     * @param payment the reference that was stored at the sale, **never one that was made from the callback**
     */
    public suspend fun verifyCallback(callback: Callback, payment: PaymentRef): Verdict

    /**
     * Verifies the payer's return: queries the gateway. **A return is only a hint**: it passes through the payer's browser. For a
     * pay-form, its order number is taken as a claim, as [verifyCallback] does with a callback's.
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
     * @throws PaymentException.Invalid if the reference has no number to query by
     */
    public fun watch(payment: PaymentRef, policy: PollPolicy = PollPolicy()): StatusWatch

    /**
     * Refuses further calls, and ends every watch and recovery at once: their callers get [PaymentException.Misconfigured], which says
     * nothing about a payment. Then waits until every payment in flight has its response, at most until its deadline. Later calls throw
     * [PaymentException.Misconfigured].
     */
    public suspend fun closeAndWait()

    /**
     * The same as [closeAndWait], blocking the thread: for `use`. It returns at once if no payment is in flight. An interrupt ends the
     * wait, not the payments; an already interrupted thread does not wait.
     */
    override fun close()
}
