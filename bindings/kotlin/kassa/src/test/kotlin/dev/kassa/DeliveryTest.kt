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
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.delay
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.launch
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertInstanceOf
import org.junit.jupiter.api.assertThrows
import org.junit.jupiter.api.io.TempDir
import java.nio.file.Files
import java.nio.file.Path
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CountDownLatch
import java.util.concurrent.LinkedBlockingQueue
import java.util.concurrent.TimeUnit.SECONDS
import java.util.concurrent.atomic.AtomicBoolean
import kotlin.concurrent.thread
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds

/** The worker that delivers. Its clock is the real one. */
class DeliveryTest {
    @TempDir
    lateinit var folder: Path
    private val fake = FakeGateway().apply { stopClock() }
    private val journal by lazy { Journal.open(folder) }
    private val gateway by lazy { fake.gateway.withJournal(journal) }
    private val often = DeliveryPolicy(interval = 10.milliseconds, firstPause = 1.milliseconds, longestPause = 50.milliseconds)

    @Test
    fun `what is paid is delivered and finished once`() = inTime {
        val before = paid("cart 1")
        val open = gateway.withNote("cart 2").createMbankPayment(mbankPayment()).payment
        val delivered = LinkedBlockingQueue<String>()
        val stop = StopSignal()
        val worker = async(Dispatchers.Default) { gateway.deliverForever(stop, often) { delivered += it.note!! } }
        assertEquals("cart 1", delivered.poll(PATIENCE_SECONDS, SECONDS))

        // It picks up what is begun meanwhile. Time passes for it, as the journal is read again after each interval.
        val later = paid("cart 3")
        fake.advanceUntil { delivered.isNotEmpty() }
        assertEquals("cart 3", delivered.poll(PATIENCE_SECONDS, SECONDS))
        untilFinished(later)
        stop.stop()
        val summary = worker.await()
        assertEquals(2, summary.delivered)
        assertEquals(listOf(open), summary.undecided.map { it.payment })
        assertEquals("2 delivered; left open: 0 charged and not delivered, 1 undecided, 0 for a person", "$summary")
        assertTrue(journal.entry(before)!!.isFinished)

        // What comes later is for the next worker, which does not deliver what is finished.
        fake.charge(open.orderNumber!!)
        gateway.check(open)
        assertEquals("cart 2", delivery(stopAfter = 1).single())
        assertTrue(delivered.isEmpty())
    }

    @Test
    fun `handler that throws is called again`() = inTime {
        val first = paid("cart 1")
        val second = paid("cart 2")
        val calls = LinkedBlockingQueue<String>()
        val stop = StopSignal()
        val summary = gateway.deliverForever(stop, often) { entry ->
            calls += entry.note
            if (entry.note == "cart 2") return@deliverForever
            // A time limit of the handler's own is not one of the worker's. The other one does not wait for this one.
            if (calls.count { it == "cart 1" } < 3 || "cart 2" !in calls) throw CancellationException("the shop is down")
            stop.stop()
        }
        assertEquals(2, summary.delivered)
        assertEquals(emptyList<Unfinished>(), summary.leftOpen)
        assertEquals(1, calls.count { it == "cart 2" })
        assertTrue(calls.count { it == "cart 1" } >= 3, "$calls")
        for (payment in listOf(first, second)) assertTrue(journal.entry(payment)!!.isFinished)
    }

    @Test
    fun `what was not delivered is left open`() = inTime {
        paid("cart 1")
        val stop = StopSignal()
        val summary = gateway.deliverForever(stop, often) {
            stop.stop()
            error("the shop is down")
        }
        assertEquals(0, summary.delivered)
        assertEquals("cart 1", summary.undelivered.single().note)
        assertEquals(listOf("cart 1"), delivery(stopAfter = 1))
    }

