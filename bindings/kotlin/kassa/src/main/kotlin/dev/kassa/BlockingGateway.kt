package dev.kassa

import kotlinx.coroutines.runBlocking
import kotlin.time.Duration
import kotlin.time.toKotlinDuration

/**
 * The payment gateway for Java, scripts and other blocking callers: the methods of [Gateway], each blocking its thread until the answer
 * is there.
 *
 * It is thread-safe. **Interrupting a thread** ends its wait at once with an [InterruptedException]. If no connection was made yet,
 * nothing is sent. Later the payment continues, sent once, and its [PaymentRef] finds it.
 */
public class BlockingGateway internal constructor(private val core: GatewayCore) : BlockingPaymentGateway {
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

    @Throws(PaymentException::class, InterruptedException::class)
    override fun createCardPayment(payment: CardPayment): CardPaymentCreated = core.createCardPayment(payment).block()

    @Throws(PaymentException::class, InterruptedException::class)
    override fun paymentStatus(gatewayNumber: String, language: String?): StatusReport =
        core.paymentStatus(gatewayNumber, language).block()

    @Throws(PaymentException::class, InterruptedException::class)
    override fun createMbankPayment(payment: MbankPayment): MbankPaymentCreated =
        core.createMbankPayment(payment).block()

    @Throws(PaymentException::class, InterruptedException::class)
    override fun confirmMbankPayment(payment: PaymentRef, otp: String): MbankConfirmed =
        core.confirmMbankPayment(payment, otp).block()

    @Throws(PaymentException::class, InterruptedException::class)
    override fun checkMegapay(payment: MegapayPayment): MegapayChecked = core.checkMegapay(payment).block()

    @Throws(PaymentException::class, InterruptedException::class)
    override fun payByMegapay(payment: MegapayPayment, pin: String): MegapayAccepted = core.payByMegapay(payment, pin).block()

    @Throws(PaymentException::class, InterruptedException::class)
    override fun createPayForm(form: PayForm): PayFormCreated = core.createPayForm(form).block()

    @Throws(PaymentException::class, InterruptedException::class)
    override fun providerStatus(orderNumber: String, provider: Provider): StatusReport =
        core.providerStatus(orderNumber, provider).block()

    @Throws(PaymentException::class, InterruptedException::class)
    override fun createQrImage(payment: QrPayment): QrImage = core.createQrImage(payment).block()

    @Throws(PaymentException::class, InterruptedException::class)
    override fun createQrData(payment: QrPayment): QrData = core.createQrData(payment).block()

    @Throws(PaymentException::class, InterruptedException::class)
    override fun qrStatus(transactionId: String): StatusReport = core.qrStatus(transactionId).block()

    @Throws(PaymentException::class, InterruptedException::class)
    override fun check(payment: PaymentRef): Verdict = core.check(payment).block()

    @Throws(PaymentException::class, InterruptedException::class)
    override fun verifyCallback(callback: Callback, payment: PaymentRef): Verdict =
        core.verifyCallback(callback, payment).block()

    @Throws(PaymentException::class, InterruptedException::class)
    override fun verifyReturn(redirect: ReturnRedirect, payment: PaymentRef): Verdict =
        core.verifyReturn(redirect, payment).block()

    @Throws(PaymentException::class)
    override fun watch(payment: PaymentRef, policy: PollPolicy): BlockingStatusWatch =
        BlockingStatusWatch(core.watch(payment, policy))

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
    public fun withDeadline(deadline: Duration): BlockingGateway = BlockingGateway(core.withDeadline(deadline))

    /**
     * The same gateway with one deadline for every call, for Java.
     *
     * @throws PaymentException.Misconfigured for a deadline of zero or less
     */
    @Throws(PaymentException::class)
    public fun withDeadline(deadline: java.time.Duration): BlockingGateway = withDeadline(deadline.toKotlinDuration())

    /** The journal that records what it sends, if any. */
    public val journal: Journal? get() = core.journal

    /**
     * The same gateway with a journal: it records each payment before sending it. See [Journal].
     *
     * It shares connections and payments in flight. Closing one gateway closes both.
     */
    public fun withJournal(journal: Journal): BlockingGateway = BlockingGateway(core.withJournal(journal))

    /**
     * The same gateway, which adds this note to the journal entries of its payments, such as the shop's order: after a crash, it tells
     * what each payment is for. It is cheap enough to create for one call, as in `gateway.withNote("cart 17").createCardPayment(...)`.
     *
     * @throws PaymentException.Invalid for a note of more than 256 characters
     * @throws PaymentException.Misconfigured if the gateway has no journal
     */
    @Throws(PaymentException::class)
    public fun withNote(note: String): BlockingGateway = BlockingGateway(core.withNote(note))

