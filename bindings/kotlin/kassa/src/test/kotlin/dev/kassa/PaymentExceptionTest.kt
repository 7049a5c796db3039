package dev.kassa

import dev.kassa.support.CREATED
import dev.kassa.support.HANG_UP
import dev.kassa.support.card
import dev.kassa.support.cardPayment
import dev.kassa.support.closedPort
import dev.kassa.support.configOf
import dev.kassa.support.mbankPayment
import dev.kassa.support.withGateway
import kotlinx.coroutines.runBlocking
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.MethodSource
import kotlin.time.Duration.Companion.seconds
import dev.kassa.internal.InternalException as CoreInternalException

/** What an exception says. When each of them comes is in the conformance vectors. */
class PaymentExceptionTest {
    @ParameterizedTest
    @MethodSource("all")
    fun `each of them has the core's text, and survives the way there and back`(error: PaymentException) {
        val again = error.toCore().toKassa()
        assertEquals(error::class, again::class)
        assertEquals(error.message, again.message)
        assertEquals("${error::class.java.name}: ${error.message}", "$error")
        assertTrue(error.message.endsWith("."))
        assertEquals(error::class.simpleName, error.kind)
        assertEquals(error is PaymentException.OutcomeUnknown, error.paymentMayExist)
        assertEquals(error is PaymentException.Unavailable, error.isRetryable)
        assertNull(error.cause)
        assertTrue(advice(error).isNotEmpty())
    }

    /** No `else`: one that is new does not compile. */
    private fun advice(error: PaymentException) = when (error) {
        is PaymentException.Invalid -> "fix ${error.violations}"
        is PaymentException.Misconfigured -> "configure ${error.detail}"
        is PaymentException.Unauthorized -> "log in ${error.detail}"
        is PaymentException.Unavailable -> "again in ${error.retryAfter}"
        is PaymentException.Refused -> "no: ${error.httpStatus} ${error.code} ${error.reason} ${error.body}"
        is PaymentException.OutcomeUnknown -> "watch ${error.payment}"
        is PaymentException.Unexpected -> "read ${error.body}"
        is PaymentException.DeadlineExpired -> "watch on: ${error.last}"
    }

    @Test
    fun `reference in it finds the payment`() = withGateway(HANG_UP) { gateway, server ->
        val payment = cardPayment()
        val error = assertThrows<PaymentException.OutcomeUnknown> { runBlocking { gateway.createCardPayment(payment) } }
        assertEquals(payment.paymentRef(), error.payment)
        assertEquals(1, server.received.size, "sent once")
    }

    @Test
    fun `nobody listening is unavailable`() = Gateway(configOf(closedPort())).use { gateway ->
        val error = assertThrows<PaymentException.Unavailable> {
            runBlocking { gateway.createMbankPayment(mbankPayment()) }
        }
        assertTrue(error.isRetryable)
    }

    @Test
    fun `every call of a closed gateway says that it is closed`() = withGateway(CREATED) { gateway, server ->
        runBlocking { gateway.closeAndWait() }
        gateway.close()
        val error = assertThrows<PaymentException.Misconfigured> { runBlocking { gateway.createCardPayment(cardPayment()) } }
        assertTrue("closed" in error.message)
        val watch = gateway.watch(PaymentRef.mbank("o-1", 250))
        assertTrue("closed" in assertThrows<PaymentException.Misconfigured> { runBlocking { watch.outcome() } }.message)
        assertEquals(0, server.received.size)
    }

    @Test
    fun `defect says nothing about the money`() {
        val defect = assertThrows<InternalException> { calling { throw CoreInternalException("a panic") } }
        assertTrue("a panic" in defect.message!! && "never send it again" in defect.message!!)
    }

    @Test
    fun `stack trace shows the caller and no secret`() = withGateway(HANG_UP) { gateway, _ ->
        val error = assertThrows<PaymentException> {
            runBlocking { gateway.createCardPayment(cardPayment(card("4000000000002016", "982"), orderNumber = "o-1")) }
        }
        val trace = error.stackTraceToString()
        assertTrue("PaymentExceptionTest" in trace, trace)
        // Frames hold names and addresses of code, whose digits may be anybody's; what was said stands beside them.
        val said = trace.lineSequence().filterNot { it.trimStart().startsWith("at ") }.joinToString("\n")
        assertFalse("4000000000002016" in trace || "982" in said, trace)
    }

    private companion object {
        @JvmStatic
        fun all() = listOf(
            PaymentException.Invalid(listOf(Violation("pan", Rule.LENGTH, "13 to 20", "pan must have 13 to 20 digits"))),
            PaymentException.Misconfigured("HTTP 404", 404, null, "<html>"),
            PaymentException.Unauthorized("HTTP 403", 403, "E", "{}"),
            PaymentException.Unavailable("HTTP 429", 7.seconds, 429, "L", "{}"),
            PaymentException.Refused(402, "51", "no money", "{}"),
            PaymentException.OutcomeUnknown(PaymentRef.mbank("o-1", 250), "reset", 500, "5", "who knows", "{}"),
            PaymentException.Unexpected("no status", 200, "0", "{}"),
            PaymentException.DeadlineExpired(StatusReport(PaymentStatus.Other("HOLD"))),
            PaymentException.DeadlineExpired(),
        )
    }
}
