package dev.kassa

import dev.kassa.support.CHARGED
import dev.kassa.support.CREATED
import dev.kassa.support.PATIENCE_SECONDS
import dev.kassa.support.ScriptedServer
import dev.kassa.support.advanceUntil
import dev.kassa.support.cardPayment
import dev.kassa.support.configOf
import dev.kassa.support.inTime
import dev.kassa.support.mbankPayment
import dev.kassa.support.paid
import dev.kassa.support.response
import dev.kassa.testing.FakeGateway
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.cancel
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.launch
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertInstanceOf
import org.junit.jupiter.api.assertThrows
import org.junit.jupiter.api.io.TempDir
import java.nio.file.Files
import java.nio.file.Path
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CountDownLatch
import java.util.concurrent.ExecutionException
import java.util.concurrent.LinkedBlockingQueue
import java.util.concurrent.TimeUnit.SECONDS
import kotlin.concurrent.thread
import kotlin.io.path.name
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds

/** The delivery of what one recovery brings. What it logs is in [LogTest]. */
class DeliverUnfinishedTest {
    @TempDir
    lateinit var folder: Path
    private val fake = FakeGateway().apply { stopClock() }
    private val journal by lazy { Journal.open(folder) }
    private val gateway by lazy { fake.gateway.withJournal(journal) }
    private val soon = RecoveryPolicy(interval = 10.milliseconds, deadline = 15.seconds)

    @Test
    fun `what is paid is delivered and finished once`() = inTime {
        val payments = listOf(paid("cart 1"), paid("cart 2"))
        val delivered = LinkedBlockingQueue<String>()
        val summary = gateway.deliverUnfinished { delivered += it.note!! }
        assertEquals(setOf("cart 1", "cart 2"), delivered.toSet())
        assertEquals(2, delivered.size)
        assertEquals("2 delivered; left open: nothing", "$summary")
        for (payment in payments) assertTrue(journal.entry(payment)!!.isFinished)
        assertEquals(DeliverySummary(0, emptyList()), gateway.deliverUnfinished { delivered += it.note!! })
        assertEquals(2, delivered.size)
    }

    @Test
    fun `open payment is delivered once it is charged`() = inTime {
        val payment = gateway.withNote("cart 1").createMbankPayment(mbankPayment()).payment
        val run = async(Dispatchers.Default) { gateway.deliverUnfinished(soon) { } }
        fake.advance(5.seconds)
        fake.charge(payment.orderNumber!!)
        fake.advanceUntil { run.isCompleted }
        assertEquals(1, run.await().delivered)
    }

    @Test
    fun `handler that throws leaves its payment to the next run`() = inTime {
        val payments = listOf(paid("cart 1"), paid("cart 2"))
        val calls = LinkedBlockingQueue<String>()
        val summary = gateway.deliverUnfinished(soon) { entry ->
            calls += entry.note!!
            // A time limit of the handler's own does not end the run.
            if (calls.size == 1) throw CancellationException("the shop is down")
        }
        assertEquals(1, summary.delivered)
        assertEquals(2, calls.size)
        assertEquals(calls.first(), summary.undelivered.single().note)
        assertEquals(listOf(calls.first()), delivery())
        for (payment in payments) assertTrue(journal.entry(payment)!!.isFinished)
    }

    @Test
    fun `otherwise is called for what is not paid, and may throw`() = inTime {
        val rejected = gateway.withNote("cart 1").createMbankPayment(mbankPayment()).payment
        fake.reject(rejected.orderNumber!!)
        paid("cart 2")
        Files.createDirectories(folder.resolve("open/2026-11-22"))
        Files.writeString(folder.resolve("open/2026-11-22/torn"), "torn")
        val seen = LinkedBlockingQueue<String>()
        val handler = object : DeliveryHandler {
            override suspend fun deliver(entry: JournalEntry) {
                seen += "delivered ${entry.note}"
            }

            override suspend fun otherwise(recovered: Recovered) {
                seen += when (recovered) {
                    is Recovered.Payment -> "${recovered.entry.state} ${recovered.entry.note}"
                    is Recovered.Unreadable -> recovered.id
                }
                error("the shop is down")
            }
        }
        val summary = gateway.deliverUnfinished(soon, handler)
        assertEquals(listOf("delivered cart 2", "rejected cart 1", "torn"), seen.sorted())
        assertEquals("1 delivered; left open: 0 charged and not delivered, 0 undecided, 1 for a person", "$summary")
        assertEquals(emptyList<String>(), delivery())
    }

    @Test
    fun `open payment is left open at the deadline`() = inTime {
        val open = gateway.withNote("cart 1").createMbankPayment(mbankPayment()).payment
        val begun = fake.now
        val run = async(Dispatchers.Default) { gateway.deliverUnfinished(soon) { error("nothing is paid") } }
        fake.advanceUntil { run.isCompleted }
        assertEquals(listOf(open), run.await().undecided.map { it.payment })
        assertTrue(fake.now - begun in 15.seconds..60.seconds, "${fake.now - begun}")
        fake.charge(open.orderNumber!!)
        assertEquals(listOf("cart 1"), delivery())
    }