    /**
     * The unfinished entries of the gateway's journal: after a crash, query each ([check]), deliver what is charged, and [finish] it.
     *
     * It reads the disk lazily, and anew for each iteration. Iterating throws [PaymentException.Unavailable] if the journal cannot be
     * read.
     *
     * @throws PaymentException.Misconfigured if the gateway has no journal
     */
    @Throws(PaymentException::class)
    public fun unfinished(): Iterable<Unfinished> {
        core.unfinished().close() // without a journal it is refused now, not when it is gone through
        return inTurn { core.unfinished() }
    }

    /**
     * Polls every unfinished payment of the gateway's journal until it is final. Call it at startup, and repeatedly in a long-running
     * program. No query is sent before you iterate.
     *
     * @throws PaymentException.Misconfigured if the gateway has no journal
     * @throws PaymentException.Invalid for a policy of zeros
     */
    @JvmOverloads
    @Throws(PaymentException::class)
    public fun recover(policy: RecoveryPolicy = RecoveryPolicy()): BlockingRecovery = BlockingRecovery(core.recover(policy))

    /**
     * Delivers what is paid, for as long as the program runs: it recovers what is unfinished in the journal, polls it and whatever is begun
     * meanwhile until it is decided, calls the handler, and marks the entry as finished after the handler has returned.
     *
     * ```java
     * DeliverySummary summary = gateway.deliverForever(stop, entry -> shop.deliver(entry.getNote()));
     * System.out.println(summary);
     * ```
     *
     * - **The handler is called for a charged payment alone**, one payment at a time. If it throws, it is called again after a pause that
     *   grows ([DeliveryPolicy]); other payments go on. Nothing is lost: until it is finished, the payment comes again, also after a crash.
     *   So **delivering twice must do no harm**. [BlockingDeliveryHandler.otherwise] hears of every other result.
     * - **One process at a time delivers** from a journal's folder; others wait until it ends or dies. Only this worker should deliver:
     *   request handlers of the program just create payments.
     * - Errors of the gateway, the network or the disk end nothing: they are logged, and it goes on after a pause.
     * - **It ends** by [stop], or when the gateway is closed: within seconds, after the call of the handler that is running. Interrupting
     *   the thread ends it with an [InterruptedException], also that call; its payment comes again. Each end is logged, with the number
     *   of unfinished entries.
     *
     * It returns what it has left open. The handler runs on the calling thread.
     *
     * @param stop ends it from outside
     * @throws PaymentException.Misconfigured if the gateway has no journal
     * @throws PaymentException.Invalid for a policy of zeros
     */
    @JvmOverloads
    @Throws(PaymentException::class, InterruptedException::class)
    public fun deliverForever(
        stop: StopSignal = StopSignal(),
        policy: DeliveryPolicy = DeliveryPolicy(),
        handler: BlockingDeliveryHandler,
    ): DeliverySummary = runBlocking { DeliveryWorker(core, policy, stop, handler.suspending { it() }).run() }

    /**
     * Delivers what is paid, once: it recovers what is unfinished in the journal, polls it until it is decided or the policy's deadline is
     * over, calls the handler, and marks the entry as finished after the handler has returned.
     *
     * ```java
     * var policy = new RecoveryPolicy(Duration.ofSeconds(10), Duration.ofSeconds(15)); // the interval and the deadline
     * System.out.println(gateway.deliverUnfinished(policy, entry -> shop.deliver(entry.getNote())));
     * ```
     *
     * Use it in a script, in a job that is started again and again, such as by cron, or in a first program. A program that keeps running
     * uses [deliverForever]. Both, and [recover], share the journal's lock: of all processes that share the folder, one delivers at a time,
     * and the others wait until it ends or dies, or until their deadline.
     *
     * - **The handler is called for a charged payment alone**, one payment at a time, and once for each. If it throws, this is logged; the
     *   payment stays unfinished, and the next delivery brings it again, also after a crash. So **delivering twice must do no harm**.
     *   [BlockingDeliveryHandler.otherwise] is called for every other result.
     * - **An error of the recovery ends it**, and is thrown: what was delivered until then is finished. Interrupting the thread ends it
     *   with an [InterruptedException], also the call of the handler; its payment comes again. Each end is logged, with the number of
     *   unfinished entries.
     *
     * @param policy how often and how long it polls
     * @return what it delivered and left open
     * @throws PaymentException.Misconfigured if the gateway has no journal or was closed, or if further queries are useless
     * @throws PaymentException.Unauthorized if the gateway refuses the credentials
     * @throws PaymentException.Unavailable if the journal cannot be read
     * @throws PaymentException.Invalid for a policy of zeros
     */
    @JvmOverloads
    @Throws(PaymentException::class, InterruptedException::class)
    public fun deliverUnfinished(policy: RecoveryPolicy = RecoveryPolicy(), handler: BlockingDeliveryHandler): DeliverySummary =
        runBlocking { DeliveryRun(core, policy, handler.suspending { it() }).run() }

