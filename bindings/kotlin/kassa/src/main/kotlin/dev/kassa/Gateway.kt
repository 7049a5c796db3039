package dev.kassa

import kotlinx.coroutines.runBlocking
import kotlin.time.Duration
import kotlin.time.toKotlinDuration

/**
 * The payment gateway, for coroutines. [BlockingGateway] and [FutureGateway] have the same methods for Java and for scripts.
 *
 * It can be used from any thread and any dispatcher, and by many coroutines at once. **Cancelling a coroutine** stops the wait
 * at once. Before a connection was made it also prevents the payment; afterwards the payment goes on, sent once, and its
 * [PaymentRef] finds it.
 *
 * ```
 * Gateway("https://pay.example.kg", Credentials("shop", password)).use { gateway ->
 *     val payment = MbankPayment(Kassa.newOrderNumber(), phone = "996700000001", amountSom = 250, comment = "Two tickets")
 *     store(payment.paymentRef().toString()) // before anything is sent
 *     try {
 *         val created = gateway.createMbankPayment(payment)
 *         gateway.confirmMbankPayment(created.payment, otp = ask("The code from the SMS?"))
 *     } catch (error: PaymentException.OutcomeUnknown) {
 *         show(error.message) // it may have been charged; never send it again, ask
 *     }
 *     when (val verdict = gateway.watch(payment.paymentRef()).outcome()) {
 *         is Verdict.Charged -> show("paid ${verdict.report.amount}")
 *         is Verdict.Rejected -> show("not paid")
 *         null -> Unit // the watch was cancelled
 *         else -> show("a person has to look")
 *     }
 * }
 * ```
 */
public class Gateway private constructor(internal val core: GatewayCore) : AutoCloseable {
    /**
     * A gateway by its configuration. Nothing is sent.
     *
     * @throws PaymentException.Misconfigured where a setting cannot work, naming it
     */
    @Throws(PaymentException::class)
    public constructor(config: GatewayConfig) : this(GatewayCore(config))

    /**
     * A gateway with every other setting at its default. Nothing is sent.
     *
     * @throws PaymentException.Misconfigured where a setting cannot work, naming it
     */
    @Throws(PaymentException::class)
    public constructor(baseUrl: String, credentials: Credentials) : this(GatewayConfig(baseUrl, credentials))

    /**
     * Creates a card payment. **Moves money**; sent once.
     *
     * The answer means that the gateway accepted it, not that it is paid: follow its `nextStep`, then watch it.
     *
     * @throws PaymentException.OutcomeUnknown where the payment may exist all the same: watch it, never send it again. Every
     *   other [PaymentException] says that no money moved
     */
    public suspend fun createCardPayment(payment: CardPayment): CardPaymentCreated =
        onDefault { core.createCardPayment(payment) }

    /**
     * Asks for the status of a payment by the **gateway's** own number (the `token` of the confirmation page).
     *
     * No exception says anything about the payment itself. A number that the gateway does not know is
     * [PaymentException.Refused].
     *
     * @param language the language (ISO 639-1) of the gateway's messages; the merchant's default without it
     */
    public suspend fun paymentStatus(gatewayNumber: String, language: String? = null): StatusReport =
        onDefault { core.paymentStatus(gatewayNumber, language) }

    /**
     * Creates a mobile-bank payment; the payer then receives a one-time password. **Moves money**; sent once.
     *
     * @throws PaymentException.OutcomeUnknown where the payment may exist all the same: watch it, never send it again. Every
     *   other [PaymentException] says that no money moved
     */
    public suspend fun createMbankPayment(payment: MbankPayment): MbankPaymentCreated =
        onDefault { core.createMbankPayment(payment) }

    /**
     * Confirms a mobile-bank payment with the payer's one-time password. **Moves money**; sent once.
     *
     * @param payment the reference of the answer to [createMbankPayment]: it knows what the confirmation carries back
     * @param otp the one-time password
     * @throws PaymentException.OutcomeUnknown where the payment may exist all the same: watch it, never send it again. Every
     *   other [PaymentException] says that no money moved. A wrong password is [PaymentException.Refused]
     */
    public suspend fun confirmMbankPayment(payment: PaymentRef, otp: String): MbankConfirmed =
        onDefault { core.confirmMbankPayment(payment, otp) }

    /** Makes a hosted page on which the payer picks how to pay. Moves no money, whatever the exception; sent once. */
    public suspend fun createPayForm(form: PayForm): PayFormCreated = onDefault { core.createPayForm(form) }

