package dev.kassa

import dev.kassa.support.CHARGED
import dev.kassa.support.OPEN
import dev.kassa.support.PATIENCE_SECONDS
import dev.kassa.support.SILENCE
import dev.kassa.support.ScriptedServer
import dev.kassa.support.configOf
import dev.kassa.support.response
import dev.kassa.support.withGateway
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.flow.collect
import kotlinx.coroutines.flow.onEach
import kotlinx.coroutines.flow.take
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertInstanceOf
import org.junit.jupiter.api.assertThrows
import java.math.BigDecimal
import kotlin.time.Duration.Companion.hours
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds

/** The reports of a watch are a cold flow. */
class WatchTest {
    private val payment = PaymentRef.card("o-1", BigDecimal("100.1"), "KGS")
    private val rarely = PollPolicy(interval = 1.hours)
    private val often = PollPolicy(interval = 10.milliseconds)

    @Test
    fun `nothing is asked before it is collected, and it ends by itself`() = withGateway(OPEN, OPEN, CHARGED) { gateway, server ->
        val watch = gateway.watch(payment, often)
        assertEquals(0, server.received.size)
        val reports = runBlocking { watch.reports.toList() }
        val statuses = reports.map { assertInstanceOf<Verdict>(it).report!!.status }
        assertEquals(listOf(PaymentStatus.Other("HOLD"), PaymentStatus.Other("HOLD"), PaymentStatus.Charged), statuses)
        assertEquals(3, server.received.size)
    }

    @Test
    fun `every collection asks on its own`() = withGateway(CHARGED) { gateway, server ->
        val watch = gateway.watch(payment, rarely)
        runBlocking { repeat(2) { assertEquals(1, watch.reports.toList().size) } }
        assertEquals(2, server.received.size)
    }

    @Test
    fun `slow collector is waited for`() = withGateway(OPEN, CHARGED) { gateway, server ->
        runBlocking {
            val goOn = CompletableDeferred<Unit>()
            val seen = CompletableDeferred<Unit>()
            val collecting = launch {
                gateway.watch(payment, often).reports.onEach { seen.complete(Unit); goOn.await() }.collect()
            }
            seen.await()
            // Another watch runs for twenty intervals. A watch that does not wait for its collector would have queried again by then.
            withGateway(OPEN) { other, _ -> other.watch(payment, often).reports.take(20).collect() }
            assertEquals(1, server.received.size)
            goOn.complete(Unit)
            collecting.join()
        }
        assertEquals(2, server.received.size)
    }

    @Test
    fun `closing the gateway ends it at once, between queries and within one`() = runBlocking {
        for (response in listOf(OPEN, SILENCE)) {
            ScriptedServer(listOf(response)).use { server ->
                val gateway = Gateway(configOf(server.url, deadline = 1.hours))
                val outcome = async(Dispatchers.Default) { runCatching { gateway.watch(payment, rarely).outcome() } }
                assertTrue(server.waitForRequests(1))
                gateway.closeAndWait()
                assertInstanceOf<PaymentException.Misconfigured>(outcome.await().exceptionOrNull())
            }
        }
    }

    @Test
    fun `cancelling the collector stops it at once, between queries and within one`() = runBlocking {
        for (response in listOf(OPEN, SILENCE)) {
            withGateway(response) { gateway, server ->
                val collecting = launch { gateway.watch(payment, rarely).reports.collect() }
                launch { assertTrue(server.waitForRequests(1)) }.join()
                collecting.cancelAndJoin()
                assertEquals(1, server.received.size)
            }
        }
    }

    @Test
    fun `checking now asks at once`() = withGateway(OPEN, CHARGED) { gateway, _ ->
        val watch = gateway.watch(payment, rarely)
        val last = runBlocking { watch.reports.onEach { watch.checkNow() }.toList().last() }
        assertInstanceOf<Verdict.Charged>(last)
    }

    @Test
    fun `cancelling the watch ends every collection, now and for good`() = withGateway(OPEN) { gateway, _ ->
        val watch = gateway.watch(payment, rarely)
        runBlocking {
            val outcome = async(start = CoroutineStart.UNDISPATCHED) { watch.outcome() }
            watch.reports.onEach { watch.cancel() }.collect()
            assertNull(outcome.await())
            assertEquals(emptyList<WatchReport>(), watch.reports.toList())
        }
    }

    @Test
    fun `charge of another amount ends it three times in a row, and is never one`() {
        withGateway(CHARGED) { gateway, server ->
            val verdict = runBlocking { gateway.watch(payment.copy(amount = BigDecimal("100.11")), often).outcome() }
            assertEquals(listOf("amount"), assertInstanceOf<Verdict.Mismatch>(verdict).fields)
            assertEquals(3, server.received.size)
        }
    }

    @Test
    fun `failed queries are reported and end nothing`() {
        val notFound = response(400, """{"code":"404"}""")
        withGateway(response(500, ""), notFound, CHARGED) { gateway, _ ->
            val (first, second, third) = runBlocking { gateway.watch(payment, often).reports.toList() }
            assertInstanceOf<PaymentException.Unavailable>(assertInstanceOf<QueryFailed>(first).error)
            assertInstanceOf<PaymentException.Refused>(assertInstanceOf<QueryFailed>(second).error)
            assertTrue(assertInstanceOf<Verdict.Charged>(third).isCharged)
        }
    }

    @Test
    fun `open payment expires, and wrong credentials three times in a row end it`() {
        withGateway(OPEN) { gateway, _ ->
            val policy = PollPolicy(20.milliseconds, (PATIENCE_SECONDS / 6).seconds) // long enough for a first answer on any machine
            val expired = assertThrows<PaymentException.DeadlineExpired> {
                runBlocking { gateway.watch(payment, policy).reports.collect() }
            }
            assertEquals(PaymentStatus.Other("HOLD"), expired.last?.status)
        }
        withGateway(response(401, "")) { gateway, _ ->
            var failed = 0
            assertThrows<PaymentException.Unauthorized> {
                runBlocking { gateway.watch(payment, often).reports.collect { failed++ } }
            }
            assertEquals(2, failed)
        }
    }

    @Test
    fun `what cannot be queried is refused where the watch is made`() = withGateway { gateway, _ ->
        val unnumbered = PaymentRef.payForm(BigDecimal(300))
        assertThrows<PaymentException.Invalid> { gateway.watch(unnumbered) }
        assertThrows<PaymentException.Invalid> { gateway.watch(payment, PollPolicy(interval = (-1).seconds)) }
    }
}
