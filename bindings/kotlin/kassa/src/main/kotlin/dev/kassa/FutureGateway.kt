package dev.kassa

import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.future.future
import java.util.concurrent.CompletableFuture
import kotlin.time.Duration
import kotlin.time.toKotlinDuration

/**
 * The payment gateway for Java programs that do not wait: the methods of [Gateway], each answering with a [CompletableFuture].
 *
 * It can be used from any thread, and by many at once. A call that gives no answer completes its future with a
 * [PaymentException] (within a `CompletionException` or an `ExecutionException`, as futures do). **Cancelling a future** stops
 * the wait at once. Before a connection was made it also prevents the payment; afterwards the payment goes on, sent once, and its
 * [PaymentRef] finds it. What depends on a future without an executor of its own runs on a thread that computes: it should not
 * block.
 */
public class FutureGateway internal constructor(private val core: GatewayCore) : FuturePaymentGateway {
    /**
     * A gateway by its configuration. Nothing is sent.
     *
     * @param journal where it writes down what it sends, if anywhere
     * @throws PaymentException.Misconfigured where a setting cannot work, naming it
     */
    @JvmOverloads
    @Throws(PaymentException::class)
    public constructor(config: GatewayConfig, journal: Journal? = null) : this(GatewayCore.of(config, journal))

    /**
     * A gateway with every other setting at its default. Nothing is sent.
     *
     * @param journal where it writes down what it sends, if anywhere
     * @throws PaymentException.Misconfigured where a setting cannot work, naming it
     */
    @JvmOverloads
    @Throws(PaymentException::class)
    public constructor(baseUrl: String, credentials: Credentials, journal: Journal? = null) :
        this(GatewayConfig(baseUrl, credentials), journal)

    override fun createCardPayment(payment: CardPayment): CompletableFuture<CardPaymentCreated> =
        promise { core.createCardPayment(payment) }

    override fun paymentStatus(gatewayNumber: String, language: String?): CompletableFuture<StatusReport> =
        promise { core.paymentStatus(gatewayNumber, language) }

    override fun createMbankPayment(payment: MbankPayment): CompletableFuture<MbankPaymentCreated> =
        promise { core.createMbankPayment(payment) }

    override fun confirmMbankPayment(payment: PaymentRef, otp: String): CompletableFuture<MbankConfirmed> =
        promise { core.confirmMbankPayment(payment, otp) }

    override fun createPayForm(form: PayForm): CompletableFuture<PayFormCreated> = promise { core.createPayForm(form) }

    override fun providerStatus(orderNumber: String, provider: Provider): CompletableFuture<StatusReport> =
        promise { core.providerStatus(orderNumber, provider) }

    override fun createQrImage(payment: QrPayment): CompletableFuture<QrImage> = promise { core.createQrImage(payment) }

    override fun createQrData(payment: QrPayment): CompletableFuture<QrData> = promise { core.createQrData(payment) }

    override fun qrStatus(transactionId: String): CompletableFuture<StatusReport> =
        promise { core.qrStatus(transactionId) }

    override fun check(payment: PaymentRef): CompletableFuture<Verdict> = promise { core.check(payment) }

    override fun verifyCallback(callback: Callback, payment: PaymentRef): CompletableFuture<Verdict> =
        promise { core.verifyCallback(callback, payment) }

    override fun verifyReturn(redirect: ReturnRedirect, payment: PaymentRef): CompletableFuture<Verdict> =
        promise { core.verifyReturn(redirect, payment) }

    @Throws(PaymentException::class)
    override fun watch(payment: PaymentRef, policy: PollPolicy): FutureStatusWatch =
        FutureStatusWatch(core.watch(payment, policy))

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
    public fun withDeadline(deadline: Duration): FutureGateway = FutureGateway(core.withDeadline(deadline))

    /**
     * The same gateway with another deadline, for Java.
     *
     * @throws PaymentException.Misconfigured for a deadline of zero or less
     */
    @Throws(PaymentException::class)
    public fun withDeadline(deadline: java.time.Duration): FutureGateway = withDeadline(deadline.toKotlinDuration())

