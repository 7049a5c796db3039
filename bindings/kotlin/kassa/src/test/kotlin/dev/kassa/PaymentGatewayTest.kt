package dev.kassa

import dev.kassa.support.mbankPayment
import dev.kassa.support.megapayPayment
import dev.kassa.testing.FakeGateway
import kotlinx.coroutines.future.await
import kotlinx.coroutines.runBlocking
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.fail
import java.lang.reflect.InvocationHandler
import java.lang.reflect.Proxy
import java.lang.reflect.UndeclaredThrowableException

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
    fun `stub answers in the gateway's place, and leaves the rest to it`() = runBlocking {
        val fake = FakeGateway()
        val stub = Unreachable(fake.gateway)
        val payment = stub.createMbankPayment(mbankPayment()).payment
        stub.confirmMbankPayment(payment, fake.otp)
        assertEquals(null, isPaid(stub, payment))
        assertEquals(true, isPaid(fake.gateway, payment))
        assertEquals(true, stub.watch(payment).outcome()?.isCharged)
        assertEquals(PaymentStatus.Charged, stub.providerStatus(payment.orderNumber!!, Provider.MBank).status)
    }

    @Test
    fun `delegating stub forwards MegaPay, and a stub without it throws Misconfigured`() = runBlocking<Unit> {
        val payment = megapayPayment()
        assertEquals(payment.paymentRef(), Unreachable(FakeGateway().gateway).checkMegapay(payment).payment)
        val (suspending, blocking, future) = listOf(PaymentGateway::class, BlockingPaymentGateway::class, FuturePaymentGateway::class)
            .map { implementingNothing(it.java) }
        val errors = listOf<suspend () -> Any>(
            { (suspending as PaymentGateway).checkMegapay(payment) },
            { (suspending as PaymentGateway).payByMegapay(payment, "123456") },
            { (blocking as BlockingPaymentGateway).checkMegapay(payment) },
            { (blocking as BlockingPaymentGateway).payByMegapay(payment, "123456") },
            { (future as FuturePaymentGateway).checkMegapay(payment).await() },
            { (future as FuturePaymentGateway).payByMegapay(payment, "123456").await() },
        ).map { errorOf(it) }
        assertEquals(setOf("this gateway does not implement checkMegapay and payByMegapay"), errors.map { it.detail }.toSet())
    }

    /** Java's proxies wrap what the method does not declare. */
    private suspend fun errorOf(call: suspend () -> Any): PaymentException.Misconfigured = try {
        fail("it answered ${call()}")
    } catch (error: PaymentException.Misconfigured) {
        error
    } catch (error: UndeclaredThrowableException) {
        error.undeclaredThrowable as PaymentException.Misconfigured
    }

    /** An object that has of an interface what it does by itself. */
    private fun implementingNothing(type: Class<*>): Any =
        Proxy.newProxyInstance(type.classLoader, arrayOf(type)) { proxy, method, arguments ->
            InvocationHandler.invokeDefault(proxy, method, *arguments.orEmpty())
        }
}
