package dev.kassa

import dev.kassa.support.CREATED
import dev.kassa.support.ScriptedServer
import dev.kassa.support.at
import dev.kassa.support.cardPayment
import dev.kassa.support.configOf
import dev.kassa.support.parseJson
import dev.kassa.support.text
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.runBlocking
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import java.util.concurrent.Callable
import java.util.concurrent.CyclicBarrier
import java.util.concurrent.Executors
import kotlin.random.Random

/** Many threads, many coroutines, one gateway. */
class StressTest {
    @Test
    fun `one gateway serves many threads, and none is answered with another's payment`() =
        ScriptedServer(listOf(CREATED)).use { server ->
            val gateway = BlockingGateway(configOf(server.url))
            val threads = Executors.newFixedThreadPool(32)
            val payments = List(400) { cardPayment() }
            val calls = payments.map { Callable { gateway.createCardPayment(it).payment.orderNumber } }
            assertEquals(payments.map { it.orderNumber }, threads.invokeAll(calls).map { it.get() })
            threads.shutdown()
            gateway.close()
            val sent = server.received.map { parseJson(it.body).at("orderNumber").text }
            assertEquals(payments.map { it.orderNumber }.sorted(), sent.sorted(), "each of them once")
        }

    @Test
    fun `closing in the middle of everything gives an answer or a clear exception, and nothing is sent twice`() =
        repeat(5) { round ->
            ScriptedServer(listOf(CREATED)).use { server ->
                val gateway = Gateway(configOf(server.url))
                val start = CyclicBarrier(9)
                val threads = Executors.newFixedThreadPool(8)
                val random = Random(round)
                val calls = List(8) {
                    val pauses = List(20) { random.nextLong(200) }
                    threads.submit(Callable { start.await(); pauses.map { pause -> endOf(gateway, pause) } })
                }
                start.await()
                gateway.close()
                val ends = calls.flatMap { it.get() }
                threads.shutdown()
                assertTrue(ends.all { it == "created" || it == "closed" || it == "cancelled" }, "$ends")
                val sent = server.received.map { parseJson(it.body).at("orderNumber").text }
                assertEquals(sent.distinct(), sent)
                assertTrue(sent.size >= ends.count { it == "created" })
            }
        }

    private fun endOf(gateway: Gateway, pauseMicros: Long): String = runBlocking(Dispatchers.Default) {
        val call = async { runCatching { gateway.createCardPayment(cardPayment()) } }
        if (pauseMicros % 3 == 0L) {
            // A random moment: some calls have ended, others have not. Both are correct, so a slow machine cannot fail this.
            Thread.sleep(0, (pauseMicros * 1_000).toInt())
            call.cancel()
        }
        val end = runCatching { call.await().getOrThrow() }
        when (val error = end.exceptionOrNull()) {
            null -> "created"
            is CancellationException -> "cancelled"
            is PaymentException.Misconfigured -> if ("closed" in error.message) "closed" else "$error"
            else -> "$error"
        }
    }

    @Test
    fun `values are made and printed by many coroutines`() = runBlocking {
        val texts = List(200) { number ->
            async(Dispatchers.Default) { PaymentRef.parse(PaymentRef.mbank("o-$number", 250).toString()).toString() }
        }.awaitAll()
        assertEquals(200, texts.toSet().size)
    }
}
