package dev.kassa

import kotlinx.coroutines.Dispatchers
import java.util.concurrent.CompletableFuture
import kotlin.time.Duration
import kotlin.time.toKotlinDuration

/**
 * The payment gateway for Java programs that do not wait: the methods of [Gateway], each answering with a [CompletableFuture].
 *
 * It is thread-safe. A call without an answer completes its future with a [PaymentException] (within a `CompletionException` or an
 * `ExecutionException`, as futures do). **Cancelling a future** stops the wait at once. If no connection was made yet, nothing is sent.
 * Later the payment continues, sent once, and its [PaymentRef] finds it. Dependent stages without an executor run on a computing thread:
 * they should not block.
 */
public class FutureGateway internal constructor(private val core: GatewayCore) : FuturePaymentGateway {
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

    override fun createCardPayment(payment: CardPayment): CompletableFuture<CardPaymentCreated> =
        promise { core.createCardPayment(payment).await(it) }

    override fun paymentStatus(gatewayNumber: String, language: String?): CompletableFuture<StatusReport> =
        promise { core.paymentStatus(gatewayNumber, language).await(it) }

    override fun createMbankPayment(payment: MbankPayment): CompletableFuture<MbankPaymentCreated> =
        promise { core.createMbankPayment(payment).await(it) }

    override fun confirmMbankPayment(payment: PaymentRef, otp: String): CompletableFuture<MbankConfirmed> =
        promise { core.confirmMbankPayment(payment, otp).await(it) }

    override fun checkMegapay(payment: MegapayPayment): CompletableFuture<MegapayChecked> =
        promise { core.checkMegapay(payment).await(it) }

    override fun payByMegapay(payment: MegapayPayment, pin: String): CompletableFuture<MegapayAccepted> =
        promise { core.payByMegapay(payment, pin).await(it) }

    override fun createPayForm(form: PayForm): CompletableFuture<PayFormCreated> = promise { core.createPayForm(form).await(it) }

    override fun providerStatus(orderNumber: String, provider: Provider): CompletableFuture<StatusReport> =
        promise { core.providerStatus(orderNumber, provider).await(it) }

    override fun createQrImage(payment: QrPayment): CompletableFuture<QrImage> = promise { core.createQrImage(payment).await(it) }

    override fun createQrData(payment: QrPayment): CompletableFuture<QrData> = promise { core.createQrData(payment).await(it) }

    override fun qrStatus(transactionId: String): CompletableFuture<StatusReport> =
        promise { core.qrStatus(transactionId).await(it) }

    override fun check(payment: PaymentRef): CompletableFuture<Verdict> = promise { core.check(payment).await(it) }

    override fun verifyCallback(callback: Callback, payment: PaymentRef): CompletableFuture<Verdict> =
        promise { core.verifyCallback(callback, payment).await(it) }

    override fun verifyReturn(redirect: ReturnRedirect, payment: PaymentRef): CompletableFuture<Verdict> =
        promise { core.verifyReturn(redirect, payment).await(it) }

    @Throws(PaymentException::class)
    override fun watch(payment: PaymentRef, policy: PollPolicy): FutureStatusWatch =
        FutureStatusWatch(core.watch(payment, policy))

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
    public fun withDeadline(deadline: Duration): FutureGateway = FutureGateway(core.withDeadline(deadline))

    /**
     * The same gateway with one deadline for every call, for Java.
     *
     * @throws PaymentException.Misconfigured for a deadline of zero or less
     */
    @Throws(PaymentException::class)
    public fun withDeadline(deadline: java.time.Duration): FutureGateway = withDeadline(deadline.toKotlinDuration())

    /** The journal that records what it sends, if any. */
    public val journal: Journal? get() = core.journal

    /**
     * The same gateway with a journal: it records each payment before sending it. See [Journal].
     *
     * It shares connections and payments in flight. Closing one gateway closes both.
     */
    public fun withJournal(journal: Journal): FutureGateway = FutureGateway(core.withJournal(journal))

    /**
     * The same gateway, which adds this note to the journal entries of its payments, such as the shop's order: after a crash, it tells
     * what each payment is for. It is cheap enough to create for one call, as in `gateway.withNote("cart 17").createCardPayment(...)`.
     *
     * @throws PaymentException.Invalid for a note of more than 256 characters
     * @throws PaymentException.Misconfigured if the gateway has no journal
     */
    @Throws(PaymentException::class)
    public fun withNote(note: String): FutureGateway = FutureGateway(core.withNote(note))

    /**
     * The unfinished entries of the gateway's journal: after a crash, query each ([check]), deliver what is charged, and [finish] it.
     * Each iteration begins anew.
     *
     * @throws PaymentException.Misconfigured if the gateway has no journal
     */
    @Throws(PaymentException::class)
    public fun unfinished(): FutureUnfinished = FutureUnfinished(core.unfinished())