    @Test
    fun `what is finished elsewhere meanwhile is not delivered`() = inTime {
        val payments = listOf(paid("cart 1"), paid("cart 2"))
        // Recorded as charged before: a charge that is found after a person has finished the payment is delivered, and rightly.
        payments.forEach { assertInstanceOf<Verdict.Charged>(gateway.check(it)) }
        val calls = LinkedBlockingQueue<JournalEntry>()
        val summary = gateway.deliverUnfinished(soon) { entry ->
            calls += entry
            payments.filter { it != entry.payment }.forEach { journal.finish(journal.entry(it)!!) } // a person does so
        }
        assertEquals(1, calls.size)
        assertEquals(DeliverySummary(1, emptyList()), summary)
    }

    @Test
    fun `handler is called once for a payment that is reported again`() = inTime {
        val first = paid("cart 1")
        val calls = LinkedBlockingQueue<String>()
        val file = Files.walk(folder.resolve("open")).use { files -> files.filter { it.name == journal.entry(first)!!.id }.findAny().get() }
        val away = folder.resolve("away")
        val policy = soon.copy(followNew = true)
        val run = async(Dispatchers.Default) {
            gateway.deliverUnfinished(policy) { entry ->
                calls += entry.note!!
                when (entry.note) {
                    "cart 1" -> error("the shop is down")
                    "cart 2" -> Files.move(away, file)
                }
            }
        }
        fake.advanceUntil { calls.size == 1 }
        // The recovery reads the journal without this entry, and then with it.
        Files.move(file, away)
        paid("cart 2")
        fake.advanceUntil { calls.size == 2 }
        paid("cart 3")
        fake.advanceUntil { run.isCompleted }
        assertEquals(listOf("cart 1", "cart 2", "cart 3"), calls.toList())
        assertEquals("cart 1", run.await().undelivered.single().note)
    }

    @Test
    fun `error of the recovery reaches the caller`() = inTime {
        val refused = response(401, """{"code":"401","message":"who are you"}""")
        ScriptedServer(listOf(CREATED, CREATED, CHARGED, refused)).use { server ->
            Gateway(configOf(server.url), journal).use { gateway ->
                val payment = gateway.createCardPayment(cardPayment(orderNumber = "o-1")).payment
                gateway.createCardPayment(cardPayment(orderNumber = "o-2"))
                assertTrue(gateway.check(payment).isCharged)
                val calls = LinkedBlockingQueue<String>()
                assertThrows<PaymentException.Unauthorized> { gateway.deliverUnfinished(soon) { calls += it.payment.orderNumber!! } }
                assertEquals(listOf("o-1"), calls.toList())
                assertTrue(journal.entry(payment)!!.isFinished)
            }
        }
    }

    @Test
    fun `journal that cannot be read is an error`() = inTime {
        paid("cart 1")
        Files.move(folder.resolve("open"), folder.resolve("away"))
        Files.createFile(folder.resolve("open"))
        assertThrows<PaymentException.Unavailable> { gateway.deliverUnfinished(soon) { error("nothing is read") } }
        Files.delete(folder.resolve("open"))
        Files.move(folder.resolve("away"), folder.resolve("open"))
        assertEquals(listOf("cart 1"), delivery())
    }

    @Test
    fun `close in a delivery lets nobody else deliver it`() = inTime {
        val payment = paid("cart 1")
        val isDelivering = CompletableDeferred<Unit>()
        val mayReturn = Job()
        val first = async(Dispatchers.Default) {
            runCatching {
                gateway.deliverUnfinished(soon) {
                    isDelivering.complete(Unit)
                    mayReturn.join()
                }
            }
        }
        isDelivering.await()
        gateway.closeAndWait()
        // Another process waits until its deadline, and delivers nothing.
        val another = FakeGateway().apply { stopClock() }
        val others = another.gateway.withJournal(Journal.open(folder))
        val second = async(Dispatchers.Default) { others.deliverUnfinished(soon) { error("it is delivered twice") } }
        another.advanceUntil { second.isCompleted }
        assertEquals("cart 1", second.await().undelivered.single().note)
        mayReturn.complete()
        assertInstanceOf<PaymentException.Misconfigured>(first.await().exceptionOrNull())
        assertTrue(journal.entry(payment)!!.isFinished)
        assertEquals(DeliverySummary(0, emptyList()), others.deliverUnfinished(soon) { error("it is delivered twice") })
    }

    @Test
    fun `cancelled delivery comes again`() = inTime {
        paid("cart 1")
        val isDelivering = CompletableDeferred<Unit>()
        val run = launch(Dispatchers.Default) {
            gateway.deliverUnfinished(soon) {
                isDelivering.complete(Unit)
                awaitCancellation()
            }
        }
        isDelivering.await()
        run.cancelAndJoin()
        assertEquals(listOf("cart 1"), delivery())
    }

