package dev.kassa

import dev.kassa.internal.contextOfCaller
import kotlinx.coroutines.runBlocking
import kotlin.time.Duration
import kotlin.time.toKotlinDuration

/** Runs a query on the calling thread, which waits for it. */
private fun <T> asking(query: suspend () -> T): T = runBlocking(contextOfCaller()) { query() }

/**
 * The payment gateway for Java, scripts and other callers that wait: the methods of [Gateway], each blocking its thread until
 * the answer is there.
 *
 * It can be used from any thread, and by many at once. **Interrupting a thread** ends its wait at once with an
 * [InterruptedException]. Before a connection was made it also prevents the payment; afterwards the payment goes on, sent once,
 * and its [PaymentRef] finds it.
 */
public class BlockingGateway internal constructor(private val core: GatewayCore) : BlockingPaymentGateway {
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

    @Throws(PaymentException::class, InterruptedException::class)
    override fun createCardPayment(payment: CardPayment): CardPaymentCreated =
        runBlocking { core.createCardPayment(payment) }

    @Throws(PaymentException::class, InterruptedException::class)
    override fun paymentStatus(gatewayNumber: String, language: String?): StatusReport =
        asking { core.paymentStatus(gatewayNumber, language) }

    @Throws(PaymentException::class, InterruptedException::class)
    override fun createMbankPayment(payment: MbankPayment): MbankPaymentCreated =
        runBlocking { core.createMbankPayment(payment) }

    @Throws(PaymentException::class, InterruptedException::class)
    override fun confirmMbankPayment(payment: PaymentRef, otp: String): MbankConfirmed =
        runBlocking { core.confirmMbankPayment(payment, otp) }

    @Throws(PaymentException::class, InterruptedException::class)
    override fun createPayForm(form: PayForm): PayFormCreated = runBlocking { core.createPayForm(form) }

    @Throws(PaymentException::class, InterruptedException::class)
    override fun providerStatus(orderNumber: String, provider: Provider): StatusReport =
        asking { core.providerStatus(orderNumber, provider) }

    @Throws(PaymentException::class, InterruptedException::class)
    override fun createQrImage(payment: QrPayment): QrImage = runBlocking { core.createQrImage(payment) }

    @Throws(PaymentException::class, InterruptedException::class)
    override fun createQrData(payment: QrPayment): QrData = runBlocking { core.createQrData(payment) }

    @Throws(PaymentException::class, InterruptedException::class)
    override fun qrStatus(transactionId: String): StatusReport = asking { core.qrStatus(transactionId) }

    @Throws(PaymentException::class, InterruptedException::class)
    override fun check(payment: PaymentRef): Verdict = asking { core.check(payment) }

    @Throws(PaymentException::class, InterruptedException::class)
    override fun verifyCallback(callback: Callback, payment: PaymentRef): Verdict =
        asking { core.verifyCallback(callback, payment) }

    @Throws(PaymentException::class, InterruptedException::class)
    override fun verifyReturn(redirect: ReturnRedirect, payment: PaymentRef): Verdict =
        asking { core.verifyReturn(redirect, payment) }

    @Throws(PaymentException::class)
    override fun watch(payment: PaymentRef, policy: PollPolicy): BlockingStatusWatch =
        BlockingStatusWatch(core.watch(payment, policy))

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
    public fun withDeadline(deadline: Duration): BlockingGateway = BlockingGateway(core.withDeadline(deadline))

    /**
     * The same gateway with another deadline, for Java.
     *
     * @throws PaymentException.Misconfigured for a deadline of zero or less
     */
    @Throws(PaymentException::class)
    public fun withDeadline(deadline: java.time.Duration): BlockingGateway = withDeadline(deadline.toKotlinDuration())

    /** The journal in which it writes down what it sends, where it has one. */
    public val journal: Journal? get() = core.journal

    /**
     * The same gateway with a journal: what it sends from now on is written down first. See [Journal].
     *
     * It shares the connections and what is on its way. Closing one of them closes both.
     */
    public fun withJournal(journal: Journal): BlockingGateway = BlockingGateway(core.withJournal(journal))

    /**
     * The same gateway, which writes this note into the journal's entries of the payments that it makes: the order in the shop, for
     * example, so that after a crash it is known what each payment is for. It costs next to nothing, so it can be made for one call, as
     * in `gateway.withNote("cart 17").createCardPayment(...)`.
     *
     * @throws PaymentException.Invalid for a note of more than 256 characters
     * @throws PaymentException.Misconfigured where the gateway has no journal
     */
    @Throws(PaymentException::class)
    public fun withNote(note: String): BlockingGateway = BlockingGateway(core.withNote(note))

    /**
     * The unfinished entries of the gateway's journal: after a crash, ask about each ([check]), deliver what is charged, and [finish] it.
     *
     * It reads the disk a part at a time while it is gone through, and each going through it reads anew. That throws
     * [PaymentException.Unavailable] where the journal cannot be read.
     *
     * @throws PaymentException.Misconfigured where the gateway has no journal
     */
    @Throws(PaymentException::class)
    public fun unfinished(): Iterable<Unfinished> {
        core.unfinished().close() // without a journal it is refused now, not when it is gone through
        return inTurn { core.unfinished() }
    }