    /**
     * Polls every unfinished payment of the gateway's journal until it is final. Call it at startup, and repeatedly in a long-running
     * program. No query is sent before you request a future.
     *
     * @throws PaymentException.Misconfigured if the gateway has no journal
     * @throws PaymentException.Invalid for a policy of zeros
     */
    @JvmOverloads
    @Throws(PaymentException::class)
    public fun recover(policy: RecoveryPolicy = RecoveryPolicy()): FutureRecovery = FutureRecovery(core.recover(policy))

    /**
     * Delivers what is paid, for as long as the program runs: it recovers what is unfinished in the journal, polls it and whatever is begun
     * meanwhile until it is decided, calls the handler, and marks the entry as finished after the handler has returned.
     *
     * ```java
     * gateway.deliverForever(stop, entry -> shop.deliver(entry.getNote()))
     *         .thenAccept(summary -> System.out.println(summary));
     * ```
     *
     * - **The handler is called for a charged payment alone**, one payment at a time. If it throws, it is called again after a pause that
     *   grows ([DeliveryPolicy]); other payments go on. Nothing is lost: until it is finished, the payment comes again, also after a crash.
     *   So **delivering twice must do no harm**. [BlockingDeliveryHandler.otherwise] hears of every other result.
     * - **One process at a time delivers** from a journal's folder; others wait until it ends or dies. Only this worker should deliver:
     *   request handlers of the program just create payments.
     * - Errors of the gateway, the network or the disk end nothing: they are logged, and it goes on after a pause.
     * - **It ends** by [stop], or when the gateway is closed: within seconds, after the call of the handler that is running. Cancelling the
     *   future interrupts that call, too; its payment comes again. Each end is logged, with the number of unfinished entries.
     *
     * The future has what it has left open, or an exception as below. The handler runs on a thread that may block.
     *
     * @param stop ends it from outside
     * @return fails with [PaymentException.Misconfigured] if the gateway has no journal, and [PaymentException.Invalid] for a policy of zeros
     */
    @JvmOverloads
    public fun deliverForever(
        stop: StopSignal = StopSignal(),
        policy: DeliveryPolicy = DeliveryPolicy(),
        handler: BlockingDeliveryHandler,
    ): CompletableFuture<DeliverySummary> = promise(Dispatchers.IO) {
        DeliveryWorker(core, policy, stop, handler.suspending(::interruptibly)).run()
    }

    /**
     * Delivers what is paid, once: it recovers what is unfinished in the journal, polls it until it is decided or the policy's deadline is
     * over, calls the handler, and marks the entry as finished after the handler has returned.
     *
     * ```java
     * var policy = new RecoveryPolicy(Duration.ofSeconds(10), Duration.ofSeconds(15)); // the interval and the deadline
     * gateway.deliverUnfinished(policy, entry -> shop.deliver(entry.getNote())).thenAccept(summary -> System.out.println(summary));
     * ```
     *
     * Use it in a script, in a job that is started again and again, such as by cron, or in a first program. A program that keeps running
     * uses [deliverForever]. Both, and [recover], share the journal's lock: of all processes that share the folder, one delivers at a time,
     * and the others wait until it ends or dies, or until their deadline.
     *
     * - **The handler is called for a charged payment alone**, one payment at a time, and once for each. If it throws, this is logged; the
     *   payment stays unfinished, and the next delivery brings it again, also after a crash. So **delivering twice must do no harm**.
     *   [BlockingDeliveryHandler.otherwise] is called for every other result.
     * - **An error of the recovery ends it**, and the future fails with it: what was delivered until then is finished. Cancelling the
     *   future interrupts the call of the handler, too; its payment comes again. Each end is logged, with the number of unfinished entries.
     *
     * @param policy how often and how long it polls
     * @return what it delivered and left open. It fails with [PaymentException.Misconfigured] if the gateway has no journal or was closed,
     *   or if further queries are useless, [PaymentException.Unauthorized] if the gateway refuses the credentials,
     *   [PaymentException.Unavailable] if the journal cannot be read, and [PaymentException.Invalid] for a policy of zeros
     */
    @JvmOverloads
    public fun deliverUnfinished(
        policy: RecoveryPolicy = RecoveryPolicy(),
        handler: BlockingDeliveryHandler,
    ): CompletableFuture<DeliverySummary> = promise(ofCaller(Dispatchers.IO)) {
        DeliveryRun(core, policy, handler.suspending(::interruptibly)).run()
    }

    /**
     * Marks an entry of the journal as finished, as [Journal.finish] does. A [PaymentException] in its future is
     * [PaymentException.Misconfigured] if the gateway has no journal, and otherwise as for [Journal.finish].
     */
    public fun finish(entry: JournalEntry): CompletableFuture<Void?> = finish(entry.id)

    /**
     * Marks an entry of the journal as finished, by its id, as [Journal.finish] does. A [PaymentException] in its future is
     * [PaymentException.Misconfigured] if the gateway has no journal, and otherwise as for [Journal.finish].
     */
    public fun finish(id: String): CompletableFuture<Void?> = promise { core.finish(id).await(it) }.thenApply { null }