    @Test
    fun `cancellation does not keep a delivered payment from being finished`() = inTime {
        val payment = paid("cart 1")
        val run = async(Dispatchers.Default + Job()) {
            gateway.deliverUnfinished(soon) { currentCoroutineContext().cancel() } // and it returns all the same
        }
        run.join()
        assertTrue(run.isCancelled)
        assertTrue(journal.entry(payment)!!.isFinished)
    }

    @Test
    fun `cancelled future does not keep a delivered payment from being finished`() = inTime {
        val payment = paid("cart 1")
        val isDelivering = CountDownLatch(1)
        val future = fake.future.withJournal(journal).deliverUnfinished(soon) {
            isDelivering.countDown()
            assertThrows<InterruptedException> { CountDownLatch(1).await() } // and it returns all the same
        }
        assertTrue(isDelivering.await(PATIENCE_SECONDS, SECONDS))
        future.cancel(true)
        fake.advanceUntil { journal.entry(payment)!!.isFinished }
    }

    @Test
    fun `interrupt does not keep a delivered payment from being finished`() = inTime {
        val payment = paid("cart 1")
        val outcome = CompletableFuture<Throwable?>()
        thread {
            val handler = BlockingDeliveryHandler { Thread.currentThread().interrupt() } // and it returns all the same
            outcome.complete(runCatching { fake.blocking.withJournal(journal).deliverUnfinished(soon, handler) }.exceptionOrNull())
        }
        assertInstanceOf<InterruptedException>(outcome.get(PATIENCE_SECONDS, SECONDS))
        fake.advanceUntil { journal.entry(payment)!!.isFinished }
    }

    @Test
    fun `blocking and by futures it is the same`() = inTime {
        val payment = paid("cart 1")
        val thread = LinkedBlockingQueue<Thread>()
        val summary = fake.blocking.withJournal(journal).deliverUnfinished(soon) { thread += Thread.currentThread() }
        assertEquals(DeliverySummary(1, emptyList()), summary)
        assertEquals(Thread.currentThread(), thread.single())
        assertTrue(journal.entry(payment)!!.isFinished)

        val another = paid("cart 2")
        val future = fake.future.withJournal(journal).deliverUnfinished { }
        assertEquals(DeliverySummary(1, emptyList()), future.get(PATIENCE_SECONDS, SECONDS))
        assertTrue(journal.entry(another)!!.isFinished)
    }

    @Test
    fun `interrupts and cancelled futures end it`() = inTime {
        val payment = paid("cart 1")
        val outcome = CompletableFuture<Throwable?>()
        val isDelivering = CountDownLatch(1)
        val run = thread {
            val result = runCatching {
                fake.blocking.withJournal(journal).deliverUnfinished(soon) {
                    isDelivering.countDown()
                    CountDownLatch(1).await()
                }
            }
            outcome.complete(result.exceptionOrNull())
        }
        assertTrue(isDelivering.await(PATIENCE_SECONDS, SECONDS))
        run.interrupt()
        assertInstanceOf<InterruptedException>(outcome.get(PATIENCE_SECONDS, SECONDS))

        val isDeliveringAgain = CountDownLatch(1)
        val isInterrupted = CountDownLatch(1)
        val future = fake.future.withJournal(journal).deliverUnfinished(soon) {
            isDeliveringAgain.countDown()
            try {
                CountDownLatch(1).await()
            } catch (error: InterruptedException) {
                isInterrupted.countDown()
                throw error
            }
        }
        assertTrue(isDeliveringAgain.await(PATIENCE_SECONDS, SECONDS))
        future.cancel(true)
        assertTrue(isInterrupted.await(PATIENCE_SECONDS, SECONDS))
        assertFalse(journal.entry(payment)!!.isFinished)
        assertEquals(listOf("cart 1"), delivery())
    }

    @Test
    fun `what cannot work is refused at once`() = inTime {
        assertNull(fake.gateway.journal)
        assertThrows<PaymentException.Misconfigured> { fake.gateway.deliverUnfinished { } }
        assertThrows<PaymentException.Misconfigured> { fake.blocking.deliverUnfinished { } }
        val failed = assertThrows<ExecutionException> { fake.future.deliverUnfinished { }.get(PATIENCE_SECONDS, SECONDS) }
        assertInstanceOf<PaymentException.Misconfigured>(failed.cause)
        for (policy in listOf(soon.copy(interval = 0.seconds), soon.copy(deadline = 0.seconds), soon.copy(atOnce = 0))) {
            assertThrows<PaymentException.Invalid> { gateway.deliverUnfinished(policy) { } }
        }
    }

    private suspend fun paid(note: String): PaymentRef = fake.paid(gateway, note)

    /** The notes that a run of its own delivers. Time passes for it, as another one may have to end first. */
    private suspend fun delivery(): List<String> = coroutineScope {
        val notes = LinkedBlockingQueue<String>()
        val run = async(Dispatchers.Default) { gateway.deliverUnfinished(soon) { notes += it.note!! } }
        fake.advanceUntil { run.isCompleted }
        run.await()
        notes.toList()
    }
}
