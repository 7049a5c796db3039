package dev.kassa.sandbox

import dev.kassa.sandbox.junit.WithSandbox
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.EnumSource
import java.math.BigDecimal
import java.time.OffsetDateTime
import java.util.concurrent.TimeUnit
import kotlin.time.Duration
import kotlin.time.Duration.Companion.days
import kotlin.time.Duration.Companion.hours
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.nanoseconds
import kotlin.time.Duration.Companion.seconds

@WithSandbox
class AdminTest(private val sandbox: Sandbox) {
    private val shop = Shop(sandbox)

    @Test
    fun `ledger tells what happened`() {
        val before = OffsetDateTime.now().minusSeconds(2)
        shop.payByCard("order-1")
        shop.payByCard("order-2", TestCards.APPROVED.pan)
        val (charged, open) = sandbox.ledger()
        assertEquals(Triple(Kind.CARD, Sandbox.Provider.CARDS, "KGS"), Triple(charged.kind, charged.provider, charged.currency))
        assertEquals(BigDecimal("100.10"), charged.amount)
        assertEquals(Triple("CHARGE", "200", 1), Triple(charged.status, charged.code, charged.timesCharged))
        assertTrue(charged.isCharged)
        assertTrue(charged.createdAt in before..OffsetDateTime.now().plusSeconds(2))
        assertEquals(Triple("order-2", "CREATED", 0), Triple(open.orderNumber, open.status, open.timesCharged))
        assertFalse(open.isCharged)
        assertEquals(open, sandbox.payment("order-2"))
        assertEquals(emptyList<Payment>(), sandbox.ledger("nobody"))
        assertThrows<SandboxException.UnknownPayment> { sandbox.payment("nobody") }
    }

    @Test
    fun `payer pays by the form, once`() {
        val page = shop.makePayForm("http://127.0.0.1:9/callback", "http://127.0.0.1:9/thanks")
        val refused = assertThrows<SandboxException.Refused> { sandbox.payByForm(page, TestPhones.MBANK_APPROVED.copy(phone = "1")) }
        assertEquals(400, refused.httpStatus)
        val back = sandbox.payByForm(page)
        assertTrue(back!!.startsWith("http://127.0.0.1:9/thanks?"), back)
        assertEquals(1, sandbox.ledger().single().timesCharged)
        assertThrows<SandboxException.Refused> { sandbox.payByForm(page) }
        assertEquals(1, sandbox.ledger().single().timesCharged)
    }

    @Test
    fun `payer who is declined has not paid`() {
        assertNull(sandbox.payByForm(shop.makePayForm("http://127.0.0.1:9/callback", "http://127.0.0.1:9/thanks"), TestPhones.MBANK_DECLINED))
        assertFalse(sandbox.ledger().single().isCharged)
    }

    @Test
    fun `amounts of every kind are exact`() {
        shop.askForOtp("order-1")
        shop.askForPin("order-2")
        shop.makeQr(9990)
        shop.makeQr()
        assertEquals(listOf(Kind.MBANK, Kind.MEGAPAY, Kind.QR, Kind.QR), sandbox.ledger().map { it.kind })
        assertEquals(listOf(BigDecimal(250), BigDecimal("250.55"), BigDecimal(9990), null), sandbox.ledger().map { it.amount })
        assertEquals(Endpoint.MEGA_CHECK, sandbox.requests("order-2").single().endpoint)
    }

    @Test
    fun `every request is told`() {
        shop.payByCard("order-1")
        shop.status("order-1")
        sandbox.faults.add(FaultName.RESPONSE_LOST, times = 1)
        assertTrue(isLost { shop.payByCard("order 2") })
        assertEquals(
            listOf(
                Triple(Endpoint.PAYMENT, "order-1", null),
                Triple(Endpoint.GET_STATUS, "order-1", null),
                Triple(Endpoint.PAYMENT, "order 2", FaultName.RESPONSE_LOST),
            ),
            sandbox.requests().map { Triple(it.endpoint, it.orderNumber, it.fault) },
        )
        assertEquals(listOf(200, 200), sandbox.requests("order-1").map { it.httpStatus })
        assertNull(sandbox.requests("order 2").single().httpStatus)
    }