    /**
     * Marks an entry of the journal as finished, as [Journal.finish] does.
     *
     * @throws PaymentException.Misconfigured if the gateway has no journal, and otherwise as for [Journal.finish]
     */
    @Throws(PaymentException::class, InterruptedException::class)
    public fun finish(entry: JournalEntry): Unit = finish(entry.id)

    /**
     * Marks an entry of the journal as finished, by its id, as [Journal.finish] does.
     *
     * @throws PaymentException.Misconfigured if the gateway has no journal, and otherwise as for [Journal.finish]
     */
    @Throws(PaymentException::class, InterruptedException::class)
    public fun finish(id: String): Unit = core.finish(id).block()

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
    public inline fun <R> use(block: (BlockingGateway) -> R): R {
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
    override fun toString(): String = "BlockingGateway(${core.baseUrl})"
}

/**
 * Polls one payment: a query at once, then one per interval, one at a time, until there is a final [Verdict]. Between calls, no query is
 * sent.
 *
 * Failed queries and "not found" are reported and do not end the watch. Wrong credentials, a wrong configuration or a report that
 * contradicts the request end it after three in a row. No exception means that the payment failed. `close` is `cancel`.
 */
public class BlockingStatusWatch internal constructor(private val core: WatchCore) : AutoCloseable {
    /**
     * Waits for the next report, a [Verdict] or a [QueryFailed]; null after the last one.
     *
     * @throws PaymentException once, at the end: [PaymentException.DeadlineExpired] if the payment was still pending at the deadline,
     *   [PaymentException.Unauthorized] or [PaymentException.Misconfigured] if further queries are useless
     */
    @Throws(PaymentException::class, InterruptedException::class)
    public fun next(): WatchReport? = blocking { core.next(it) }

    /**
     * The verdict that ended the watch; **null if it was cancelled**, which says nothing about the payment. It polls until then, and can
     * be called again afterwards.
     *
     * @throws PaymentException as [next] does
     */
    @Throws(PaymentException::class, InterruptedException::class)
    public fun outcome(): Verdict? = blocking { core.outcome(it) }

    /** Makes the next query due at once, for example when the payer has just come back. Any thread may call it. */
    public fun checkNow(): Unit = core.checkNow()

    /** Stops polling: no further report, and no outcome unless the watch had already ended. Any thread may call it. */
    public fun cancel(): Unit = core.cancel()

    /** The same as [cancel]. */
    override fun close(): Unit = cancel()

    /** The class name only, not whether it has ended. */
    override fun toString(): String = "BlockingStatusWatch()"
}

/**
 * Polls the payments that were unfinished in a gateway's journal when it began, each until it is final; with [RecoveryPolicy.followNew]
 * also those that begin later. Take the results one by one with [nextRecovered], or iterate. Between results, no new query begins.
 *
 * Payments that are already charged come at once, without a query. A payment that is still pending at the policy's deadline stays
 * unfinished for the next recovery, and so does one without a number to query by. **Of all processes that share the folder, one recovers
 * at a time**; the others wait until it ends or dies, so that no two deliver the same goods. Still, make delivery idempotent: a process
 * may die between delivering and finishing.
 *
 * **Close it if you stop early**, so that other processes can recover: `use` in Kotlin, `try` in Java. It closes itself at the end.
 *
 * ```java
 * try (var recovery = gateway.recover()) {
 *     for (Recovered recovered : recovery) {
 *         if (recovered instanceof Recovered.Payment paid && paid.getEntry().getState() == JournalState.CHARGED) {
 *             deliver(paid.getEntry().getNote());
 *             gateway.finish(paid.getEntry());
 *         }
 *     }
 * }
 * ```
 */
public class BlockingRecovery internal constructor(private val core: RecoveryCore) : Iterable<Recovered>, AutoCloseable {
    /**
     * Waits for the next result; null if nothing is left, at the policy's deadline, or after a cancellation.
     *
     * @throws PaymentException once, at the end: [PaymentException.Unauthorized] and [PaymentException.Misconfigured] if further queries
     *   are useless (three times in a row, or the gateway was closed), [PaymentException.Unavailable] if the journal cannot be read. None
     *   of them says anything about a payment
     */
    @Throws(PaymentException::class, InterruptedException::class)
    public fun nextRecovered(): Recovered? = blocking { core.next(it) }

    /**
     * The remaining results, as for [nextRecovered]: another iterator continues where this one stopped. It throws the same exceptions,
     * although Java's iterators do not declare them.
     */
    override fun iterator(): Iterator<Recovered> = iterator { while (true) yield(nextRecovered() ?: break) }

    /** Stops polling, and lets other processes recover: no further result. Any thread may call it. */
    public fun cancel(): Unit = core.close()

    /** The same as [cancel]. */
    override fun close(): Unit = cancel()

    /** The class name only, not its progress. */
    override fun toString(): String = "BlockingRecovery()"
}