    @Test
    fun `lambda never sees what is not paid`() = inTime {
        val rejected = gateway.withNote("cart 1").createMbankPayment(mbankPayment()).payment
        fake.reject(rejected.orderNumber!!)
        Files.createDirectories(folder.resolve("open/2026-11-22"))
        Files.writeString(folder.resolve("open/2026-11-22/torn"), "torn")
        val seen = Channel<String>(Channel.UNLIMITED)
        val stop = StopSignal()
        val handler = object : DeliveryHandler {
            override suspend fun deliver(entry: JournalEntry) = seen.send("delivered ${entry.note}")

            override suspend fun otherwise(recovered: Recovered) = seen.send(
                when (recovered) {
                    is Recovered.Payment -> "${recovered.entry.state} ${recovered.entry.note}"
                    is Recovered.Unreadable -> recovered.id
                },
            )
        }
        val worker = async(Dispatchers.Default) { gateway.deliverForever(stop, often, handler) }
        assertEquals(setOf("rejected cart 1", "torn"), setOf(seen.receive(), seen.receive()))
        stop.stop()
        assertEquals("torn", (worker.await().forAPerson.single() as Unfinished.Unreadable).id)

        paid("cart 2")
        assertEquals(listOf("cart 2"), delivery(stopAfter = 1))
    }

    @Test
    fun `stop in a delivery lets nobody else deliver it`() = endsInADelivery { stop -> stop.stop() }

    @Test
    fun `close in a delivery lets nobody else deliver it`() = endsInADelivery { gateway.closeAndWait() }

    private fun endsInADelivery(end: suspend (StopSignal) -> Unit) = inTime {
        paid("cart 1")
        val isDelivering = CompletableDeferred<Unit>()
        val mayReturn = Job()
        val stop = StopSignal()
        val hasFailed = AtomicBoolean()
        val first = async(Dispatchers.Default) {
            gateway.deliverForever(stop, often) {
                // During the second call, the worker waits for the next result, too.
                if (hasFailed.compareAndSet(false, true)) error("the shop is down")
                isDelivering.complete(Unit)
                mayReturn.join()
            }
        }
        isDelivering.await()
        val another = FakeGateway().apply { stopClock() }
        val others = another.gateway.withJournal(Journal.open(folder))
        val second = LinkedBlockingQueue<String>()
        val other = launch(Dispatchers.Default) { others.deliverForever(policy = often) { second += it.note!! } }
        another.advance(1.seconds)
        end(stop)
        repeat(20) {
            another.advance(100.milliseconds)
            delay(2.milliseconds)
        }
        assertTrue(second.isEmpty())
        mayReturn.complete()
        assertEquals(1, first.await().delivered)
        val payment = others.withNote("cart 2").createMbankPayment(mbankPayment()).payment
        another.charge(payment.orderNumber!!)
        others.check(payment)
        another.advanceUntil { second.isNotEmpty() }
        assertEquals("cart 2", second.poll())
        other.cancelAndJoin()
    }

    @Test
    fun `cancelled delivery comes again`() = inTime {
        val payment = paid("cart 1")
        val isDelivering = CompletableDeferred<Unit>()
        val worker = launch(Dispatchers.Default) {
            gateway.deliverForever(policy = often) {
                isDelivering.complete(Unit)
                awaitCancellation()
            }
        }
        isDelivering.await()
        worker.cancelAndJoin()
        assertFalse(journal.entry(payment)!!.isFinished)
        assertEquals(1, gateway.recover().toList().size)
    }

    @Test
    fun `gateway that errs is queried again`() = inTime {
        val refused = response(401, """{"code":"401","message":"who are you"}""")
        val responses = listOf(CREATED) + List(4) { refused } + CHARGED
        ScriptedServer(responses).use { server ->
            Gateway(configOf(server.url), journal).use { gateway ->
                gateway.createCardPayment(cardPayment(orderNumber = "o-1"))
                val stop = StopSignal()
                val summary = gateway.deliverForever(stop, often) { stop.stop() }
                assertEquals(1, summary.delivered)
            }
        }
    }

    @Test
    fun `closing the gateway ends it in a pause, too`() = inTime {
        paid("cart 1")
        val isFailing = CompletableDeferred<Unit>()
        val slow = DeliveryPolicy(firstPause = PATIENCE_SECONDS.seconds * 10, longestPause = PATIENCE_SECONDS.seconds * 10)
        val worker = async(Dispatchers.Default) {
            gateway.deliverForever(policy = slow) {
                isFailing.complete(Unit)
                error("the shop is down")
            }
        }
        isFailing.await()
        gateway.closeAndWait()
        assertEquals(1, worker.await().undelivered.size)
    }