    /** The journal in which it writes down what it sends, where it has one. */
    public val journal: Journal? get() = core.journal

    /**
     * The same gateway with a journal: what it sends from now on is written down first. See [Journal].
     *
     * It shares the connections and what is on its way. Closing one of them closes both.
     */
    public fun withJournal(journal: Journal): FutureGateway = FutureGateway(core.withJournal(journal))

    /**
     * The same gateway, which writes this note into the journal's entries of the payments that it makes: the order in the shop, for
     * example, so that after a crash it is known what each payment is for. It costs next to nothing, so it can be made for one call, as
     * in `gateway.withNote("cart 17").createCardPayment(...)`.
     *
     * @throws PaymentException.Invalid for a note of more than 256 characters
     * @throws PaymentException.Misconfigured where the gateway has no journal
     */
    @Throws(PaymentException::class)
    public fun withNote(note: String): FutureGateway = FutureGateway(core.withNote(note))

    /**
     * The unfinished entries of the gateway's journal: after a crash, ask about each ([check]), deliver what is charged, and [finish] it.
     * It begins anew each time.
     *
     * @throws PaymentException.Misconfigured where the gateway has no journal
     */
    @Throws(PaymentException::class)
    public fun unfinished(): FutureUnfinished = FutureUnfinished(core.unfinished())

    /**
     * Polls every unfinished payment of the gateway's journal until it is final: at the start, and again and again in a program that runs
     * for long. Nothing is asked until a future is asked for.
     *
     * @throws PaymentException.Misconfigured where the gateway has no journal
     * @throws PaymentException.Invalid for a policy of zeros
     */
    @JvmOverloads
    @Throws(PaymentException::class)
    public fun recover(policy: RecoveryPolicy = RecoveryPolicy()): FutureRecovery = FutureRecovery(core.recover(policy))

    /**
     * Says that a payment of the journal is done with, as [Journal.finish] does. A [PaymentException] in its future is
     * [PaymentException.Misconfigured] where the gateway has no journal, and otherwise as of [Journal.finish].
     */
    public fun finish(entry: JournalEntry): CompletableFuture<Void?> = finish(entry.id)

    /**
     * Says that a payment of the journal is done with, by its entry's name, as [Journal.finish] does. A [PaymentException] in its future
     * is [PaymentException.Misconfigured] where the gateway has no journal, and otherwise as of [Journal.finish].
     */
    public fun finish(id: String): CompletableFuture<Void?> = promise { core.finish(id) }.thenApply { null }

    override fun closeAndWait(): CompletableFuture<Void?> = promise { core.close() }.thenApply { null }

    /** The same as [close] with a timeout, without blocking. */
    public fun closeAndWait(timeout: Duration): CompletableFuture<Boolean> = promise { core.closeWithin(timeout) }

    /** The same with a limit to the wait, for Java. */
    public fun closeAndWait(timeout: java.time.Duration): CompletableFuture<Boolean> = closeAndWait(timeout.toKotlinDuration())

    override fun close(): Unit = core.closeBlocking()

    /**
     * The same as [close], and waits for so long at most; zero waits for nothing. It is true where every payment has its response.
     *
     * **Where it is false, the outcome of a payment is unknown**: it goes on while the process lives. A journal has it, and the next
     * [recover] follows it; without a journal, ask with the [PaymentRef] that was stored. Never send it again.
     */
    public fun close(timeout: Duration): Boolean = core.closeBlocking(timeout)

    /** The same with a limit to the wait, for Java. */
    public fun close(timeout: java.time.Duration): Boolean = close(timeout.toKotlinDuration())

