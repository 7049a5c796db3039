package dev.kassa

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
    private val quick = PollPolicy(interval = 50.milliseconds, deadline = 60.seconds)

    @AfterAll
    fun stop() {
        gateway.close()
        sandbox.close()
    }

    @Test
    fun `a card with 3DS is charged`() = runBlocking {
        val payment = cardPayment()
        val created = gateway.createCardPayment(payment)
        assertEquals("110", created.code)
        val page = assertInstanceOf<NextStep.OpenConfirmation>(created.nextStep).url
        val back = ReturnRedirect.parse(submit(page, "otp=123456")!!)
        assertEquals("200", back.statusCode)

        val outcome = assertInstanceOf<WatchOutcome.Charged>(gateway.watch(created.payment, quick).outcome())
        assertEquals(BigDecimal("100.10"), outcome.report.amount)
        assertTrue(gateway.paymentStatus(created.payment.gatewayNumber!!, language = "ru").status.isFinal)

        // Another process knows nothing but the text that was stored.
        val again = PaymentRef.parse(payment.paymentRef().toString())
        assertEquals(
            listOf(gateway.providerStatus(payment.orderNumber, Provider.Cards)),
            gateway.watch(again, quick).reports.toList(),
        )
    }

    @Test
    fun `a declined card is rejected`() = runBlocking<Unit> {
        val created = gateway.createCardPayment(cardPayment(card("4000000000002024")))
        assertInstanceOf<NextStep.AskStatus>(created.nextStep)
        assertInstanceOf<WatchOutcome.Rejected>(gateway.watch(created.payment, quick).outcome())
    }

    @Test
    fun `the mobile bank is confirmed by a password`() = runBlocking<Unit> {
        val payment = mbankPayment()
        val created = gateway.createMbankPayment(payment)
        val refused = assertThrows<PaymentException.Refused> {
            runBlocking { gateway.confirmMbankPayment(payment.orderNumber, "000000", created.identifier) }
        }
        assertEquals(400, refused.httpStatus)
        val reply = gateway.confirmMbankPayment(payment.orderNumber, "101101", created.identifier)
        assertEquals(payment.orderNumber, reply.payment.orderNumber)
        assertInstanceOf<WatchOutcome.Charged>(gateway.watch(payment.paymentRef(), quick).outcome())
    }

    @Test
    fun `a pay-form is made`() = runBlocking {
        val form = PayForm(BigDecimal(300), "Tea", "http://127.0.0.1:9/cb?ref=cart-17", "https://shop.example.kg/back")
        assertTrue(gateway.createPayForm(form).payFormUrl.isAbsolute)
    }

    @Test
    fun `a QR code is drawn, paid and watched`() = runBlocking<Unit> {
        val data = gateway.createQrData(QrPayment(sumTyiyn = Kassa.somToTyiyn(BigDecimal("99.90"))))
        assertEquals("PNG", QrCode.encode(data.payload!!).png().decodeToString(1, 4))
        assertFalse(gateway.qrStatus(data.transactionId!!).status.isFinal)
        submit(URI(data.payload), "action=approve")
        assertInstanceOf<WatchOutcome.Charged>(gateway.watch(data.payment!!, quick).outcome())
        assertEquals("PNG", gateway.createQrImage(QrPayment(sumTyiyn = 9990)).png.decodeToString(1, 4))
    }

    @Test
    fun `a callback is believed only where the gateway agrees`() = runBlocking {
        val payment = cardPayment(card("4000000000002016"))
        gateway.createCardPayment(payment)
        val expected = ExpectedPayment(payment.paymentRef(), BigDecimal("100.1"), "KGS")
        fun callback(amount: String) = Callback.parse(
            """{"orderNumber":"${payment.orderNumber}","amount":$amount,"currency":"KGS","status":"CHARGE",""" +
                """"provider":"Cards","dateCreated":"2026-11-20T09:05:07"}""",
        )
        val verdict = gateway.verifyCallback(callback("100.10"), expected)
        assertTrue(assertInstanceOf<CallbackVerdict.Confirmed>(verdict).isCharged)
        assertEquals(CallbackVerdict.Contradicted(listOf("amount"), null), gateway.verifyCallback(callback("1"), expected))
    }
}
