package dev.kassa

import dev.kassa.support.CHARGED
import dev.kassa.support.CREATED
import dev.kassa.support.SILENCE
import dev.kassa.support.ScriptedServer
import dev.kassa.support.cardPayment
import dev.kassa.support.configOf
import dev.kassa.support.held
import dev.kassa.support.mbankPayment
import dev.kassa.testing.FakeGateway
import dev.kassa.testing.FakePlan
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.flow.first
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertInstanceOf
import org.junit.jupiter.api.assertThrows
import org.junit.jupiter.api.io.TempDir
import java.nio.file.Path
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CompletionException
import kotlin.time.Duration.Companion.days
import kotlin.time.Duration.Companion.hours
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds

/** Recovery in Kotlin's and Java's ways. What comes of it is in the vectors. */
class RecoverTest {
    @TempDir
    lateinit var folder: Path
    private val fake = FakeGateway()
    private val journal by lazy { Journal.open(folder) }
    private val gateway by lazy { fake.gateway.withJournal(journal) }
    private val blocking by lazy { fake.blocking.withJournal(journal) }
    private val future by lazy { fake.future.withJournal(journal) }

    @Test
    fun `what is charged comes at once, and what is open when it is charged`() = runBlocking {
        for (recover in listOf(::byFlow, ::byBlocking, ::byFuture)) {
            fake.plan(FakePlan.Charge(after = 45.seconds))
            val open = gateway.createCardPayment(cardPayment()).payment
            fake.plan(FakePlan.StayPending)
            val charged = gateway.createMbankPayment(mbankPayment()).payment
            fake.charge(charged.orderNumber!!)
            gateway.check(charged)
            val begun = fake.now
            val recovered = recover().map { (it as Recovered.Payment).entry }
            assertEquals(listOf(charged.orderNumber, open.orderNumber), recovered.map { it.payment.orderNumber })
            assertEquals(setOf(JournalState.CHARGED), recovered.map { it.state }.toSet())
            assertTrue(fake.now - begun >= 40.seconds, "${fake.now - begun}")
            recovered.forEach { gateway.finish(it) }
        }
    }

    @Test
    fun `who leaves early lets others recover`() = runBlocking {
        repeat(2) { fake.charge(gateway.createMbankPayment(mbankPayment()).payment.orderNumber!!) }
        gateway.recover().first()
        assertEquals(2, byBlocking().size)

        blocking.recover().use { recovery ->
            recovery.first()
            assertEquals(emptyList<Recovered>(), byFlow(), "two recovered at a time")
        }
        assertEquals(2, byFlow().size)

        future.recover().use { recovery ->
            recovery.nextRecovered().join()
            assertEquals(emptyList<Recovered>(), byFlow(), "two recovered at a time")
        }
        assertEquals(2, byFlow().size)
    }

    @Test
    fun `who is cancelled asks no more, and lets others recover`() = runBlocking<Unit> {
        ScriptedServer(listOf(CREATED, held(CHARGED), held(CHARGED), held(CHARGED), CHARGED)).use { server ->
            val config = configOf(server.url)
            Gateway(config, journal).use { gateway ->
                gateway.createCardPayment(cardPayment(orderNumber = "o-1"))
                val collecting = launch(Dispatchers.Default) { gateway.recover(often).collect { } }
                assertTrue(server.waitForRequests(2))
                collecting.cancelAndJoin()
            }
            BlockingGateway(config, journal).use { gateway ->
                val recovery = gateway.recover(often)
                val waiting = CompletableFuture.supplyAsync { recovery.nextRecovered() }
                assertTrue(server.waitForRequests(3))
                recovery.cancel()
                assertNull(waiting.join())
                assertEquals(0, recovery.count())
                recovery.close()
            }
            FutureGateway(config, journal).use { gateway ->
                val recovery = gateway.recover(often)
                val waiting = recovery.nextRecovered()
                assertTrue(server.waitForRequests(4))
                recovery.cancel()
                assertNull(waiting.join())
                assertNull(recovery.nextRecovered().join())
                val (recovered) = gateway.recover(often).use { listOf(it.nextRecovered().join()) }
                assertEquals("o-1", (recovered as Recovered.Payment).entry.payment.orderNumber)
            }
        }
    }

    @Test
    fun `closing the gateway ends a recovery at once, and lets others recover`() = runBlocking<Unit> {
        ScriptedServer(listOf(CREATED, SILENCE)).use { server ->
            val config = configOf(server.url, deadline = 1.hours)
            val byFlow = Gateway(config, journal)
            byFlow.createCardPayment(cardPayment(orderNumber = "o-1"))
            val collecting = async(Dispatchers.Default) { runCatching { byFlow.recover().collect { } } }
            assertTrue(server.waitForRequests(2))
            byFlow.closeAndWait()
            assertInstanceOf<PaymentException.Misconfigured>(collecting.await().exceptionOrNull())

            val byBlocking = BlockingGateway(config, journal)
            val recovery = byBlocking.recover()
            val waiting = CompletableFuture.supplyAsync { runCatching { recovery.nextRecovered() } }
            assertTrue(server.waitForRequests(3))
            byBlocking.close()
            assertInstanceOf<PaymentException.Misconfigured>(waiting.join().exceptionOrNull())

            val byFuture = FutureGateway(config, journal)
            val next = byFuture.recover().nextRecovered()
            assertTrue(server.waitForRequests(4))
            byFuture.closeAndWait().join()
            assertInstanceOf<PaymentException.Misconfigured>(assertThrows<CompletionException> { next.join() }.cause)
        }
    }

    @Test
    fun `what is begun later is followed too, where that is requested`() = runBlocking {
        val policy = RecoveryPolicy(deadline = 10_000.days, followNew = true) // the clock runs ahead
        val told = Channel<Recovered>()
        val worker = launch(Dispatchers.Default) {
            gateway.recover(policy).collect(told::send)
            told.close()
        }
        repeat(2) {
            val payment = gateway.createMbankPayment(mbankPayment()).payment
            fake.charge(payment.orderNumber!!)
            assertEquals(payment, (told.receive() as Recovered.Payment).entry.payment)
        }
        worker.cancelAndJoin()
        assertEquals(2, byFlow().size)
    }

    @Test
    fun `pay-form has the name that it was given, and is recovered when a callback claims its number`() = runBlocking {
        val form = PayForm(5.toBigDecimal(), "Two tickets", "https://s.kg/c", "https://s.kg/r", entryId = "cart 17")
        val created = gateway.createPayForm(form)
        assertEquals(form.paymentRef(), created.payment)
        assertEquals(form.paymentRef(), PaymentRef.payForm(5.toBigDecimal()).withEntryId("cart 17"))
        assertEquals(emptyList<Recovered>(), byFlow())
        val verdict = gateway.verifyCallback(Callback.parse(fake.charge(created.payFormUrl.toString()).callback), created.payment)
        assertTrue(verdict.isCharged, "$verdict")
        assertEquals("cart 17", (byFlow().single() as Recovered.Payment).entry.payment.entryId)
    }

    private suspend fun byFlow(): List<Recovered> = gateway.recover().toList()

    private suspend fun byBlocking(): List<Recovered> = blocking.recover().toList()

    private suspend fun byFuture(): List<Recovered> {
        val recovery = future.recover()
        return generateSequence { recovery.nextRecovered().join() }.toList()
    }

    private companion object {
        val often = RecoveryPolicy(interval = 10.milliseconds)
    }
}
