package dev.kassa.testing

import dev.kassa.Callback
import dev.kassa.MbankPayment
import dev.kassa.PayForm
import dev.kassa.PaymentEntry
import dev.kassa.PaymentException
import dev.kassa.PaymentGateway
import dev.kassa.PaymentKind
import dev.kassa.PaymentRef
import dev.kassa.PaymentStatus
import dev.kassa.PollPolicy
import dev.kassa.Provider
import dev.kassa.QrPayment
import dev.kassa.ReturnRedirect
import dev.kassa.Verdict
import dev.kassa.WatchReport
import dev.kassa.support.cardPayment
import dev.kassa.support.mbankPayment
import dev.kassa.support.megapayPayment
import kotlinx.coroutines.async
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertInstanceOf
import org.junit.jupiter.api.assertThrows
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.MethodSource
import java.math.BigDecimal
import java.util.concurrent.CompletionException
import kotlin.reflect.KClass
import kotlin.time.Duration
import kotlin.time.Duration.Companion.hours
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds

/** The gateway in memory, as a user's tests use it. */
class FakeGatewayTest {
    private val fake = FakeGateway()
    private val gateway = fake.gateway

    /** The code under test in the documentation of [FakeGateway]. */
    private class Shop(private val gateway: PaymentGateway) {
        suspend fun sell(orderNumber: String) = gateway.createMbankPayment(MbankPayment(orderNumber, "996555000101", 250, "Tea"))
    }

    @Test
    fun `documentation's example`() = runBlocking<Unit> {
        val shop = Shop(fake.gateway)
        fake.failNext(FakeFault.ResponseLost)
        val lost = assertThrows<PaymentException.OutcomeUnknown> { shop.sell("order-1") }
        fake.charge("order-1")
        assertInstanceOf<Verdict.Charged>(fake.gateway.watch(lost.payment).outcome())
    }

    @Test
    fun `card is paid on its page`() = runBlocking<Unit> {
        val payment = cardPayment()
        val entry = PaymentEntry.parse(gateway.createCardPayment(payment).entry().toString())
        val notice = fake.charge(entry.pageUrl!!)
        assertInstanceOf<Verdict.Charged>(gateway.check(entry.payment))
        assertTrue(gateway.paymentStatus(entry.payment.gatewayNumber!!).status.isFinal)
        assertTrue(gateway.verifyCallback(Callback.parse(notice.callback), entry.payment).isCharged)
        assertTrue(gateway.verifyReturn(ReturnRedirect.parse(notice.returnUrl!!), entry.payment).isCharged)

        val expected = FakePayment(
            PaymentKind.CARD, payment.orderNumber, entry.payment.gatewayNumber, null, BigDecimal("100.1"), "KGS", PaymentStatus.Charged,
            entry.pageUrl, null, payment.callbackUrl,
        )
        assertEquals(listOf(expected), fake.payments)
        assertThrows<PaymentException.Invalid> { fake.reject(payment.orderNumber) }
    }

    @Test
    fun `mobile bank takes the right password only`() = runBlocking<Unit> {
        val created = gateway.createMbankPayment(mbankPayment())
        assertThrows<PaymentException.Refused> { gateway.confirmMbankPayment(created.payment, "000000") }
        assertInstanceOf<Verdict.Pending>(gateway.check(created.payment))
        gateway.confirmMbankPayment(created.payment, fake.otp)
        assertInstanceOf<Verdict.Charged>(gateway.check(created.payment))
    }

