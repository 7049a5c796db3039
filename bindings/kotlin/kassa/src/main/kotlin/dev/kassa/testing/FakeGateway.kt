package dev.kassa.testing

import dev.kassa.BlockingGateway
import dev.kassa.FutureGateway
import dev.kassa.Gateway
import dev.kassa.GatewayCore
import dev.kassa.PaymentException
import dev.kassa.calling
import dev.kassa.internal.DirectGateway
import dev.kassa.sendable
import kotlin.time.Duration
import kotlin.time.toJavaDuration
import kotlin.time.toKotlinDuration
import dev.kassa.internal.FakeGateway as CoreFakeGateway

/**
 * A gateway in memory for tests of **your own** code: nothing is sent, no time is waited, and what happens is what the test says.
 *
 * [gateway], [blocking] and [future] are gateways like any other, with the same rules, exceptions and verdicts; the other methods are
 * the payer's side, and what goes wrong. Payments are named by what the code under test knows of them: an order number, a gateway's
 * number, a transaction, a page's address or a QR code's text. Closing one of the gateways closes all three.
 *
 * **The clock** is virtual. While it runs, whoever waits for a moment finds that it has come: a watch of 20 minutes ends at once. A test
 * that wants to see the time between stops it ([stopClock]) and moves it ([advance]). The virtual time of coroutines' own `runTest` is
 * another one.
 *
 * ```
 * val fake = FakeGateway()
 * val shop = Shop(fake.gateway) // the code under test
 *
 * // The answer is lost, so nobody knows whether the payment was made.
 * fake.failNext(FakeFault.ResponseLost)
 * val lost = assertThrows<PaymentException.OutcomeUnknown> { shop.sell("order-1") }
 *
 * // It was. The payer pays, and the watch finds it out.
 * fake.charge("order-1")
 * assertInstanceOf<Verdict.Charged>(fake.gateway.watch(lost.payment).outcome())
 * ```
 *
 * To build a checkout against real pages, callbacks and faults, there is the sandbox.
 */
public class FakeGateway
/**
 * A fake gateway without payments, whose clock runs.
 *
 * @throws PaymentException.Misconfigured where Kassa's threads cannot be started
 */
@Throws(PaymentException::class)
public constructor() {
    private val core = calling { CoreFakeGateway() }
    private val line = GatewayCore("in memory", calling { DirectGateway.of(core.gateway()) })

    /** The gateway for the code under test. */
    public val gateway: Gateway = Gateway(line)

    /** The same gateway for code that waits. */
    public val blocking: BlockingGateway = BlockingGateway(line)

    /** The same gateway for code that takes futures. */
    public val future: FutureGateway = FutureGateway(line)

    /** All payments so far, the oldest first. */
    public val payments: List<FakePayment> get() = calling { core.payments().map { it.toKassa() } }

    /** The one-time password of every payer: with it a mobile-bank payment is confirmed and charged. */
    public val otp: String get() = calling { core.otp() }

    /** The time on the clock since the fake gateway was made. */
    public val now: Duration get() = getNow().toKotlinDuration()

    /** The time on the clock since the fake gateway was made, for Java. */
    public fun getNow(): java.time.Duration = calling { core.now() }

    /**
     * The payer pays.
     *
     * @param payment one of the payment's numbers, the address of its page, or the text of its code
     * @return what the gateway would tell the merchant, for a test to hand on
     * @throws PaymentException.Invalid where there is no such payment, or it is final
     */
    @Throws(PaymentException::class)
    public fun charge(payment: String): FakeNotification = calling { core.charge(sendable("payment", payment)).toKassa() }

    /**
     * The payer declines, or the bank does.
     *
     * @param payment one of the payment's numbers, the address of its page, or the text of its code
     * @return what the gateway would tell the merchant, for a test to hand on
     * @throws PaymentException.Invalid where there is no such payment, or it is final
     */
    @Throws(PaymentException::class)
    public fun reject(payment: String): FakeNotification = calling { core.reject(sendable("payment", payment)).toKassa() }

    /** What becomes of the payments that are made from now on. They stay open unless this says otherwise. */
    public fun plan(plan: FakePlan): Unit = calling { core.plan(plan.toCore()) }

    /**
     * Lets one call go wrong: the next one, or the one after those that were given before.
     *
     * @throws PaymentException.Invalid where a text of it has half a surrogate pair in it, which cannot be sent
     */
    @Throws(PaymentException::class)
    public fun failNext(fault: FakeFault): Unit = calling { core.failNext(fault.toCore()) }

    /** Moves the clock forward. Whoever waited for a moment up to then goes on. */
    public fun advance(by: Duration): Unit = calling { core.advance(sendable(by)) }

    /** Moves the clock forward, for Java. */
    public fun advance(by: java.time.Duration): Unit = advance(by.toKotlinDuration())

    /** Stops the clock: from now on time passes by [advance] alone. */
    public fun stopClock(): Unit = calling { core.stopClock() }

    /** Lets the clock run again. */
    public fun startClock(): Unit = calling { core.startClock() }

    /** Its payments, and its time. */
    override fun toString(): String = "FakeGateway(payments=$payments, now=$now)"
}