    /**
     * Asks for the status of a payment by the **merchant's** order number and the provider.
     *
     * No exception says anything about the payment itself. A number that the gateway does not know is
     * [PaymentException.Refused].
     */
    public suspend fun providerStatus(orderNumber: String, provider: Provider): StatusReport =
        onDefault { core.providerStatus(orderNumber, provider) }

    /**
     * Makes a QR code as the gateway's own picture, 400x400. Moves no money, whatever the exception; sent once.
     */
    public suspend fun createQrImage(payment: QrPayment): QrImage = onDefault { core.createQrImage(payment) }

    /**
     * Makes the data of a QR code, to be drawn with [QrCode]. Moves no money, whatever the exception; sent once.
     */
    public suspend fun createQrData(payment: QrPayment): QrData = onDefault { core.createQrData(payment) }

    /**
     * Asks for the status of a QR payment by its transaction id.
     *
     * No exception says anything about the payment itself. An id that the gateway does not know is [PaymentException.Refused].
     */
    public suspend fun qrStatus(transactionId: String): StatusReport = onDefault { core.qrStatus(transactionId) }

    /**
     * Asks once about a payment, and compares the answer with what was asked for. Where a question is refused or its answer is not
     * understood, the next-best one is asked.
     *
     * It throws where the gateway could not be asked, or does not know the payment. Nothing is proved then: ask again.
     *
     * @throws PaymentException.Invalid where the reference has nothing to ask with
     */
    public suspend fun check(payment: PaymentRef): Verdict = onDefault { core.check(payment) }

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
    public suspend fun verifyCallback(callback: Callback, payment: PaymentRef): Verdict =
        onDefault { core.verifyCallback(callback, payment) }

    /**
     * Verifies that a payment is made when its payer comes back: asks the gateway. **A return is only a hint**: it passes through the
     * payer's browser. For a pay-form, its order number is taken as a claim, as [verifyCallback] takes a callback's.
     *
     * It throws as [verifyCallback] does.
     *
     * @param payment the reference that was stored at the sale
     */
    public suspend fun verifyReturn(redirect: ReturnRedirect, payment: PaymentRef): Verdict =
        onDefault { core.verifyReturn(redirect, payment) }

    /**
     * Follows a payment until there is a final verdict, or the policy's deadline passes. Nothing is sent until its
     * reports are collected, or its outcome is waited for.
     *
     * @throws PaymentException.Invalid where the reference has nothing to ask with
     */
    public fun watch(payment: PaymentRef, policy: PollPolicy = PollPolicy()): StatusWatch {
        core.watch(payment, policy) // what cannot be asked is refused now, not when it is collected
        return StatusWatch(StatusWatch.Running { core.watch(payment, policy) })
    }

    /**
     * The same gateway with one deadline for every call, whether it moves money or not: for calls that may take more or less time
     * than the configuration says, as in `gateway.withDeadline(5.seconds).qrStatus(...)`.
     *
     * It shares the connections and what is on its way, and costs next to nothing, so it can be made for one call. A watch made by
     * it gives each of its queries that long. Closing one of them closes both.
     *
     * @throws PaymentException.Misconfigured for a deadline of zero or less
     */
    @Throws(PaymentException::class)
    public fun withDeadline(deadline: Duration): Gateway = Gateway(core.withDeadline(deadline))

    /**
     * The same gateway with another deadline, for Java.
     *
     * @throws PaymentException.Misconfigured for a deadline of zero or less
     */
    @Throws(PaymentException::class)
    public fun withDeadline(deadline: java.time.Duration): Gateway = withDeadline(deadline.toKotlinDuration())

    /**
     * Refuses further calls and waits until every payment on its way has its reply. Calls that are made afterwards throw
     * [PaymentException.Misconfigured].
     */
    public suspend fun closeAndWait(): Unit = onDefault { core.close() }

    /**
     * The same as [closeAndWait], blocking the thread: for `use`. Where no payment is on its way it returns at once. An interrupt
     * ends the wait, not the payments.
     */
    override fun close(): Unit = core.closeBlocking()

    /** Where it is. */
    override fun toString(): String = "Gateway(${core.baseUrl})"
}

internal fun GatewayCore.closeBlocking() {
    // Already interrupted, it would not even begin.
    var isInterrupted = Thread.interrupted()
    try {
        runBlocking { close() }
    } catch (_: InterruptedException) {
        isInterrupted = true
    }
    if (isInterrupted) Thread.currentThread().interrupt()
}
