package dev.kassa

import dev.kassa.support.PATIENCE_SECONDS
import dev.kassa.support.SandboxProcess
import dev.kassa.support.card
import dev.kassa.support.cardPayment
import dev.kassa.support.mbankPayment
import dev.kassa.support.submit
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.runBlocking
import org.junit.jupiter.api.AfterAll
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.TestInstance
import org.junit.jupiter.api.assertInstanceOf
import org.junit.jupiter.api.assertThrows
import java.math.BigDecimal
import java.net.URI
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds

/** Every flow from its request to its final status, against the sandbox. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class FlowsTest {
    private val sandbox = SandboxProcess()
    private val gateway = Gateway(sandbox.config())
    private val quick = PollPolicy(interval = 50.milliseconds, deadline = PATIENCE_SECONDS.seconds)

    @AfterAll
    fun stop() {
        gateway.close()
        sandbox.close()
    }

    @Test
    fun `card with 3DS is charged`() = runBlocking {
        val payment = cardPayment()
        val created = gateway.createCardPayment(payment)
        assertEquals("110", created.code)
        val page = assertInstanceOf<NextStep.OpenConfirmation>(created.nextStep).url
        val back = ReturnRedirect.parse(submit(page, "otp=123456")!!)
        assertEquals("200", back.statusCode)

        val outcome = assertInstanceOf<Verdict.Charged>(gateway.watch(created.payment, quick).outcome())
        assertEquals(listOf("orderNumber", "amount", "currency"), outcome.compared)
        assertEquals(BigDecimal("100.10"), outcome.report.amount)
        assertTrue(gateway.paymentStatus(created.payment.gatewayNumber!!, language = "ru").status.isFinal)

        // Another process knows nothing but the text that was stored.
        val again = PaymentRef.parse(payment.paymentRef().toString())
        val verdict = gateway.check(again)
        assertEquals(gateway.providerStatus(payment.orderNumber, Provider.Cards), verdict.report)
        assertEquals(listOf(verdict), gateway.watch(again, quick).reports.toList())
        assertTrue(gateway.verifyReturn(back, again).isCharged)
    }

    @Test
    fun `declined card is rejected`() = runBlocking<Unit> {
        val created = gateway.createCardPayment(cardPayment(card("4000000000002024")))
        assertInstanceOf<NextStep.CheckStatus>(created.nextStep)
        assertInstanceOf<Verdict.Rejected>(gateway.watch(created.payment, quick).outcome())
    }

    @Test
    fun `mobile bank is confirmed by a password`() = runBlocking<Unit> {
        val payment = mbankPayment()
        val created = gateway.createMbankPayment(payment)
        val refused = assertThrows<PaymentException.Refused> {
            runBlocking { gateway.confirmMbankPayment(created.payment, "000000") }
        }
        assertEquals(400, refused.httpStatus)
        val confirmed = gateway.confirmMbankPayment(created.payment, "101101")
        assertEquals(created.payment, confirmed.payment)
        assertInstanceOf<Verdict.Charged>(gateway.watch(payment.paymentRef(), quick).outcome())
    }

    @Test
    fun `pay-form is made`() = runBlocking {
        val form = PayForm(BigDecimal(300), "Tea", "http://127.0.0.1:9/cb?ref=cart-17", "https://shop.example.kg/back")
        val created = gateway.createPayForm(form)
        assertTrue(created.payFormUrl.isAbsolute)
        assertEquals(form.paymentRef(), created.payment)
        assertFalse(created.payment.canBeChecked)
    }

    @Test
    fun `QR code is drawn, paid and watched`() = runBlocking<Unit> {
        val payment = QrPayment(sumTyiyn = Kassa.somToTyiyn(BigDecimal("99.90")))
        val data = gateway.createQrData(payment)
        assertEquals(payment.paymentRef().withTransactionId(data.transactionId!!), data.payment)
        assertEquals("PNG", QrCode.encode(data.payload!!).png().decodeToString(1, 4))
        assertFalse(gateway.qrStatus(data.transactionId).status.isFinal)
        submit(URI(data.payload), "action=approve")
        assertInstanceOf<Verdict.Charged>(gateway.watch(data.payment, quick).outcome())
        assertEquals("PNG", gateway.createQrImage(QrPayment(sumTyiyn = 9990)).png.decodeToString(1, 4))
    }

    @Test
    fun `callback is believed only where the gateway agrees`() = runBlocking {
        val payment = cardPayment(card("4000000000002016"))
        gateway.createCardPayment(payment)
        val stored = payment.paymentRef()
        fun callback(amount: String) = Callback.parse(
            """{"orderNumber":"${payment.orderNumber}","amount":$amount,"currency":"KGS","status":"CHARGE",""" +
                """"provider":"Cards","dateCreated":"2026-11-20T09:05:07"}""",
        )
        assertInstanceOf<Verdict.Charged>(gateway.verifyCallback(callback("100.10"), stored))
        assertEquals(listOf("amount"), assertInstanceOf<Verdict.Mismatch>(gateway.verifyCallback(callback("1"), stored)).fields)
        // A forged callback, and the reference that is made from it: nothing ties them to a sale.
        assertFalse(gateway.check(callback("100.10").paymentRef()!!).isCharged)
    }
}