    /**
     * Runs a block with this gateway, and closes it afterwards, as `use` of the standard library does. Where the block throws, a
     * cancellation among the exceptions, it waits for no payment, as `close(Duration.ZERO)`.
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
 * Follows one payment: a query at once, then one every interval, one at a time, until there is a final [Verdict].
 * Between calls nothing is asked.
 *
 * Failed queries and "not found" are reported and end nothing. Wrong credentials, a wrong configuration and a report that
 * contradicts what was asked for do, where three queries in a row end in them. No exception says that the payment failed. `close`
 * is `cancel`.
 */
public class FutureStatusWatch internal constructor(private val core: WatchCore) : AutoCloseable {
    /**
     * The next report, a [Verdict] or a [QueryFailed], when it is there; null after the last one. The last thing may be an
     * exception, once: [PaymentException.DeadlineExpired] where the payment was still pending at the deadline,
     * [PaymentException.Unauthorized] or [PaymentException.Misconfigured] where asking on is useless.
     */
    public fun next(): CompletableFuture<WatchReport?> = promise { core.next() }

    /**
     * The verdict that ended the watch, or an exception as of [next]; **null where it was cancelled**, which says nothing about the
     * payment. It asks on until then, and can be called again afterwards.
     */
    public fun outcome(): CompletableFuture<Verdict?> = promise { core.outcome() }

    /** Makes the next query due at once: when the payer has just come back. */
    public fun checkNow(): Unit = core.checkNow()

    /**
     * Stops asking: there is no next report and no outcome, unless the watch had ended before.
     */
    public fun cancel(): Unit = core.cancel()

    /** Stops asking, as [cancel] does. */
    override fun close(): Unit = cancel()

    /** What it is, and not whether it has ended. */
    override fun toString(): String = "FutureStatusWatch()"
}

/** The unfinished entries of a journal, a page at a time, the oldest first. The disk is read by a thread apart. */
public class FutureUnfinished internal constructor(private val pages: UnfinishedPages) {
    /**
     * The next ones; **an empty list after the last one**. The future has a [PaymentException.Unavailable] where the journal cannot be
     * read. What a cancelled one had read is not given again here.
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

    /** What it is, and not how far it has got. */
    override fun toString(): String = "FutureUnfinished()"
}

/**
 * Follows what was unfinished in a gateway's journal when it began, each payment until its end; with [RecoveryPolicy.followNew] also what is
 * begun later. Between calls nothing new is asked.
 *
 * What is charged already comes at once, without a question. A payment that is still pending when the policy's deadline passes stays
 * unfinished, for the next recovery; so does one that has nothing to be asked with. **Of all processes that share the folder, one recovers
 * at a time**; another one waits until that one ends or dies, so that no two of them deliver the same goods. All the same, deliver by a
 * step that does nothing when it is repeated: a process may die between delivering and finishing.
 *
 * **Close it where it is left early**, so that others may recover. It closes itself at the end.
 */
public class FutureRecovery internal constructor(private val core: RecoveryCore) : AutoCloseable {
    /**
     * The next end, when it is there; null when nothing is left to be asked about, at the policy's deadline, or when it was cancelled. The
     * last thing may be an exception, once: [PaymentException.Unauthorized] and [PaymentException.Misconfigured] where asking on is useless
     * (three times in a row, or the gateway was closed), [PaymentException.Unavailable] where the journal cannot be read. None of them says
     * anything about a payment. Where a future is cancelled, what it brought is the next one's.
     *
     * ```java
     * CompletableFuture<Void> deliverAll(FutureRecovery recovery) {
     *     return recovery.nextRecovered().thenCompose(recovered -> recovered == null
     *             ? CompletableFuture.completedFuture(null)
     *             : deliver(recovered).thenCompose(done -> deliverAll(recovery)));
     * }
     * ```
     */
    public fun nextRecovered(): CompletableFuture<Recovered?> = promise { core.next() }

    /** Stops asking, and lets others recover: there is no next end. */
    public fun cancel(): Unit = core.close()

    /** Stops asking, as [cancel] does. */
    override fun close(): Unit = cancel()

    /** What it is, and not how far it has got. */
    override fun toString(): String = "FutureRecovery()"
}

private fun <T> promise(on: CoroutineDispatcher = Dispatchers.Default, call: suspend () -> T): CompletableFuture<T> =
    CoroutineScope(on).future { call() }
