package dev.kassa

import dev.kassa.internal.AsyncCall
import dev.kassa.internal.await
import dev.kassa.internal.callHere
import dev.kassa.support.CHARGED
import dev.kassa.support.OPEN
import dev.kassa.support.configOf
import dev.kassa.support.held
import dev.kassa.support.response
import dev.kassa.support.withGateway
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Runnable
import kotlinx.coroutines.asCoroutineDispatcher
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertInstanceOf
import org.junit.jupiter.api.assertThrows
import java.math.BigDecimal
import java.util.concurrent.CompletableFuture
import java.util.concurrent.Executor
import java.util.concurrent.LinkedBlockingQueue
import kotlin.coroutines.CoroutineContext
import kotlin.random.Random
import kotlin.time.Duration.Companion.milliseconds
import dev.kassa.internal.Gateway as CoreGateway

/** One thread waits for the calls of all: it must lose none of them, and do nobody's work. */
class WaitsTest {
    private val payment = PaymentRef.card("o-1", BigDecimal("100.1"), "KGS")
    private val often = PollPolicy(interval = 10.milliseconds)

    /** A dispatcher whose steps the test runs: when the second one is there, so is the result. */
    private val steps = LinkedBlockingQueue<Runnable>()
    private val byHand = Executor(steps::put).asCoroutineDispatcher()

    @Test
    fun `what had come for a cancelled wait is the next one's`() = withGateway(held(OPEN), CHARGED) { gateway, server ->
        val watch = gateway.core.watch(payment, often)
        // On the caller's dispatcher, and on another one, from which an app's main thread comes back.
        val waiting = CoroutineScope(byHand).launch { awaited { watch.next(it) } }
        steps.take().run()
        server.release()
        val goesOn = steps.take()
        waiting.cancel()
        goesOn.run()
        assertTrue(waiting.isCancelled)
        assertInstanceOf<Verdict.Pending>(blocking { watch.next(it) })
        assertInstanceOf<Verdict.Charged>(blocking { watch.next(it) })
    }

    @Test
    fun `report for an ended future is the next one's`() {
        for (end in listOf<(CompletableFuture<*>) -> Boolean>({ it.cancel(true) }, { it.complete(null) })) {
            withGateway(held(OPEN), CHARGED) { gateway, server ->
                val watch = gateway.core.watch(payment, often)
                val waiting = promise(byHand) { watch.next(it) }
                steps.take().run()
                server.release()
                val goesOn = steps.take()
                assertTrue(end(waiting))
                goesOn.run()
                assertInstanceOf<Verdict.Pending>(promise { watch.next(it) }.join())
                assertInstanceOf<Verdict.Charged>(promise { watch.next(it) }.join())
            }
        }
    }

    @Test
    fun `call of an object that was destroyed is refused, by a thread and in a coroutine`() {
        val core = CoreGateway(configOf("http://127.0.0.1:1").toCore())
        core.destroy()
        val call = AsyncCall.QrStatus(core, "1")
        assertThrows<IllegalStateException> { callHere(call) {} }
        assertThrows<IllegalStateException> { blocking { await(call, it) {} } }
    }

    @Test
    fun `calls that are cancelled while they are answered keep nobody waiting`() = withGateway(CHARGED) { gateway, _ ->
        runBlocking(Dispatchers.Default) {
            val random = Random(1)
            repeat(20) {
                val calls = List(50) { async { gateway.providerStatus("o-1", Provider.Cards) } }
                val givenUp = calls.filter { random.nextBoolean() }
                // A random moment: some calls have ended, others have not. Both are correct, so a slow machine cannot fail this.
                Thread.sleep(0, random.nextInt(1_000_000))
                givenUp.forEach { it.cancel() }
                (calls - givenUp.toSet()).awaitAll().forEach { assertEquals(PaymentStatus.Charged, it.status) }
                givenUp.forEach { it.join() }
            }
        }
    }

    @Test
    fun `caller that blocks keeps nobody else waiting`() = withGateway(CHARGED) { gateway, _ ->
        for (dispatcher in listOf(Dispatchers.Unconfined, Executor { it.run() }.asCoroutineDispatcher(), Nowhere)) {
            val other = CompletableDeferred<StatusReport>()
            runBlocking {
                launch(dispatcher) {
                    gateway.providerStatus("o-1", Provider.Cards)
                    // On the thread that waits for everybody, this would be for ever.
                    other.complete(runBlocking { gateway.providerStatus("o-1", Provider.Cards) })
                }
                assertEquals(PaymentStatus.Charged, other.await().status)
            }
        }
    }

    @Test
    fun `long answer arrives whole`() {
        val reason = "long ".repeat(10_000).trim()
        withGateway(response(200, """{"code":"200","message":"$reason","data":{"status":"CHARGE"}}""")) { gateway, _ ->
            assertEquals(reason, runBlocking { gateway.providerStatus("o-1", Provider.Cards) }.reason)
        }
    }

    @Test
    fun `long argument arrives whole`() = withGateway(CHARGED) { gateway, server ->
        val number = "o".repeat(100_000)
        runBlocking { gateway.providerStatus(number, Provider.Cards) }
        assertTrue(number in server.received.single().body)
    }
}

/** Like the unconfined dispatcher of tests, which is another class. */
private object Nowhere : CoroutineDispatcher() {
    override fun isDispatchNeeded(context: CoroutineContext) = false

    override fun dispatch(context: CoroutineContext, block: Runnable) = error("not needed")
}
