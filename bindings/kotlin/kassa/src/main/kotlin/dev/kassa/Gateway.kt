package dev.kassa

import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.flow
import kotlinx.coroutines.withContext
import kotlin.time.Duration
import kotlin.time.toKotlinDuration

/**
 * The payment gateway, for coroutines. [BlockingGateway] and [FutureGateway] have the same methods for Java and for scripts.
 *
 * It is thread-safe, and works with any dispatcher. **Cancelling a coroutine** stops the wait at once. If no connection was made yet,
 * nothing is sent. Later the payment continues, sent once, and its [PaymentRef] finds it.
 *
 * ```
 * Gateway("https://pay.example.kg", Credentials("shop", password)).use { gateway ->
 *     val payment = MbankPayment(Kassa.newOrderNumber(), phone = "996700000001", amountSom = 250, comment = "Two tickets")
 *     store(payment.paymentRef().toString()) // before anything is sent
 *     try {
 *         val created = gateway.createMbankPayment(payment)
 *         gateway.confirmMbankPayment(created.payment, otp = ask("The code from the SMS?"))
 *     } catch (error: PaymentException.OutcomeUnknown) {
 *         show(error.message) // it may have been charged; query it, and never send it again
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
public class Gateway internal constructor(internal val core: GatewayCore) : PaymentGateway {
    /**
     * Creates a gateway from a configuration. Sends nothing.
     *
     * @param journal the journal that records what it sends, if any
     * @throws PaymentException.Misconfigured if a setting is invalid; the error names it
     */
    @JvmOverloads
    @Throws(PaymentException::class)
    public constructor(config: GatewayConfig, journal: Journal? = null) : this(GatewayCore.of(config, journal))

    /**
     * Creates a gateway with every other setting at its default. Sends nothing.
     *
     * @param journal the journal that records what it sends, if any
     * @throws PaymentException.Misconfigured if a setting is invalid; the error names it
     */
    @JvmOverloads
    @Throws(PaymentException::class)
    public constructor(baseUrl: String, credentials: Credentials, journal: Journal? = null) :
        this(GatewayConfig(baseUrl, credentials), journal)

    override suspend fun createCardPayment(payment: CardPayment): CardPaymentCreated =
        awaited { core.createCardPayment(payment).await(it) }

    override suspend fun paymentStatus(gatewayNumber: String, language: String?): StatusReport =
        awaited { core.paymentStatus(gatewayNumber, language).await(it) }

    override suspend fun createMbankPayment(payment: MbankPayment): MbankPaymentCreated =
        awaited { core.createMbankPayment(payment).await(it) }

    override suspend fun confirmMbankPayment(payment: PaymentRef, otp: String): MbankConfirmed =
        awaited { core.confirmMbankPayment(payment, otp).await(it) }

    override suspend fun checkMegapay(payment: MegapayPayment): MegapayChecked = awaited { core.checkMegapay(payment).await(it) }

    override suspend fun payByMegapay(payment: MegapayPayment, pin: String): MegapayAccepted =
        awaited { core.payByMegapay(payment, pin).await(it) }

    override suspend fun createPayForm(form: PayForm): PayFormCreated = awaited { core.createPayForm(form).await(it) }

    override suspend fun providerStatus(orderNumber: String, provider: Provider): StatusReport =
        awaited { core.providerStatus(orderNumber, provider).await(it) }

    override suspend fun createQrImage(payment: QrPayment): QrImage = awaited { core.createQrImage(payment).await(it) }

    override suspend fun createQrData(payment: QrPayment): QrData = awaited { core.createQrData(payment).await(it) }

    override suspend fun qrStatus(transactionId: String): StatusReport = awaited { core.qrStatus(transactionId).await(it) }

    override suspend fun check(payment: PaymentRef): Verdict = awaited { core.check(payment).await(it) }

    override suspend fun verifyCallback(callback: Callback, payment: PaymentRef): Verdict =
        awaited { core.verifyCallback(callback, payment).await(it) }

    override suspend fun verifyReturn(redirect: ReturnRedirect, payment: PaymentRef): Verdict =
        awaited { core.verifyReturn(redirect, payment).await(it) }

    override fun watch(payment: PaymentRef, policy: PollPolicy): StatusWatch {
        core.watch(payment, policy) // what cannot be queried is refused now, not when it is collected
        return StatusWatch(StatusWatch.Running { core.watch(payment, policy) })
    }

    /**
     * The same gateway with one deadline for every call, whether it moves money or not, as in
     * `gateway.withDeadline(5.seconds).qrStatus(...)`.
     *
     * It shares connections and payments in flight, and is cheap enough to create for one call. In a watch, the deadline applies to each
     * query. Closing one gateway closes both.
     *
     * @throws PaymentException.Misconfigured for a deadline of zero or less
     */
    @Throws(PaymentException::class)
    public fun withDeadline(deadline: Duration): Gateway = Gateway(core.withDeadline(deadline))

    /**
     * The same gateway with one deadline for every call, for Java.
     *
     * @throws PaymentException.Misconfigured for a deadline of zero or less
     */
    @Throws(PaymentException::class)
    public fun withDeadline(deadline: java.time.Duration): Gateway = withDeadline(deadline.toKotlinDuration())

    /** The journal that records what it sends, if any. */
    public val journal: Journal? get() = core.journal

    /**
     * The same gateway with a journal: it records each payment before sending it. See [Journal].
     *
     * It shares connections and payments in flight. Closing one gateway closes both.
     */
    public fun withJournal(journal: Journal): Gateway = Gateway(core.withJournal(journal))

    /**
     * The same gateway, which adds this note to the journal entries of its payments, such as the shop's order: after a crash, it tells
     * what each payment is for. It is cheap enough to create for one call, as in `gateway.withNote("cart 17").createCardPayment(...)`.
     *
     * @throws PaymentException.Invalid for a note of more than 256 characters
     * @throws PaymentException.Misconfigured if the gateway has no journal
     */
    @Throws(PaymentException::class)
    public fun withNote(note: String): Gateway = Gateway(core.withNote(note))

    /**
     * The unfinished entries of the gateway's journal: after a crash, query each ([check]), deliver what is charged, and [finish] it.
     *
     * It is a cold flow: it reads the disk lazily, on `Dispatchers.IO`, and anew for each collection. Cancelling the collector ends it,
     * and finishes no entry. Collecting throws [PaymentException.Unavailable] if the journal cannot be read.
     *
     * @throws PaymentException.Misconfigured if the gateway has no journal
     */
    @Throws(PaymentException::class)
    public fun unfinished(): Flow<Unfinished> {
        core.unfinished().close() // without a journal it is refused now, not when it is collected
        return flow {
            core.unfinished().use { pages ->
                while (true) {
                    val page = withContext(Dispatchers.IO) { pages.next() } ?: break
                    page.forEach { emit(it) }
                }
            }
        }
    }

    /**
     * Polls every unfinished payment of the gateway's journal until it is final. Call it at startup, and repeatedly in a long-running
     * program.
     *
     * ```
     * gateway.recover().collect { recovered ->
     *     if (recovered is Recovered.Payment && recovered.entry.state == JournalState.CHARGED) {
     *         deliver(recovered.entry.note)
     *         gateway.finish(recovered.entry)
     *     }
     * }
     * ```
     *
     * Payments that are already charged come at once, without a query. A payment that is still pending at the policy's deadline stays
     * unfinished for the next recovery, and so does one without a number to query by. **Of all processes that share the folder, one
     * recovers at a time**; the others wait until it ends or dies, so that no two deliver the same goods. Still, make delivery
     * idempotent: a process may die between delivering and finishing.
     *
     * It is a cold flow: no query is sent before it is collected, each collection is a separate recovery, and no new query begins while
     * the collector is busy. Stopping early, by `first` or by cancelling the collector, lets other processes recover. Collecting throws,
     * at the end: [PaymentException.Unauthorized] and [PaymentException.Misconfigured] if further queries are useless (three times in a
     * row, or the gateway was closed), [PaymentException.Unavailable] if the journal cannot be read. None of them says anything about a
     * payment.
     *
     * @throws PaymentException.Misconfigured if the gateway has no journal
     * @throws PaymentException.Invalid for a policy of zeros
     */
    @JvmOverloads
    @Throws(PaymentException::class)
    public fun recover(policy: RecoveryPolicy = RecoveryPolicy()): Flow<Recovered> {
        core.recover(policy).close() // what cannot be recovered is refused now, not when it is collected
        return flow {
            core.recover(policy).use { recovery ->
                while (true) emit(awaited { recovery.next(it) } ?: break)
            }
        }
    }

    /**
     * Delivers what is paid, for as long as the program runs: it recovers what is unfinished in the journal, polls it and whatever is begun
     * meanwhile until it is decided, calls the handler, and marks the entry as finished after the handler has returned.
     *
     * ```
     * val stop = StopSignal()
     * val summary = gateway.deliverForever(stop) { entry -> shop.deliver(entry.note) }
     * println(summary)
     * ```
     *
     * - **The handler is called for a charged payment alone**, one payment at a time. If it throws, it is called again after a pause that
     *   grows ([DeliveryPolicy]); other payments go on. Nothing is lost: until it is finished, the payment comes again, also after a crash.
     *   So **delivering twice must do no harm**. [DeliveryHandler.otherwise] hears of every other result.
     * - **One process at a time delivers** from a journal's folder; others wait until it ends or dies. Only this worker should deliver:
     *   request handlers of the program just create payments.
     * - Errors of the gateway, the network or the disk end nothing: they are logged, and it goes on after a pause.
     * - **It ends** by [stop], or when the gateway is closed: within seconds, after the call of the handler that is running. Cancelling the
     *   coroutine cancels that call, too; its payment comes again. Each end is logged, with the number of unfinished entries.
     *
     * It returns what it has left open.
     *
     * @param stop ends it from outside
     * @throws PaymentException.Misconfigured if the gateway has no journal
     * @throws PaymentException.Invalid for a policy of zeros
     */
    public suspend fun deliverForever(
        stop: StopSignal = StopSignal(),
        policy: DeliveryPolicy = DeliveryPolicy(),
        handler: DeliveryHandler,
    ): DeliverySummary = DeliveryWorker(core, policy, stop, handler).run()

    /**
     * Delivers what is paid, once: it recovers what is unfinished in the journal, polls it until it is decided or the policy's deadline is
     * over, calls the handler, and marks the entry as finished after the handler has returned.
     *
     * ```
     * val summary = gateway.deliverUnfinished(RecoveryPolicy(deadline = 15.seconds)) { entry -> shop.deliver(entry.note) }
     * println(summary)
     * ```
     *
     * Use it in a script, in a job that is started again and again, such as by cron, or in a first program. A program that keeps running
     * uses [deliverForever]. Both, and [recover], share the journal's lock: of all processes that share the folder, one delivers at a time,
     * and the others wait until it ends or dies, or until their deadline.
     *
     * - **The handler is called for a charged payment alone**, one payment at a time, and once for each. If it throws, this is logged; the
     *   payment stays unfinished, and the next delivery brings it again, also after a crash. So **delivering twice must do no harm**.
     *   [DeliveryHandler.otherwise] is called for every other result.
     * - **An error of the recovery ends it**, and is thrown: what was delivered until then is finished. Cancelling the coroutine cancels
     *   the call of the handler, too; its payment comes again. Each end is logged, with the number of unfinished entries.
     *
     * @param policy how often and how long it polls
     * @return what it delivered and left open
     * @throws PaymentException.Misconfigured if the gateway has no journal or was closed, or if further queries are useless
     * @throws PaymentException.Unauthorized if the gateway refuses the credentials
     * @throws PaymentException.Unavailable if the journal cannot be read
     * @throws PaymentException.Invalid for a policy of zeros
     */
    public suspend fun deliverUnfinished(policy: RecoveryPolicy = RecoveryPolicy(), handler: DeliveryHandler): DeliverySummary =
        DeliveryRun(core, policy, handler).run()

    /**
     * Marks an entry of the journal as finished, as [Journal.finish] does.
     *
     * @throws PaymentException.Misconfigured if the gateway has no journal, and otherwise as for [Journal.finish]
     */
    public suspend fun finish(entry: JournalEntry): Unit = finish(entry.id)

    /**
     * Marks an entry of the journal as finished, by its id, as [Journal.finish] does.
     *
     * @throws PaymentException.Misconfigured if the gateway has no journal, and otherwise as for [Journal.finish]
     */
    public suspend fun finish(id: String): Unit = awaited { core.finish(id).await(it) }

    override suspend fun closeAndWait(): Unit = awaited { core.close().await(it) }

    /** The same as [close] with a timeout, suspending. */
    public suspend fun closeAndWait(timeout: Duration): Boolean = awaited { core.closeWithin(timeout).await(it) }

    override fun close(): Unit = core.closeBlocking()

    /**
     * The same as [close], with a limit to the wait; zero does not wait. Returns true if every payment has its response.
     *
     * **False means that the outcome of a payment is unknown**: it continues while the process lives. The next [recover] polls it if
     * there is a journal; without a journal, query with the [PaymentRef] that you stored. Never send it again.
     */
    public fun close(timeout: Duration): Boolean = core.closeBlocking(timeout)

    /** The same, for Java. */
    public fun close(timeout: java.time.Duration): Boolean = close(timeout.toKotlinDuration())

    /**
     * Runs a block with this gateway and closes it afterwards, like `use` of the standard library. If the block throws (also a
     * cancellation), it does not wait for payments in flight, as `close(Duration.ZERO)`.
     */
    public inline fun <R> use(block: (Gateway) -> R): R {
        var isFailed = false
        try {
            return block(this)
        } catch (failure: Throwable) {
            isFailed = true
            throw failure
        } finally {
            if (isFailed) close(Duration.ZERO) else close()
        }
    }

    /** Where it is. */
    override fun toString(): String = "Gateway(${core.baseUrl})"
}

/** An interrupt ends the wait. After one that came before there is none. */
internal fun GatewayCore.closeBlocking() {
    if (Thread.currentThread().isInterrupted) closeBlocking(Duration.ZERO) else untilInterrupted(close())
}

internal fun GatewayCore.closeBlocking(timeout: Duration): Boolean = untilInterrupted(closeWithin(timeout)) ?: false

/** Null if an interrupt ended the wait. */
private fun <T : Any> untilInterrupted(call: GatewayCall<T>): T? {
    // Already interrupted, it would not even begin.
    var isInterrupted = Thread.interrupted()
    var result: T? = null
    try {
        result = call.block()
    } catch (_: InterruptedException) {
        isInterrupted = true
    }
    if (isInterrupted) Thread.currentThread().interrupt()
    return result
}
