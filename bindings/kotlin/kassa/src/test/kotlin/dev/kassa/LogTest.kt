package dev.kassa

import dev.kassa.support.CHARGED
import dev.kassa.support.CREATED
import dev.kassa.support.PATIENCE_SECONDS
import dev.kassa.support.advanceUntil
import dev.kassa.support.cardPayment
import dev.kassa.support.held
import dev.kassa.support.inTime
import dev.kassa.support.mbankPayment
import dev.kassa.support.paid
import dev.kassa.support.withGateway
import dev.kassa.testing.FakeFault
import dev.kassa.testing.FakeGateway
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Runnable
import kotlinx.coroutines.asCoroutineDispatcher
import kotlinx.coroutines.async
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withTimeout
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows
import org.junit.jupiter.api.io.TempDir
import org.junit.jupiter.api.parallel.Isolated
import java.nio.file.Files
import java.nio.file.Path
import java.util.concurrent.CountDownLatch
import java.util.concurrent.ExecutionException
import java.util.concurrent.Executor
import java.util.concurrent.LinkedBlockingQueue
import java.util.concurrent.TimeUnit.SECONDS
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds

/** Where the log goes. That the JVM's logger gets it unless somebody else does is seen by the conformance run. */
@Isolated
class LogTest {
    @Test
    fun `sink gets every exchange, and what it throws harms nothing`() = withGateway(CHARGED) { gateway, _ ->
        val events = LinkedBlockingQueue<LogEvent>()
        fun query(orderNumber: String) = runBlocking { gateway.providerStatus(orderNumber, Provider.Cards) }
        try {
            Kassa.logTo { events += it; error("a sink that fails") }
            assertEquals(PaymentStatus.Charged, query("logged-1").status)
            Kassa.logTo(null)
            query("logged-2")
            Kassa.logTo { events += it }
            query("logged-3")
        } finally {
            Library.logTo(SystemLog)
        }
        // A query that an earlier test has left may end meanwhile.
        val event = events.next("logged-")
        assertEquals(LogLevel.DEBUG, event.level)
        assertTrue("logged-1" in event.text && "http_status=200" in event.text, event.text)
        assertTrue("logged-3" in events.next("logged-").text)
    }

    @Test
    fun `unreceived result of a payment is logged`() = withGateway(held(CREATED)) { gateway, server ->
        val events = LinkedBlockingQueue<LogEvent>()
        val steps = LinkedBlockingQueue<Runnable>()
        try {
            Kassa.logTo { events += it }
            val paid = promise(Executor(steps::put).asCoroutineDispatcher()) {
                gateway.core.createCardPayment(cardPayment(orderNumber = "logged-4")).await(it)
            }
            steps.take().run()
            server.release() // a result that comes before the coroutine waits for it makes no step of its own
            val goesOn = steps.take() // the result is there
            paid.cancel(true)
            goesOn.run()
            assertTrue("logged-4" in events.next("stopped waiting").text)
        } finally {
            Library.logTo(SystemLog)
        }
        assertEquals(1, server.received.size)
    }

    @Test
    fun `received error of a payment is not logged as unreceived`() {
        val events = LinkedBlockingQueue<LogEvent>()
        try {
            Kassa.logTo { events += it }
            val fake = FakeGateway()
            fun mbank(order: String) = MbankPayment(order, "996555000101", 250, "Two tickets")
            fun failing(order: String): MbankPayment {
                fake.failNext(FakeFault.Refused("51", "no money"))
                return mbank(order)
            }
            val refused = PaymentException.Refused::class.java
            assertThrows(refused) { fake.blocking.createMbankPayment(failing("refused-1")) }
            assertThrows(refused) { runBlocking { fake.gateway.createMbankPayment(failing("refused-2")) } }
            val future = fake.future.createMbankPayment(failing("refused-3"))
            assertEquals(refused, assertThrows(ExecutionException::class.java) { future.get() }.cause?.javaClass)
            // What comes after all of that in the log.
            fake.failNext(FakeFault.ResponseLost)
            assertThrows(PaymentException.OutcomeUnknown::class.java) { fake.blocking.createMbankPayment(mbank("last-4")) }
            events.next("last-4")
            assertTrue(events.none { "stopped waiting" in it.text }, "$events")
        } finally {
            Library.logTo(SystemLog)
        }
    }

    @Test
    fun `worker logs how it ends`(@TempDir folder: Path) {
        val events = LinkedBlockingQueue<LogEvent>()
        try {
            Kassa.logTo { events += it }
            val gateway = FakeGateway().blocking.withJournal(Journal.open(folder))
            gateway.deliverForever(StopSignal().apply { stop() }) { error("nothing is paid") }
            val end = events.next("the worker ends: ").text.substringAfter("ends: ")
            assertEquals("0 delivered; left open: nothing", end)
        } finally {
            Library.logTo(SystemLog)
        }
    }

