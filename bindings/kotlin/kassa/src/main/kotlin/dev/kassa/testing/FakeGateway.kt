package dev.kassa.testing

import dev.kassa.BlockingGateway
import dev.kassa.FutureGateway
import dev.kassa.Gateway
import dev.kassa.GatewayCore
import dev.kassa.PaymentException
import dev.kassa.calling
import dev.kassa.sendable
import kotlin.time.Duration
import kotlin.time.toJavaDuration
import kotlin.time.toKotlinDuration
import dev.kassa.internal.FakeGateway as CoreFakeGateway

/**
 * An in-memory gateway for tests of **your own** code: it sends nothing, does not wait in real time, and does what the test tells it.
 *
 * [gateway], [blocking] and [future] are ordinary gateways, with the same rules, exceptions and verdicts; the other methods act as the
 * payer or cause faults. Payments are identified by what the code under test knows: an order number, a gateway number, a transaction id,
 * a page's URL or a QR code's text. Closing one of the gateways closes all three.
 *
 * **The clock** is virtual. While it runs, every wait ends at once, even a watch of 20 minutes. To see the time in between, stop it
 * ([stopClock]) and move it ([advance]). The virtual time of `runTest` of kotlinx.coroutines is a separate one.
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
 * Creates a fake gateway without payments, with a running clock.
 *
 * @throws PaymentException.Misconfigured if Kassa's threads cannot be started
 */
@Throws(PaymentException::class)
public constructor() {
    private val core = calling { CoreFakeGateway() }
    private val line = GatewayCore("in memory", calling { core.gateway() })

    /** The gateway for the code under test. */
    public val gateway: Gateway = Gateway(line)

    /** The same gateway for code that waits. */
    public val blocking: BlockingGateway = BlockingGateway(line)

    /** The same gateway for code that takes futures. */
    public val future: FutureGateway = FutureGateway(line)

    /** All payments so far, oldest first. */
    public val payments: List<FakePayment> get() = calling { core.payments().map { it.toKassa() } }

    /** The code of every payer, one-time password and PIN: it confirms a payment by mobile bank or MegaPay, which is then charged. */
    public val otp: String get() = calling { core.otp() }

    /** The time on the clock since the fake gateway was created. */
    public val now: Duration get() = getNow().toKotlinDuration()

    /** The time on the clock since the fake gateway was created, for Java. */
    public fun getNow(): java.time.Duration = calling { core.now() }

    /**
     * The payer pays.
     *
     * @param payment one of the payment's numbers, the address of its page, or the text of its code
     * @return what the gateway would send to the merchant, to pass to the code under test
     * @throws PaymentException.Invalid if there is no such payment, or it is final
     */
    @Throws(PaymentException::class)
    public fun charge(payment: String): FakeNotification = calling { core.charge(sendable("payment", payment)).toKassa() }

    /**
     * The payer declines, or the bank does.
     *
     * @param payment one of the payment's numbers, the address of its page, or the text of its code
     * @return what the gateway would send to the merchant, to pass to the code under test
     * @throws PaymentException.Invalid if there is no such payment, or it is final
     */
    @Throws(PaymentException::class)
    public fun reject(payment: String): FakeNotification = calling { core.reject(sendable("payment", payment)).toKassa() }

    /** Sets what happens to payments created from now on. By default they stay open. */
    public fun plan(plan: FakePlan): Unit = calling { core.plan(plan.toCore()) }

    /**
     * Makes one call fail: the next one, or the one after the calls with faults that were set before.
     *
     * @throws PaymentException.Invalid if a text of it contains an unpaired surrogate, which cannot be sent
     */
    @Throws(PaymentException::class)
    public fun failNext(fault: FakeFault): Unit = calling { core.failNext(fault.toCore()) }

    /** Moves the clock forward. Waits that end by then continue. */
    public fun advance(by: Duration): Unit = calling { core.advance(sendable(by)) }

    /** Moves the clock forward, for Java. */
    public fun advance(by: java.time.Duration): Unit = advance(by.toKotlinDuration())

    /** Stops the clock: from now on only [advance] moves it. */
    public fun stopClock(): Unit = calling { core.stopClock() }

    /** Starts the clock again. */
    public fun startClock(): Unit = calling { core.startClock() }

    /** Its payments, and its time. */
    override fun toString(): String = "FakeGateway(payments=$payments, now=$now)"
}
