package dev.kassa

import dev.kassa.support.mbankPayment
import dev.kassa.testing.FakeGateway
import kotlinx.coroutines.runBlocking
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test

/** What takes a [PaymentGateway] takes a user's own: a stub. */
class PaymentGatewayTest {
    /** A user's own code. */
    private suspend fun isPaid(gateway: PaymentGateway, payment: PaymentRef): Boolean? = try {
        gateway.check(payment).isCharged
    } catch (_: PaymentException.Unavailable) {
        null
    }

    private class Unreachable(gateway: PaymentGateway) : PaymentGateway by gateway {
        override suspend fun check(payment: PaymentRef): Verdict = throw PaymentException.Unavailable("no network")
    }

    @Test
    fun `a stub answers in the gateway's place, and leaves the rest to it`() = runBlocking {
        val fake = FakeGateway()
        val stub = Unreachable(fake.gateway)
        val payment = stub.createMbankPayment(mbankPayment()).payment
        stub.confirmMbankPayment(payment, fake.otp)
        assertEquals(null, isPaid(stub, payment))
        assertEquals(true, isPaid(fake.gateway, payment))
        assertEquals(true, stub.watch(payment).outcome()?.isCharged)
        assertEquals(PaymentStatus.Charged, stub.providerStatus(payment.orderNumber!!, Provider.MBank).status)
    }
}