    @Test
    fun `what a person has finished is not delivered again`() = inTime {
        val payment = paid("cart 1")
        val stop = StopSignal()
        val calls = LinkedBlockingQueue<String>()
        val worker = async(Dispatchers.Default) {
            gateway.deliverForever(stop, often) {
                calls += it.note!!
                journal.finish(it) // a person does so, while the shop cannot deliver
                throw NotImplementedError("the supplier does not answer")
            }
        }
        untilFinished(payment)
        val other = paid("cart 2")
        fake.advanceUntil { calls.size == 2 }
        untilFinished(other)
        stop.stop()
        assertEquals(0, worker.await().delivered)
        assertEquals(listOf("cart 1", "cart 2"), calls.toList())
    }

    @Test
    fun `blocking and by futures it is the same`() = inTime {
        val journalled = fake.blocking.withJournal(journal)
        val payment = paid("cart 1")
        val stop = StopSignal()
        val thread = LinkedBlockingQueue<Thread>()
        val summary = journalled.deliverForever(stop, often) {
            thread += Thread.currentThread()
            stop.stop()
        }
        assertEquals(1, summary.delivered)
        assertEquals(Thread.currentThread(), thread.single())
        assertTrue(journal.entry(payment)!!.isFinished)

        val another = paid("cart 2")
        val ending = StopSignal()
        val future = fake.future.withJournal(journal).deliverForever(ending, often) { ending.stop() }
        assertEquals(1, future.get(PATIENCE_SECONDS, SECONDS).delivered)
        assertTrue(journal.entry(another)!!.isFinished)
    }

    @Test
    fun `interrupts and cancelled futures end it`() = inTime {
        paid("cart 1")
        val outcome = CompletableFuture<Throwable?>()
        val isDelivering = CountDownLatch(1)
        val worker = thread {
            val result = runCatching {
                fake.blocking.withJournal(journal).deliverForever(StopSignal(), often) {
                    isDelivering.countDown()
                    CountDownLatch(1).await()
                }
            }
            outcome.complete(result.exceptionOrNull())
        }
        assertTrue(isDelivering.await(PATIENCE_SECONDS, SECONDS))
        worker.interrupt()
        assertInstanceOf<InterruptedException>(outcome.get(PATIENCE_SECONDS, SECONDS))

        val isInterrupted = CountDownLatch(1)
        val isDeliveringAgain = CountDownLatch(1)
        val future = fake.future.withJournal(journal).deliverForever(StopSignal(), often) {
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
        assertEquals(listOf("cart 1"), delivery(stopAfter = 1))
    }

    @Test
    fun `interrupted idle worker lets others deliver`() = inTime {
        val outcome = CompletableFuture<Throwable?>()
        val isWaiting = CompletableFuture<Unit>()
        val worker = thread {
            val handler = BlockingDeliveryHandler { isWaiting.complete(Unit) }
            outcome.complete(runCatching { fake.blocking.withJournal(journal).deliverForever(StopSignal(), often, handler) }.exceptionOrNull())
        }
        val payment = paid("cart 1")
        fake.advanceUntil { isWaiting.isDone }
        untilFinished(payment)
        worker.interrupt()
        assertInstanceOf<InterruptedException>(outcome.get(PATIENCE_SECONDS, SECONDS))
        paid("cart 2")
        assertEquals(listOf("cart 2"), delivery(stopAfter = 1))
    }

    @Test
    fun `what cannot work is refused at once`() = inTime {
        assertThrows<PaymentException.Misconfigured> { fake.gateway.deliverForever { } }
        for (policy in listOf(DeliveryPolicy(interval = 0.seconds), often.copy(firstPause = 0.seconds), often.copy(longestPause = 0.seconds))) {
            assertThrows<PaymentException.Invalid> { gateway.deliverForever(policy = policy) { } }
        }
    }

    private suspend fun paid(note: String): PaymentRef = fake.paid(gateway, note)

    /** The notes that a worker of its own delivers. Time passes for it, as another one may have to end first. */
    private suspend fun delivery(stopAfter: Int): List<String?> = coroutineScope {
        val notes = mutableListOf<String?>()
        val stop = StopSignal()
        val worker = async(Dispatchers.Default) {
            gateway.deliverForever(stop, often) { entry ->
                notes += entry.note
                if (notes.size == stopAfter) stop.stop()
            }
        }
        fake.advanceUntil { worker.isCompleted }
        worker.await()
        notes
    }

    private suspend fun untilFinished(payment: PaymentRef) = fake.advanceUntil { journal.entry(payment)!!.isFinished }
}