    @Test
    fun `every callback is told`() = Receiver().use { receiver ->
        shop.payByCard("order-1", TestCards.APPROVED.pan, receiver.url)
        sandbox.approve("order-1")
        do {
            val body = receiver.next()
        } while ("CHARGE" !in body)
        // An attempt is told of only after its receiver has answered.
        val told = until("it is told") { sandbox.callbacks("order-1").find { it.status == "CHARGE" } }
        assertEquals(listOf("order-1", receiver.url, 1, 204), told.run { listOf(orderNumber, url, attempt, httpStatus) })
        assertTrue("\"CHARGE\"" in told.body)
        assertNull(told.error)
    }

    private fun <T : Any> until(what: String, find: () -> T?): T {
        val deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS)
        while (System.nanoTime() < deadline) {
            find()?.let { return it }
            Thread.sleep(10)
        }
        throw AssertionError("never: $what. ${sandbox.ledger()} ${sandbox.callbacks()}")
    }

    @Test
    fun `payments are decided in the place of their payers`() {
        shop.payByCard("order-1", TestCards.APPROVED.pan)
        shop.payByCard("order-2", TestCards.APPROVED.pan)
        shop.makeQr()
        assertTrue(sandbox.approve("order-1").isCharged)
        assertEquals("Reject", sandbox.decline(sandbox.payment("order-2").gatewayNumber).status)
        val qr = sandbox.ledger().last().transactionId!!
        assertEquals(BigDecimal(4250), sandbox.approve(qr, sumTyiyn = 4250).amount)
        assertEquals(409, assertThrows<SandboxException.Refused> { sandbox.decline("order-1") }.httpStatus)
        assertThrows<SandboxException.UnknownPayment> { sandbox.approve("no/body?") }
    }

    @Test
    fun `switches are changed and go back`() {
        val before = sandbox.switches.read()
        shop.payByCard("order-1")
        assertEquals(409, shop.payByCard("order-1").statusCode())
        val after = sandbox.switches.change(reusedOrderNumber = ReusedOrderNumber.CHARGE_TWICE)
        assertEquals(before.copy(reusedOrderNumber = ReusedOrderNumber.CHARGE_TWICE), after)
        shop.payByCard("order-1")
        assertEquals(2, sandbox.payment("order-1").timesCharged)
        sandbox.reset()
        assertEquals(before, sandbox.switches.read())
        assertEquals(emptyList<Payment>(), sandbox.ledger())
    }

    @Test
    fun `clock steps forward and resolves what is pending`() {
        assertEquals(Duration.ZERO, sandbox.clock.read().ahead)
        sandbox.faults.add(FaultName.STUCK_PENDING)
        shop.payByCard("held")
        sandbox.clock.forward(1.days)
        assertEquals("PENDING", sandbox.payment("held").status)
        val values = sandbox.clock.resolvePending(afterQueries = 9, after = 1.hours)
        assertEquals(Triple(9, 1.hours, 1.days), values.run { Triple(resolveAfterQueries, resolveAfter, ahead) })
        assertTrue(values.now > OffsetDateTime.now().plusHours(23))
        until("it is charged") { sandbox.payment("held").takeIf { it.isCharged } }
        // What is not named is no more.
        assertEquals(3 to null, sandbox.clock.resolvePending(afterQueries = 3).run { resolveAfterQueries to resolveAfter })
        val notWhole = assertThrows<IllegalArgumentException> { sandbox.clock.forward(1.nanoseconds) }
        assertTrue("whole number of milliseconds" in notWhole.message!!)
        assertEquals(409, assertThrows<SandboxException.Refused> { sandbox.clock.forward(40_000.days) }.httpStatus)
        sandbox.reset()
        assertEquals(Triple(null, null, Duration.ZERO), sandbox.clock.read().run { Triple(resolveAfterQueries, resolveAfter, ahead) })
    }

    @Test
    fun `each dialect comes with what the SDK has to know`() {
        assertTrue("paymentId" in Sandbox.dialectJson())
        sandbox.switches.change(actsAs = DialectName.OTHER)
        assertTrue("\"qr_text\"" in shop.makeQr(1).body() && "qr_text" in Sandbox.dialectJson(DialectName.OTHER))
        sandbox.switches.change(actsAs = DialectName.FINIPAY)
        assertTrue("\"code\":\"100\"" in shop.makeQr(1).body() && "finipay" in Sandbox.dialectJson(DialectName.FINIPAY))
    }

    @Test
    fun `fault strikes as often as requested`() {
        val fault = sandbox.faults.add(FaultName.RESPONSE_LOST, "order-1", times = 1, endpoint = Endpoint.PAYMENT)
        fault.use {
            assertEquals(0, fault.struck)
            shop.payByCard("order-2")
            assertTrue(isLost { shop.payByCard("order-1") })
            assertEquals(1, fault.struck)
            assertTrue("CHARGE" in shop.status("order-1").body())
        }
        assertEquals(1, fault.struck)
        assertEquals(1, sandbox.payment("order-1").timesCharged)
        assertEquals(emptyList<Fault>(), sandbox.faults.list())
    }

    @Test
    fun `fault ends when it is removed`() {
        val fault = sandbox.faults.add(FaultName.UNAVAILABLE, retryAfter = 2.minutes)
        val other = sandbox.faults.add(FaultName.CALLBACK_LOST, orderNumber = "order-9", probability = 0.5, seed = 7)
        assertEquals(
            listOf(
                Fault(fault.id, FaultName.UNAVAILABLE, 0, null, null, 1.0, null),
                Fault(other.id, FaultName.CALLBACK_LOST, 0, null, "order-9", 0.5, null),
            ),
            sandbox.faults.list(),
        )
        val busy = shop.status("order-1")
        assertEquals(503 to "120", busy.statusCode() to busy.headers().firstValue("Retry-After").get())
        fault.remove()
        fault.remove()
        assertEquals(1, fault.struck)
        assertEquals(404, shop.status("order-1").statusCode())
        sandbox.faults.clear()
        other.remove()
        assertEquals(0, other.struck)
    }

    @Test
    fun `fault from before a restart ends no other`() {
        val fault = sandbox.faults.add(FaultName.DELAY, "order-1", delay = 1.milliseconds)
        shop.payByCard("order-1")
        assertEquals(1, fault.struck)
        sandbox.restart()
        sandbox.faults.add(FaultName.DRIP)
        fault.remove()
        assertEquals(1, fault.struck)
        assertEquals(listOf(FaultName.DRIP), sandbox.faults.list().map { it.name })
    }

    @Test
    fun `wrong fault is refused by its field`() {
        val refused = assertThrows<SandboxException.Refused> {
            sandbox.faults.add(FaultName.DELAY, delay = 1.seconds, probability = 2.0)
        }
        assertEquals(400, refused.httpStatus)
        assertEquals(listOf("probability"), refused.violations.map { it.field })
        val notWhole = assertThrows<IllegalArgumentException> {
            sandbox.faults.add(FaultName.RETRY_AFTER, retryAfter = 500.milliseconds)
        }
        assertTrue(notWhole.message!!.startsWith("retryAfter"))
        assertEquals(emptyList<Fault>(), sandbox.faults.list())
    }

    @ParameterizedTest
    @EnumSource
    fun `sandbox knows every fault`(name: FaultName) {
        val isLate = name == FaultName.DELAY || name == FaultName.CALLBACK_LATE
        sandbox.faults.add(name, delay = 1.seconds.takeIf { isLate })
        assertEquals(listOf(name), sandbox.faults.list().map { it.name })
    }

    @ParameterizedTest
    @EnumSource
    fun `sandbox knows every endpoint`(endpoint: Endpoint) {
        sandbox.faults.add(FaultName.UNAVAILABLE, endpoint = endpoint)
        assertEquals(listOf(endpoint), sandbox.faults.list().map { it.endpoint })
    }
}
