package dev.kassa.readme

import dev.kassa.PaymentException
import dev.kassa.PaymentGateway
import dev.kassa.Verdict
import dev.kassa.support.mbankPayment
import dev.kassa.testing.*
import kotlinx.coroutines.runBlocking
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertInstanceOf
import org.junit.jupiter.api.assertThrows

/** The README's test of somebody's own code. */
class OwnTest {
    private class Shop(private val gateway: PaymentGateway) {
        fun sell(order: String) = runBlocking { gateway.createMbankPayment(mbankPayment().copy(orderNumber = order)) }
    }

    @Test
    fun `lost answer is no failed payment`(): Unit = runBlocking {
        val fake = FakeGateway()
        val shop = Shop(fake.gateway) // the code under test

        // The answer is lost, so nobody knows whether the payment was made.
        fake.failNext(FakeFault.ResponseLost)
        val lost = assertThrows<PaymentException.OutcomeUnknown> { shop.sell("order-1") }

        // It was. The payer pays, and the watch finds it out.
        fake.charge("order-1")
        assertInstanceOf<Verdict.Charged>(fake.gateway.watch(lost.payment).outcome())
    }
}
