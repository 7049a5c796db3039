package dev.kassa

import dev.kassa.support.CHARGED
import dev.kassa.support.CREATED
import dev.kassa.support.SILENCE
import dev.kassa.support.ScriptedServer
import dev.kassa.support.cardPayment
import dev.kassa.support.configOf
import dev.kassa.support.held
import dev.kassa.support.withGateway
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.TimeoutCancellationException
import kotlinx.coroutines.async
import kotlinx.coroutines.cancel
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withTimeout
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertInstanceOf
import org.junit.jupiter.api.assertThrows
import org.junit.jupiter.api.io.TempDir
import java.nio.file.Path
import java.util.concurrent.CancellationException
import java.util.concurrent.CompletableFuture
import kotlin.concurrent.thread
import kotlin.time.Duration
import kotlin.time.Duration.Companion.hours
import kotlin.time.Duration.Companion.milliseconds

/** Giving up is heard at once, and a payment that was sent goes on, once. The responses are held until afterwards. */
class CancellationTest {
    @Test
    fun `cancelled coroutine leaves a sent payment on its way, and its reference finds it`() = runBlocking {
        withGateway(held(CREATED), CHARGED) { gateway, server ->
            val payment = cardPayment(orderNumber = "o-1")
            val call = async(Dispatchers.Default) { gateway.createCardPayment(payment) }
            assertTrue(server.waitForRequests(1))
            call.cancelAndJoin()

            val closing = launch(Dispatchers.Default, CoroutineStart.UNDISPATCHED) { gateway.closeAndWait() }
            assertFalse(closing.isCompleted, "closing waits for the payment")
            server.release()
            closing.join()
            assertEquals(1, server.received.size, "sent once")
            Gateway(configOf(server.url)).use {
                assertInstanceOf<Verdict.Charged>(it.watch(payment.paymentRef()).outcome())
            }
        }
    }

    @Test
    fun `timeout ends the wait`() = withGateway(SILENCE) { gateway, server ->
        assertThrows<TimeoutCancellationException> {
            runBlocking { withTimeout(100) { gateway.providerStatus("o-1", Provider.Cards) } }
        }
        assertTrue(server.received.size <= 1)
    }

    @Test
    fun `cancelled before it began, nothing is sent`() = withGateway(CREATED) { gateway, server ->
        runBlocking {
            launch { cancel(); gateway.createCardPayment(cardPayment()) }
        }
        gateway.close()
        assertEquals(0, server.received.size)
    }

    @Test
    fun `interrupt ends a blocking wait, and the payment goes on`() = ScriptedServer(listOf(held(CREATED))).use { server ->
        val gateway = BlockingGateway(configOf(server.url))
        val ended = CompletableFuture<Throwable>()
        val waiting = thread {
            try {
                ended.completeExceptionally(IllegalStateException("${gateway.createCardPayment(cardPayment())}"))
            } catch (interrupted: InterruptedException) {
                ended.complete(interrupted)
            }
        }
        assertTrue(server.waitForRequests(1))
        waiting.interrupt()
        assertInstanceOf<InterruptedException>(ended.get())
        server.release()
        gateway.close()
        assertEquals(1, server.answered)
    }

    @Test
    fun `interrupt ends a blocking query, and the thread goes on asking`() = ScriptedServer(listOf(held(CHARGED))).use { server ->
        val gateway = BlockingGateway(configOf(server.url))
        val ended = CompletableFuture<Throwable>()
        val again = CompletableFuture<PaymentStatus>()
        val waiting = thread {
            try {
                ended.completeExceptionally(IllegalStateException("${gateway.qrStatus("1")}"))
            } catch (interrupted: InterruptedException) {
                ended.complete(interrupted)
            }
            again.complete(gateway.qrStatus("2").status)
        }
        assertTrue(server.waitForRequests(1))
        waiting.interrupt()
        assertInstanceOf<InterruptedException>(ended.get())
        server.release()
        assertEquals(PaymentStatus.Charged, again.get())
        gateway.close()
    }

    @Test
    fun `thread that was interrupted before asks nothing`() = withGateway(CREATED) { gateway, server ->
        gateway.close()
        val blocking = BlockingGateway(configOf(server.url))
        Thread.currentThread().interrupt()
        assertThrows<InterruptedException> { blocking.qrStatus("1") }
        assertFalse(Thread.interrupted())
        blocking.close()
        assertEquals(0, server.received.size)
    }

    @Test
    fun `interrupted thread closes the gateway, and stays interrupted`() = withGateway(CREATED) { gateway, _ ->
        Thread.currentThread().interrupt()
        gateway.close()
        assertTrue(Thread.interrupted())
        assertThrows<PaymentException.Misconfigured> { runBlocking { gateway.qrStatus("1") } }
    }

    @Test
    fun `cancelled block closes without waiting for its payment, and the journal has it`(@TempDir folder: Path) =
        ScriptedServer(listOf(SILENCE)).use { server ->
            val config = configOf(server.url, deadline = 1.hours)
            val journal = Journal.open(folder)
            runBlocking {
                val selling = launch(Dispatchers.Default) {
                    Gateway(config, journal).use { it.createCardPayment(cardPayment(orderNumber = "o-1")) }
                }
                assertTrue(server.waitForRequests(1))
                selling.cancelAndJoin()
            }
            val left = BlockingGateway(config, journal).unfinished().single() as Unfinished.Payment
            assertEquals("o-1" to JournalState.UNKNOWN, left.entry.payment.orderNumber to left.entry.state)
        }

    @Test
    fun `close with a limit says whether a payment is left, and tears none off`() = ScriptedServer(listOf(held(CREATED))).use { server ->
        val gateway = BlockingGateway(configOf(server.url, deadline = 1.hours))
        val paid = CompletableFuture.supplyAsync { gateway.createCardPayment(cardPayment()) }
        assertTrue(server.waitForRequests(1))
        assertFalse(gateway.close(Duration.ZERO))
        assertFalse(gateway.close(10.milliseconds))
        // An interrupt ends the wait, also one that came before.
        Thread.currentThread().interrupt()
        gateway.close()
        assertTrue(Thread.interrupted())
        assertFalse(paid.isDone)
        server.release()
        assertTrue(gateway.close(1.hours))
        assertEquals("110", paid.join().code)
    }

    @Test
    fun `cancelled future leaves a sent payment on its way`() = ScriptedServer(listOf(held(CREATED))).use { server ->
        val gateway = FutureGateway(configOf(server.url))
        val call = gateway.createCardPayment(cardPayment())
        assertTrue(server.waitForRequests(1))
        assertTrue(call.cancel(true))
        assertThrows<CancellationException> { call.get() }
        server.release()
        gateway.closeAndWait().get()
        assertEquals(1, server.answered)
    }

    @Test
    fun `without a dispatcher nobody goes on upon a thread of the network`() = withGateway(held(CHARGED)) { gateway, server ->
        val name = runBlocking {
            val call = async(Dispatchers.Unconfined) {
                gateway.providerStatus("o-1", Provider.Cards)
                Thread.currentThread().name
            }
            // A call that ends before it has to wait goes on where it was.
            server.release()
            call.await()
        }
        assertTrue(name.startsWith("DefaultDispatcher"), name)
    }
}
