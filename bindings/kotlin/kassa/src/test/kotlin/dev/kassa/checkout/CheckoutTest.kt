package dev.kassa.checkout

import dev.kassa.Checkout
import dev.kassa.CheckoutSettings
import dev.kassa.CheckoutState
import dev.kassa.MessageTopic
import dev.kassa.PaymentException
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.flow.first
import kotlinx.coroutines.flow.onEach
import kotlinx.coroutines.flow.takeWhile
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withTimeout
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertInstanceOf
import org.junit.jupiter.api.assertThrows
import java.math.BigDecimal
import java.util.concurrent.atomic.AtomicInteger
import kotlin.time.Duration

/** What is Kotlin's own about a checkout: flows, scopes, closing, printing. What it does, the vectors say. */
class CheckoutTest {
    @Test
    fun `every collector has all states, and one that leaves takes none from the others`() = onStage { scene, checkout ->
        val isReady = CompletableDeferred<Unit>()
        val leaving = launch(Dispatchers.Default) {
            checkout.states.collect { if (it is CheckoutState.Ready) isReady.complete(Unit) }
        }
        val staying = async(Dispatchers.Default) { checkout.states.first { it.isPaid } }
        isReady.await()
        leaving.cancelAndJoin() // while it waits for a state that does not come
        checkout.payByQr()
        checkout.states.first { it is CheckoutState.ShowQr }
        scene.step("approve")
        val paid = CheckoutState.Paid(BigDecimal("390.00"), "KGS")
        assertEquals(paid, staying.await())
        assertEquals(paid, checkout.states.first(), "the state of now comes first")
        assertEquals(paid, checkout.state)
    }

    @Test
    fun `same flow begins anew for each collector`() = onStage { _, checkout ->
        val ready = checkout.states.first { it is CheckoutState.Ready }
        repeat(2) { assertEquals(ready, checkout.states.first()) }
    }

    @Test
    fun `closing ends the states, and whoever waits for one`() = onStage { _, checkout ->
        val states = checkout.states.onEach { if (it is CheckoutState.Ready) checkout.close() }.toList()
        assertInstanceOf<CheckoutState.Ready>(states.last())
        assertEquals(emptyList<CheckoutState>(), checkout.states.toList())
        assertInstanceOf<CheckoutState.Ready>(checkout.state)
        assertThrows<PaymentException.Misconfigured> { checkout.payByQr() }
        checkout.close()
    }

    @Test
    fun `closing stops the function that renews the token`() = runBlocking {
        val isCalled = CompletableDeferred<Unit>()
        val isStopped = CompletableDeferred<Unit>()
        Stage.open().use { scene ->
            val checkout = Checkout.open(scene.serverUrl, "ct_nonsense") {
                isCalled.complete(Unit)
                try {
                    awaitCancellation()
                } finally {
                    isStopped.complete(Unit)
                }
            }
            isCalled.await()
            checkout.close()
            isStopped.await()
        }
    }

    @Test
    fun `renewal that gives up by a timeout of its own is called again`() = runBlocking {
        Stage.open().use { scene ->
            val calls = AtomicInteger()
            val renewed = Checkout.open(scene.serverUrl, "ct_nonsense", CheckoutSettings()) {
                if (calls.getAndIncrement() == 0) withTimeout(Duration.ZERO) { awaitCancellation() } else scene.newToken()
            }
            renewed.use { checkout ->
                val before = checkout.states.takeWhile { it !is CheckoutState.Ready }.toList()
                assertEquals(MessageTopic.TOKEN_NOT_RENEWED, before.mapNotNull { it.message }.last().topic)
                assertFalse(CheckoutState.TokenExpired in before)
                assertEquals(2, calls.get())
            }
        }
    }

    @Test
    fun `neither the token nor a page is printed`() = onStage { scene, checkout ->
        assertNull(CheckoutState.Waiting().pageUrl)
        checkout.states.first { it is CheckoutState.Ready }
        checkout.payByForm()
        val page = assertInstanceOf<CheckoutState.OpenPage>(checkout.states.first { it is CheckoutState.OpenPage })
        assertTrue(page.begunHere && page.url.startsWith("http"), page.url)
        assertEquals("Checkout(${scene.serverUrl}, open_page)", "$checkout")
        checkout.cameBack()
        val waiting = checkout.states.first { it is CheckoutState.Waiting }
        val printed = "$page $waiting ${CheckoutState.ShowQr("https://bank.example.kg/pay?id=7")} ${checkout.details}"
        assertEquals(page.url, (waiting as CheckoutState.Waiting).pageUrl)
        for (secret in listOf(scene.clientToken, page.url, "id=7")) assertFalse(secret in printed, printed)
    }

    @Test
    fun `half a surrogate pair is named, not shown and not sent`() = onStage { scene, checkout ->
        checkout.states.first { it is CheckoutState.Ready }
        val half = "secret \uD83D!"
        val calls = listOf<Pair<String, () -> Unit>>(
            "phone" to { checkout.payByMbank(half) },
            "otp" to { checkout.confirm(half) },
            "client_token" to { checkout.renewToken(half) },
            "client_token" to { Checkout.open(scene.serverUrl, half).close() },
            "server_url" to { Checkout.open(half, scene.clientToken).close() },
            "user_agent_suffix" to { Checkout.open(scene.serverUrl, "ct", CheckoutSettings(userAgentSuffix = half)).close() },
        )
        for ((field, call) in calls) {
            val error = assertThrows<PaymentException.Invalid> { call() }
            assertEquals(listOf(field), error.violations.map { it.field })
            assertFalse("secret" in error.message)
        }
        assertInstanceOf<CheckoutState.Ready>(checkout.state)
    }

    @Test
    fun `setting that cannot work is named`() {
        val error = assertThrows<PaymentException.Misconfigured> {
            Checkout.open("https://pay.shop.example.kg", "ct", CheckoutSettings(connectTimeout = Duration.ZERO))
        }
        assertTrue("connect_timeout" in error.detail, error.detail)
    }

    private fun onStage(test: suspend CoroutineScope.(Scene, Checkout) -> Unit): Unit = runBlocking {
        Stage.open().use { scene -> Checkout.open(scene.serverUrl, scene.clientToken).use { test(scene, it) } }
    }
}