    @Test
    fun `delivery logs what fails, and finishes a delivered payment before it ends`(@TempDir folder: Path) {
        val events = LinkedBlockingQueue<LogEvent>()
        val fake = FakeGateway().apply { stopClock() }
        val journal = Journal.open(folder)
        val gateway = fake.gateway.withJournal(journal)
        val (done, away) = folder.resolve("done") to folder.resolve("away")
        try {
            Kassa.logTo { events += it }
            inTime {
                val failing = fake.paid(gateway, "cart 1")
                val delivered = fake.paid(gateway, "cart 2")
                val open = gateway.createMbankPayment(mbankPayment()).payment
                Files.move(done, away)
                Files.createFile(done) // so nothing can be finished
                val policy = RecoveryPolicy(interval = 10.milliseconds, deadline = 15.seconds)
                val run = async(Dispatchers.Default) {
                    gateway.deliverUnfinished(policy) { if (it.payment == failing) error("the shop is down") }
                }
                events.next("a delivery of what is unfinished begins")
                val failures = List(2) { events.next("error=") }.sortedBy { it.text }
                Files.delete(done)
                Files.move(away, done)
                assertTrue(failures.all { it.level == LogLevel.ERROR }, "$failures")
                val unfinished = "a delivered payment could not be finished"
                assertTrue("$unfinished entry=\"${journal.entry(delivered)!!.id}\"" in failures[0].text, "$failures")
                val left = "a payment was not delivered: it stays unfinished, and the next delivery brings it again"
                assertTrue("$left entry=\"${journal.entry(failing)!!.id}\"" in failures[1].text, "$failures")
                assertTrue("the shop is down" in failures[1].text, "$failures")
                fake.advanceUntil { run.isCompleted }
                assertEquals(listOf(failing), run.await().undelivered.map { it.payment })
                assertEquals(listOf(open), run.await().undecided.map { it.payment })
                assertTrue(journal.entry(delivered)!!.isFinished)
                val end = events.next("the delivery ends: ").text.substringAfter("ends: ")
                assertEquals("1 delivered; left open: 1 charged and not delivered, 1 undecided, 0 for a person", end)
            }
        } finally {
            Library.logTo(SystemLog)
        }
    }

    @Test
    fun `delivery logs how it ends, also if it throws`(@TempDir folder: Path) {
        val events = LinkedBlockingQueue<LogEvent>()
        val fake = FakeGateway().apply { stopClock() }
        val gateway = fake.gateway.withJournal(Journal.open(folder))
        try {
            Kassa.logTo { events += it }
            inTime {
                fake.paid(gateway, "cart 1")
                assertThrows<PaymentException.Misconfigured> { gateway.deliverUnfinished { gateway.closeAndWait() } }
            }
            assertTrue("1 delivered" in events.next("the delivery ends: ").text)
        } finally {
            Library.logTo(SystemLog)
        }
    }

    @Test
    fun `what keeps a checkout from its server is logged, without the token`() {
        val events = LinkedBlockingQueue<LogEvent>()
        try {
            Kassa.logTo { events += it }
            // Nobody listens on this port of the loopback address.
            Checkout.open("http://127.0.0.1:9", "ct_swordfish").use {
                val event = events.next("endpoint=\"checkout\"")
                assertEquals(LogLevel.WARNING, event.level)
                assertTrue("failure=no_network: " in event.text && "swordfish" !in event.text, event.text)
            }
        } finally {
            Library.logTo(SystemLog)
        }
    }

    @Test
    fun `sink that blocks holds up no payment`() = withGateway(CREATED, CHARGED) { gateway, _ ->
        val called = CountDownLatch(1)
        val release = CountDownLatch(1)
        try {
            Kassa.logTo { called.countDown(); release.await() }
            runBlocking {
                withTimeout(PATIENCE_SECONDS * 1_000) {
                    val created = gateway.createCardPayment(cardPayment(orderNumber = "o-1"))
                    assertTrue(gateway.watch(created.payment).outcome() is Verdict.Charged)
                    gateway.closeAndWait()
                }
            }
            assertTrue(called.await(PATIENCE_SECONDS, SECONDS), "the sink was called, and waits")
        } finally {
            Library.logTo(SystemLog)
            release.countDown()
        }
    }

    /** Events come in their order, but later than they happen. */
    private fun LinkedBlockingQueue<LogEvent>.next(text: String): LogEvent =
        generateSequence { checkNotNull(poll(PATIENCE_SECONDS, SECONDS)) { "no event came" } }.first { text in it.text }
}