    @Test
    fun `wallet is charged once, by the right PIN, after the total was shown`() = runBlocking<Unit> {
        val payment = megapayPayment()
        val checked = gateway.checkMegapay(payment)
        assertEquals(payment.paymentRef(), checked.payment)
        assertEquals(payment.amount + checked.commission!!, checked.total)
        assertTrue(checked.commission!! > BigDecimal.ZERO && checked.pinLifetime!! > Duration.ZERO)
        assertThrows<PaymentException.Refused> { gateway.payByMegapay(payment, "000000") }
        assertInstanceOf<Verdict.Pending>(gateway.check(checked.payment))
        val accepted = gateway.payByMegapay(payment, fake.otp)
        assertThrows<PaymentException.Refused> { gateway.payByMegapay(payment, fake.otp) }
        assertThrows<PaymentException.OutcomeUnknown> { gateway.checkMegapay(payment) }
        val charged = assertInstanceOf<Verdict.Charged>(gateway.check(PaymentEntry.parse("${checked.entry()}").payment))
        assertEquals(0, payment.amount.compareTo(charged.report.amount))
        assertEquals(PaymentStatus.Charged, gateway.providerStatus(accepted.payment.orderNumber!!, Provider.MegaPay).status)
        val made = fake.payments.single()
        assertEquals(PaymentKind.MEGAPAY to PaymentStatus.Charged, made.kind to made.status)
        assertEquals(payment.callbackUrl, made.callbackUrl)
    }

    @Test
    fun `pay-form is verified by its callback and by its return`() = runBlocking<Unit> {
        val created = gateway.createPayForm(PayForm(BigDecimal(75), "Tea", "https://s.kg/cb", "https://s.kg/back?cart=1"))
        val notice = fake.charge("${created.payFormUrl}")
        assertTrue(gateway.verifyCallback(Callback.parse(notice.callback), created.payment).isCharged)
        assertTrue(gateway.verifyReturn(ReturnRedirect.parse(notice.returnUrl!!), created.payment).isCharged)
        val declined = gateway.createPayForm(PayForm(BigDecimal(75), "Tea", "https://s.kg/cb", "https://s.kg/back"))
        assertNull(fake.reject("${declined.payFormUrl}").returnUrl)
    }

    @Test
    fun `QR code is paid, whether as data or as a picture`() = runBlocking<Unit> {
        val data = gateway.createQrData(QrPayment(sumTyiyn = 9990))
        fake.charge(data.entry().qrText!!)
        assertInstanceOf<Verdict.Charged>(gateway.check(data.payment))
        val picture = gateway.createQrImage(QrPayment(sumTyiyn = 9990))
        val notice = fake.charge(fake.payments.last().transactionId!!)
        assertTrue(gateway.verifyCallback(Callback.parse(notice.callback), picture.payment).isCharged)
    }

    @ParameterizedTest
    @MethodSource("faults")
    fun `each fault does what it says, to one call`(fault: FakeFault, made: Int, kind: KClass<out PaymentException>) = runBlocking<Unit> {
        fake.failNext(fault)
        val error = assertThrows<PaymentException> { gateway.createMbankPayment(mbankPayment()) }
        assertEquals(kind, error::class)
        assertEquals(made, fake.payments.size)
        if (error is PaymentException.Refused) assertEquals("51" to "NO_MONEY", error.code to error.reason)
        if (fault is FakeFault.TooManyRequests) assertEquals(1.hours, (error as PaymentException.Unavailable).retryAfter)
        gateway.createMbankPayment(mbankPayment())
        assertEquals(made + 1, fake.payments.size)
    }

    @Test
    fun `running clock keeps no watch waiting`() = runBlocking<Unit> {
        fake.plan(FakePlan.Charge(after = 45.seconds))
        val paid = gateway.createCardPayment(cardPayment()).payment
        val reports = gateway.watch(paid).reports.toList()
        assertEquals(List(5) { Verdict.Pending::class } + Verdict.Charged::class, reports.map { it::class })
        assertEquals(50.seconds, fake.now)

        fake.plan(FakePlan.StayPending)
        val forgotten = gateway.createCardPayment(cardPayment()).payment
        assertThrows<PaymentException.DeadlineExpired> { gateway.watch(forgotten).outcome() }
        assertTrue(fake.now >= 20.minutes, "${fake.now}")
    }