    /**
     * Polls every unfinished payment of the gateway's journal until it is final: at the start, and again and again in a program that runs
     * for long. Nothing is asked until it is gone through.
     *
     * @throws PaymentException.Misconfigured where the gateway has no journal
     * @throws PaymentException.Invalid for a policy of zeros
     */
    @JvmOverloads
    @Throws(PaymentException::class)
    public fun recover(policy: RecoveryPolicy = RecoveryPolicy()): BlockingRecovery = BlockingRecovery(core.recover(policy))

    /**
     * Says that a payment of the journal is done with, as [Journal.finish] does.
     *
     * @throws PaymentException.Misconfigured where the gateway has no journal, and otherwise as of [Journal.finish]
     */
    @Throws(PaymentException::class, InterruptedException::class)
    public fun finish(entry: JournalEntry): Unit = finish(entry.id)

    /**
     * Says that a payment of the journal is done with, by its entry's name, as [Journal.finish] does.
     *
     * @throws PaymentException.Misconfigured where the gateway has no journal, and otherwise as of [Journal.finish]
     */
    @Throws(PaymentException::class, InterruptedException::class)
    public fun finish(id: String): Unit = runBlocking { core.finish(id) }

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
 * Follows one payment: a query at once, then one every interval, one at a time, until there is a final [Verdict].
 * Between calls nothing is asked.
 *
 * Failed queries and "not found" are reported and end nothing. Wrong credentials, a wrong configuration and a report that
 * contradicts what was asked for do, where three queries in a row end in them. No exception says that the payment failed. `close`
 * is `cancel`.
 */
public class BlockingStatusWatch internal constructor(private val core: WatchCore) : AutoCloseable {
    /**
     * The next report, a [Verdict] or a [QueryFailed], when it is there; null after the last one.
     *
     * @throws PaymentException once, as the last thing: [PaymentException.DeadlineExpired] where the payment was still pending at
     *   the deadline, [PaymentException.Unauthorized] or [PaymentException.Misconfigured] where asking on is useless
     */
    @Throws(PaymentException::class, InterruptedException::class)
    public fun next(): WatchReport? = runBlocking { core.next() }

    /**
     * The verdict that ended the watch; **null where it was cancelled**, which says nothing about the payment. It asks on until then,
     * and can be called again afterwards.
     *
     * @throws PaymentException as [next] does
     */
    @Throws(PaymentException::class, InterruptedException::class)
    public fun outcome(): Verdict? = runBlocking { core.outcome() }

    /** Makes the next query due at once: when the payer has just come back. Any thread may call it. */
    public fun checkNow(): Unit = core.checkNow()

    /**
     * Stops asking: there is no next report and no outcome, unless the watch had ended before. Any thread may call it.
     */
    public fun cancel(): Unit = core.cancel()

    /** Stops asking, as [cancel] does. */
    override fun close(): Unit = cancel()

    /** What it is, and not whether it has ended. */
    override fun toString(): String = "BlockingStatusWatch()"
}

/**
 * Follows what was unfinished in a gateway's journal when it began, each payment until its end; with [RecoveryPolicy.followNew] also what is
 * begun later. Take the ends one by one with [nextRecovered], or go through it. Between the ends nothing new is asked.
 *
 * What is charged already comes at once, without a question. A payment that is still pending when the policy's deadline passes stays
 * unfinished, for the next recovery; so does one that has nothing to be asked with. **Of all processes that share the folder, one recovers
 * at a time**; another one waits until that one ends or dies, so that no two of them deliver the same goods. All the same, deliver by a
 * step that does nothing when it is repeated: a process may die between delivering and finishing.
 *
 * **Close it where it is left early**, so that others may recover: `use` in Kotlin, `try` in Java. It closes itself at the end.
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
     * The next end, when it is there; null when nothing is left to be asked about, at the policy's deadline, or when it was cancelled.
     *
     * @throws PaymentException once, as the last thing: [PaymentException.Unauthorized] and [PaymentException.Misconfigured] where asking
     *   on is useless (three times in a row, or the gateway was closed), [PaymentException.Unavailable] where the journal cannot be read.
     *   None of them says anything about a payment
     */
    @Throws(PaymentException::class, InterruptedException::class)
    public fun nextRecovered(): Recovered? = runBlocking { core.next() }

    /**
     * The ends, as of [nextRecovered], from here on: another iterator goes on where this one stopped. It throws what that throws, though
     * Java's iterators do not say so.
     */
    override fun iterator(): Iterator<Recovered> = iterator { while (true) yield(nextRecovered() ?: break) }

    /** Stops asking, and lets others recover: there is no next end. Any thread may call it. */
    public fun cancel(): Unit = core.close()

    /** Stops asking, as [cancel] does. */
    override fun close(): Unit = cancel()

    /** What it is, and not how far it has got. */
    override fun toString(): String = "BlockingRecovery()"
}