    override fun closeAndWait(): CompletableFuture<Void?> = promise { core.close().await(it) }.thenApply { null }

    /** The same as [close] with a timeout, without blocking. */
    public fun closeAndWait(timeout: Duration): CompletableFuture<Boolean> = promise { core.closeWithin(timeout).await(it) }

    /** The same, for Java. */
    public fun closeAndWait(timeout: java.time.Duration): CompletableFuture<Boolean> = closeAndWait(timeout.toKotlinDuration())

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
    public inline fun <R> use(block: (FutureGateway) -> R): R {
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
    override fun toString(): String = "FutureGateway(${core.baseUrl})"
}

/**
 * Polls one payment: a query at once, then one per interval, one at a time, until there is a final [Verdict]. Between calls, no query is
 * sent.
 *
 * Failed queries and "not found" are reported and do not end the watch. Wrong credentials, a wrong configuration or a report that
 * contradicts the request end it after three in a row. No exception means that the payment failed. `close` is `cancel`.
 */
public class FutureStatusWatch internal constructor(private val core: WatchCore) : AutoCloseable {
    /**
     * Waits for the next report, a [Verdict] or a [QueryFailed]; null after the last one. It may end with an exception, once:
     * [PaymentException.DeadlineExpired] if the payment was still pending at the deadline, [PaymentException.Unauthorized] or
     * [PaymentException.Misconfigured] if further queries are useless.
     */
    public fun next(): CompletableFuture<WatchReport?> = promise { core.next(it) }

    /**
     * The verdict that ended the watch, or an exception as for [next]; **null if it was cancelled**, which says nothing about the
     * payment. It polls until then, and can be called again afterwards.
     */
    public fun outcome(): CompletableFuture<Verdict?> = promise { core.outcome(it) }

    /** Makes the next query due at once, for example when the payer has just come back. */
    public fun checkNow(): Unit = core.checkNow()

    /**
     * Stops polling: there is no next report and no outcome, unless the watch had ended before.
     */
    public fun cancel(): Unit = core.cancel()

    /** The same as [cancel]. */
    override fun close(): Unit = cancel()

    /** The class name only, not whether it has ended. */
    override fun toString(): String = "FutureStatusWatch()"
}

/** The unfinished entries of a journal, a page at a time, the oldest first. The disk is read by a thread apart. */
public class FutureUnfinished internal constructor(private val pages: UnfinishedPages) {
    /**
     * The next entries; **an empty list after the last one**. The future fails with [PaymentException.Unavailable] if the journal cannot
     * be read. Entries that a cancelled future had read are not returned again.
     *
     * ```java
     * CompletableFuture<Void> recover(FutureUnfinished unfinished) {
     *     return unfinished.nextPage().thenCompose(page -> page.isEmpty()
     *             ? CompletableFuture.completedFuture(null)
     *             : recoverAll(page).thenCompose(recovered -> recover(unfinished)));
     * }
     * ```
     */
    public fun nextPage(): CompletableFuture<List<Unfinished>> =
        promise(Dispatchers.IO) { pages.next().orEmpty() }

    /** The class name only, not its progress. */
    override fun toString(): String = "FutureUnfinished()"
}

/**
 * Polls the payments that were unfinished in a gateway's journal when it began, each until it is final; with [RecoveryPolicy.followNew]
 * also those that begin later. Between calls, no new query begins.
 *
 * Payments that are already charged come at once, without a query. A payment that is still pending at the policy's deadline stays
 * unfinished for the next recovery, and so does one without a number to query by. **Of all processes that share the folder, one recovers
 * at a time**; the others wait until it ends or dies, so that no two deliver the same goods. Still, make delivery idempotent: a process
 * may die between delivering and finishing.
 *
 * **Close it if you stop early**, so that other processes can recover. It closes itself at the end.
 */
public class FutureRecovery internal constructor(private val core: RecoveryCore) : AutoCloseable {
    /**
     * Waits for the next result; null if nothing is left, at the policy's deadline, or after a cancellation. It may end with an
     * exception, once: [PaymentException.Unauthorized] and [PaymentException.Misconfigured] if further queries are useless (three times
     * in a row, or the gateway was closed), [PaymentException.Unavailable] if the journal cannot be read. None of them says anything
     * about a payment. If a future is cancelled, the next one gets its result.
     *
     * ```java
     * CompletableFuture<Void> deliverAll(FutureRecovery recovery) {
     *     return recovery.nextRecovered().thenCompose(recovered -> recovered == null
     *             ? CompletableFuture.completedFuture(null)
     *             : deliver(recovered).thenCompose(done -> deliverAll(recovery)));
     * }
     * ```
     */
    public fun nextRecovered(): CompletableFuture<Recovered?> = promise { core.next(it) }

    /** Stops polling, and lets others recover: there is no next end. */
    public fun cancel(): Unit = core.close()

    /** The same as [cancel]. */
    override fun close(): Unit = cancel()

    /** The class name only, not its progress. */
    override fun toString(): String = "FutureRecovery()"
}