    @Test
    fun `stopped clock moves by the test alone`() = runBlocking {
        fake.stopClock()
        fake.plan(FakePlan.Reject(after = 15.seconds))
        val payment = gateway.createCardPayment(cardPayment()).payment
        val reports = Channel<WatchReport>(Channel.UNLIMITED)
        launch {
            gateway.watch(payment).reports.collect(reports::send)
            reports.close()
        }
        assertInstanceOf<Verdict.Pending>(reports.receive())
        val second = async { reports.receive() }
        fake.advance(9.seconds)
        assertFalse(second.isCompleted)
        fake.advance(1.seconds)
        assertInstanceOf<Verdict.Pending>(second.await())
        assertEquals(10.seconds, fake.now)
        fake.advance(10.seconds)
        assertInstanceOf<Verdict.Rejected>(reports.receive())
        assertTrue(reports.receiveCatching().isClosed)
        fake.startClock()
        assertEquals(20.seconds, fake.now)
    }

    @Test
    fun `programs that wait and programs that do not see the same payments`() {
        val created = fake.blocking.createMbankPayment(mbankPayment())
        fake.future.confirmMbankPayment(created.payment, fake.otp).join()
        assertInstanceOf<Verdict.Charged>(fake.blocking.watch(created.payment).outcome())
        assertInstanceOf<Verdict.Charged>(fake.future.watch(created.payment).outcome().join())
        fake.failNext(FakeFault.NoConnection)
        assertThrows<PaymentException.Unavailable> { fake.blocking.check(created.payment) }
        fake.failNext(FakeFault.NoConnection)
        val error = assertThrows<CompletionException> { fake.future.check(created.payment).join() }
        assertInstanceOf<PaymentException.Unavailable>(error.cause)
    }

    @Test
    fun `two fakes do not know each other`() = runBlocking<Unit> {
        val other = FakeGateway()
        val payment = mbankPayment()
        gateway.createMbankPayment(payment)
        other.advance(1.hours)
        assertEquals(1 to 0, fake.payments.size to other.payments.size)
        assertEquals(Duration.ZERO, fake.now)
        assertThrows<PaymentException.Invalid> { other.charge(payment.orderNumber) }
        assertThrows<PaymentException.Refused> { other.gateway.check(payment.paymentRef()) }
    }

    /** Its gateways are not for tests alone: what they are given, and how they are left, is as always. */
    @Test
    fun `its gateway keeps the rules, and can be closed`() = runBlocking<Unit> {
        assertThrows<PaymentException.Invalid> { gateway.createMbankPayment(mbankPayment().copy(amountSom = 0)) }
        assertThrows<PaymentException.Invalid> { gateway.watch(PaymentRef.payForm(BigDecimal.ONE), PollPolicy()) }
        assertEquals("Gateway(in memory)", "$gateway")
        gateway.withDeadline(5.seconds).closeAndWait()
        assertThrows<PaymentException.Misconfigured> { gateway.createMbankPayment(mbankPayment()) }
        assertEquals(emptyList<FakePayment>(), fake.payments)
    }

    private companion object {
        @JvmStatic
        fun faults(): List<Array<Any>> = listOf(
            arrayOf(FakeFault.NoConnection, 0, PaymentException.Unavailable::class),
            arrayOf(FakeFault.RequestLost, 0, PaymentException.OutcomeUnknown::class),
            arrayOf(FakeFault.ResponseLost, 1, PaymentException.OutcomeUnknown::class),
            arrayOf(FakeFault.NoResponse, 1, PaymentException.OutcomeUnknown::class),
            arrayOf(FakeFault.Refused("51", "NO_MONEY"), 0, PaymentException.Refused::class),
            arrayOf(FakeFault.Unauthorized, 0, PaymentException.Unauthorized::class),
            arrayOf(FakeFault.ServerError, 0, PaymentException.OutcomeUnknown::class),
            arrayOf(FakeFault.TooManyRequests(1.hours), 0, PaymentException.Unavailable::class),
        )
    }
}
