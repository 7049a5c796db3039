package dev.kassa

import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.flow
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withContext
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
public class Gateway internal constructor(internal val core: GatewayCore) : PaymentGateway {
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

    override suspend fun createCardPayment(payment: CardPayment): CardPaymentCreated =
        onDefault { core.createCardPayment(payment) }

    override suspend fun paymentStatus(gatewayNumber: String, language: String?): StatusReport =
        onDefault { core.paymentStatus(gatewayNumber, language) }

    override suspend fun createMbankPayment(payment: MbankPayment): MbankPaymentCreated =
        onDefault { core.createMbankPayment(payment) }

    override suspend fun confirmMbankPayment(payment: PaymentRef, otp: String): MbankConfirmed =
        onDefault { core.confirmMbankPayment(payment, otp) }

    override suspend fun createPayForm(form: PayForm): PayFormCreated = onDefault { core.createPayForm(form) }

    override suspend fun providerStatus(orderNumber: String, provider: Provider): StatusReport =
        onDefault { core.providerStatus(orderNumber, provider) }

    override suspend fun createQrImage(payment: QrPayment): QrImage = onDefault { core.createQrImage(payment) }

    override suspend fun createQrData(payment: QrPayment): QrData = onDefault { core.createQrData(payment) }

    override suspend fun qrStatus(transactionId: String): StatusReport = onDefault { core.qrStatus(transactionId) }

    override suspend fun check(payment: PaymentRef): Verdict = onDefault { core.check(payment) }

    override suspend fun verifyCallback(callback: Callback, payment: PaymentRef): Verdict =
        onDefault { core.verifyCallback(callback, payment) }

    override suspend fun verifyReturn(redirect: ReturnRedirect, payment: PaymentRef): Verdict =
        onDefault { core.verifyReturn(redirect, payment) }

    override fun watch(payment: PaymentRef, policy: PollPolicy): StatusWatch {
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

    /** The journal in which it writes down what it sends, where it has one. */
    public val journal: Journal? get() = core.journal

    /**
     * The same gateway with a journal: what it sends from now on is written down first. See [Journal].
     *
     * It shares the connections and what is on its way. Closing one of them closes both.
     */
    public fun withJournal(journal: Journal): Gateway = Gateway(core.withJournal(journal))

    /**
     * The same gateway, which writes this note into the journal's entries of the payments that it makes: the order in the shop, for
     * example, so that after a crash it is known what each payment is for. It costs next to nothing, so it can be made for one call, as
     * in `gateway.withNote("cart 17").createCardPayment(...)`.
     *
     * @throws PaymentException.Invalid for a note of more than 256 characters
     * @throws PaymentException.Misconfigured where the gateway has no journal
     */
    @Throws(PaymentException::class)
    public fun withNote(note: String): Gateway = Gateway(core.withNote(note))

    /**
     * The unfinished entries of the gateway's journal: after a crash, ask about each ([check]), deliver what is charged, and [finish] it.
     *
     * It is a cold flow: it reads the disk a part at a time, on `Dispatchers.IO`, while it is collected, and every collection reads
     * anew. Cancelling the collector ends it, and finishes nothing. Collecting throws [PaymentException.Unavailable] where the
     * journal cannot be read.
     *
     * @throws PaymentException.Misconfigured where the gateway has no journal
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
     * Polls every unfinished payment of the gateway's journal until it is final: at the start, and again and again in a program that runs
     * for long.
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
     * What is charged already comes at once, without a question. A payment that is still pending when the policy's deadline passes stays
     * unfinished, for the next recovery; so does one that has nothing to be asked with. **Of all processes that share the folder, one
     * recovers at a time**; another one waits until that one ends or dies, so that no two of them deliver the same goods. All the same,
     * deliver by a step that does nothing when it is repeated: a process may die between delivering and finishing.
     *
     * It is a cold flow: nothing is asked before it is collected, every collection is a recovery of its own, and no new question is asked
     * while the collector is busy. Leaving it early, by `first` or by cancelling the collector, lets others recover. Collecting throws, as
     * the last thing: [PaymentException.Unauthorized] and [PaymentException.Misconfigured] where asking on is useless (three times in a
     * row, or the gateway was closed), [PaymentException.Unavailable] where the journal cannot be read. None of them says anything about a
     * payment.
     *
     * @throws PaymentException.Misconfigured where the gateway has no journal
     * @throws PaymentException.Invalid for a policy of zeros
     */
    @JvmOverloads
    @Throws(PaymentException::class)
    public fun recover(policy: RecoveryPolicy = RecoveryPolicy()): Flow<Recovered> {
        core.recover(policy).close() // what cannot be recovered is refused now, not when it is collected
        return flow {
            core.recover(policy).use { recovery ->
                while (true) emit(onDefault { recovery.next() } ?: break)
            }
        }
    }

    /**
     * Says that a payment of the journal is done with, as [Journal.finish] does.
     *
     * @throws PaymentException.Misconfigured where the gateway has no journal, and otherwise as of [Journal.finish]
     */
    public suspend fun finish(entry: JournalEntry): Unit = finish(entry.id)

    /**
     * Says that a payment of the journal is done with, by its entry's name, as [Journal.finish] does.
     *
     * @throws PaymentException.Misconfigured where the gateway has no journal, and otherwise as of [Journal.finish]
     */
    public suspend fun finish(id: String): Unit = onDefault { core.finish(id) }

    override suspend fun closeAndWait(): Unit = onDefault { core.close() }

    /** The same as [close] with a timeout, suspending. */
    public suspend fun closeAndWait(timeout: Duration): Boolean = onDefault { core.closeWithin(timeout) }

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
    if (Thread.currentThread().isInterrupted) closeBlocking(Duration.ZERO) else untilInterrupted { close() }
}

internal fun GatewayCore.closeBlocking(timeout: Duration): Boolean = untilInterrupted { closeWithin(timeout) } ?: false

/** Null where an interrupt ended the wait. */
private fun <T : Any> untilInterrupted(wait: suspend () -> T): T? {
    // Already interrupted, it would not even begin.
    var isInterrupted = Thread.interrupted()
    var result: T? = null
    try {
        result = runBlocking { wait() }
    } catch (_: InterruptedException) {
        isInterrupted = true
    }
    if (isInterrupted) Thread.currentThread().interrupt()
    return result
}
