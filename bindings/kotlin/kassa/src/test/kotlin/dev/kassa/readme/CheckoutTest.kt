package dev.kassa.readme

import dev.kassa.*
import dev.kassa.sandbox.*
import dev.kassa.sandbox.junit.WithSandbox
import kotlinx.coroutines.runBlocking
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertInstanceOf
import org.junit.jupiter.api.assertThrows
import java.math.BigDecimal

@WithSandbox
class CheckoutTest {
    @Test
    fun `lost response never charges twice`(sandbox: Sandbox) = runBlocking<Unit> {
        val card = Card(TestCards.WITHOUT_3DS_APPROVED.pan, "12", 2099, "123", "Aibek Asanov")
        val payment = CardPayment(
            orderNumber = "order-17",
            description = "Two coffees",
            amount = BigDecimal(250),
            currency = "KGS",
            card = card,
            language = "en",
            callbackUrl = "http://127.0.0.1:9000/callback",
            ip = "203.0.113.7",
        )
        val credentials = Credentials(sandbox.login, sandbox.password)
        val dialect = Dialect.fromJson(Sandbox.dialectJson())
        Gateway(GatewayConfig(sandbox.baseUrl, credentials, dialect = dialect)).use { gateway ->
            val fault = sandbox.faults.add(FaultName.RESPONSE_LOST, orderNumber = "order-17", times = 1)
            assertThrows<PaymentException.OutcomeUnknown> { gateway.createCardPayment(payment) }
            assertEquals(1, fault.struck)
            assertInstanceOf<Verdict.Charged>(gateway.watch(payment.paymentRef()).outcome())
        }
        assertEquals(1, sandbox.payment("order-17").timesCharged)
    }
}
