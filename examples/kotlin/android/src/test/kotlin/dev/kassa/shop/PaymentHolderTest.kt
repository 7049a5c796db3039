package dev.kassa.shop

import dev.kassa.Card
import dev.kassa.PaymentEntry
import dev.kassa.PaymentRef
import dev.kassa.sandbox.Endpoint
import dev.kassa.sandbox.FaultName
import dev.kassa.sandbox.Sandbox
import dev.kassa.sandbox.TestCards
import dev.kassa.sandbox.junit.WithSandbox
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.SupervisorJob
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.delay
import kotlinx.coroutines.flow.first
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withTimeout
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNotNull
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import java.io.IOException
import java.math.BigDecimal
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds

private val PRICE = BigDecimal("250.00")

/** A server whose answers get lost on their way back to the app. */
class LossyBackend(private val behind: Backend, var lose: suspend () -> Nothing) : Backend by behind {
    override suspend fun payByCard(orderNumber: String, amount: BigDecimal, card: Card, returnUrl: String): PaymentEntry {
        behind.payByCard(orderNumber, amount, card, returnUrl)
        lose()
    }

    override suspend fun payByQr(amount: BigDecimal): PaymentEntry {
        behind.payByQr(amount)
        lose()
    }
}

/** What survives in the phone's memory of things; it can be full. */
class Memory(var isFull: Boolean = false) : OpenPayment {
    var entry: PaymentEntry? = null
    var unreadable: String? = null

    override fun read() = unreadable?.let(PaymentEntry::parse) ?: entry

    override fun write(entry: PaymentEntry?): Boolean {
        if (!isFull) this.entry = entry
        return !isFull
    }
}

@WithSandbox
class PaymentHolderTest(private val sandbox: Sandbox) {
    private val memory = Memory()

    /** Everything of a holder runs on the one thread of this, as it would on the one that draws. */
    private fun onOneThread(test: suspend CoroutineScope.() -> Unit) = runBlocking { withTimeout(60.seconds) { test() } }

    private fun CoroutineScope.holder(backend: Backend = backend(sandbox), saved: String? = null) =
        PaymentHolder(backend, memory, CoroutineScope(coroutineContext + SupervisorJob()), RETURN_URL, PRICE, saved)

    private suspend inline fun <reified T : Screen> PaymentHolder.becomes(): T = screen.first { it is T } as T

    @Test
    fun `a card is confirmed on the bank's page, and the return is asked about at once`() = onOneThread {
        val holder = holder()
        holder.payByCard(card(TestCards.APPROVED))
        val order = orderOf(holder)
        val link = enterOtp(holder.becomes<Screen.Confirm>().page, "123456")
        assertTrue(link.startsWith(RETURN_URL) && order in link, link)
        holder.cameBack(link)
        assertEquals(PRICE, holder.becomes<Screen.Paid>().price)
        assertNull(holder.saved)
        assertNull(memory.entry)
        assertEquals(1, sandbox.payment(order).timesCharged)
        holder.close()
    }

    /** The number of the payment that the holder remembers. The gateway may not know it yet. */
    private fun orderOf(holder: PaymentHolder): String = PaymentEntry.parse(holder.saved!!).payment.orderNumber!!

    @Test
    fun `an app that was killed on the bank's page goes on where it was`() = onOneThread {
        val killed = holder()
        killed.payByCard(card(TestCards.APPROVED))
        val order = orderOf(killed)
        val page = killed.becomes<Screen.Confirm>().page
        val saved = killed.saved
        killed.close()

        holder(saved = saved).run {
            assertEquals(page, becomes<Screen.Confirm>().page, "it is shown again")
            enterOtp(page, "123456")
            cameBack()
            becomes<Screen.Paid>()
            close()
        }
        assertEquals(1, sandbox.requests(order).count { it.endpoint == Endpoint.PAYMENT }, "it was sent once")
        assertEquals(1, sandbox.payment(order).timesCharged)
    }

    @Test
    fun `an app that was killed without a word goes on by what it stored`() = onOneThread {
        val killed = holder()
        killed.payByCard(card(TestCards.APPROVED))
        assertNotNull(memory.entry, "it is stored before anything is sent")
        val page = killed.becomes<Screen.Confirm>().page
        killed.close()
        enterOtp(page, "123456")
        holder().run {
            becomes<Screen.Paid>()
            close()
        }
        assertNull(memory.entry)
    }

    @Test
    fun `an instance state that is older than the open payment does not replace it`() = onOneThread {
        val first = holder()
        first.payByCard(card(TestCards.APPROVED))
        val old = first.saved
        first.becomes<Screen.Confirm>()
        sandbox.approve(orderOf(first))
        first.cameBack()
        first.becomes<Screen.Paid>()
        first.payByCard(card(TestCards.STUCK_PENDING))
        first.becomes<Screen.Confirm>()
        val open = memory.entry
        first.close()

        holder(saved = old).run {
            assertEquals(open.toString(), saved)
            close()
        }
        assertEquals(open, memory.entry)
    }

    @Test
    fun `a lost answer is asked about, and nothing is sent again`() = onOneThread {
        val fault = sandbox.faults.add(FaultName.REPLY_LOST, endpoint = Endpoint.PAYMENT, times = 1)
        val holder = holder()
        holder.payByCard(card(TestCards.WITHOUT_3DS_APPROVED))
        val order = orderOf(holder)
        holder.becomes<Screen.Paid>()
        assertEquals(1, fault.struck)
        assertEquals(1, sandbox.payment(order).timesCharged)
        holder.close()
    }

    @Test
    fun `a link that says it is paid is only a hint`() = onOneThread {
        val holder = holder()
        holder.payByCard(card(TestCards.APPROVED))
        val order = orderOf(holder)
        holder.becomes<Screen.Confirm>()
        awaitQueries(order, 1)
        for (link in listOf("$RETURN_URL?OrderNumber=another&statusCode=200", "nonsense", RETURN_URL)) holder.cameBack(link)
        holder.cameBack("$RETURN_URL?OrderNumber=$order&statusCode=200")
        awaitQueries(order, 2)
        assertTrue(holder.screen.value is Screen.Confirm)
        sandbox.decline(order)
        holder.cameBack()
        holder.becomes<Screen.NotPaid>()
        assertEquals(3, queries(order), "a link to another payment asks nothing")
        holder.close()
    }

    private fun queries(order: String) = sandbox.requests(order).count { it.endpoint != Endpoint.PAYMENT }

    private suspend fun awaitQueries(order: String, count: Int) {
        while (queries(order) < count) delay(10)
    }

    @Test
    fun `what is refused can be tried again`() = onOneThread {
        val holder = holder()
        holder.payByCard(Card("1", "13", 0, "", ""))
        val ready = holder.screen.first { it is Screen.Ready && it.message != null } as Screen.Ready
        assertTrue("Nothing was paid" in ready.message!! && "pan" in ready.message, ready.message)
        assertNull(memory.entry)
        holder.payByCard(card(TestCards.WITHOUT_3DS_APPROVED))
        holder.becomes<Screen.Paid>()
        holder.close()
    }

    @Test
    fun `a payment that cannot be stored is not sent`() = onOneThread {
        memory.isFull = true
        val holder = holder()
        holder.payByCard(card(TestCards.WITHOUT_3DS_APPROVED))
        assertTrue("cannot store" in (holder.screen.value as Screen.Ready).message!!)
        assertTrue(sandbox.requests().isEmpty())
        holder.close()
    }

    @Test
    fun `a second tap pays nothing`() = onOneThread {
        val holder = holder()
        repeat(3) { holder.payByCard(card(TestCards.APPROVED)) }
        holder.payByQr()
        holder.becomes<Screen.Confirm>()
        holder.payByCard(card(TestCards.APPROVED))
        assertEquals(1, sandbox.ledger().size)
        holder.close()
    }

    @Test
    fun `a QR code is shown until it is paid`() = onOneThread {
        val holder = holder(backend(sandbox, OFTEN))
        holder.payByQr()
        val text = holder.becomes<Screen.ShowQr>().text
        val payment = sandbox.ledger().single()
        assertEquals(BigDecimal(25_000), payment.amount)
        assertTrue(payment.gatewayNumber in text)
        sandbox.approve(payment.orderNumber)
        assertEquals(PRICE, holder.becomes<Screen.Paid>().price, "the gateway counts in tyiyn")
        holder.close()
    }

    @Test
    fun `what is stored and cannot be read could be a payment, and nothing is sent`() = onOneThread {
        memory.unreadable = "kassa9:new"
        expectNothingSent(holder())
        memory.unreadable = null
        // It stays so, however often the app is killed.
        val saved = expectNothingSent(holder(saved = "kassa9:new"))
        expectNothingSent(holder(saved = saved))
        assertTrue(sandbox.requests().isEmpty())
    }

    private fun expectNothingSent(holder: PaymentHolder): String? {
        holder.payByCard(card(TestCards.WITHOUT_3DS_APPROVED))
        holder.payByQr()
        holder.cameBack()
        holder.askAgain()
        assertTrue("Do not pay again" in (holder.screen.value as Screen.PersonNeeded).message)
        return holder.saved.also { holder.close() }
    }

    @Test
    fun `a card that was charged something else is for a person to look at`() = onOneThread {
        val dear = object : Backend by backend(sandbox, OFTEN) {
            override suspend fun payByCard(orderNumber: String, amount: BigDecimal, card: Card, returnUrl: String) =
                backend(sandbox).payByCard(orderNumber, BigDecimal("2500.00"), card, returnUrl)
        }
        val holder = holder(dear)
        holder.payByCard(card(TestCards.WITHOUT_3DS_APPROVED))
        val message = holder.becomes<Screen.PersonNeeded>().message
        assertTrue("2500.00" in message && "250.00" in message.replace("2500.00", ""), message)
        holder.payByCard(card(TestCards.WITHOUT_3DS_APPROVED))
        holder.close()
        // It is asked about again, and no other payment begins.
        holder(dear).run {
            payByCard(card(TestCards.WITHOUT_3DS_APPROVED))
            becomes<Screen.PersonNeeded>()
            close()
        }
        assertEquals(1, sandbox.ledger().single().timesCharged)
    }

    @Test
    fun `what the way to the server loses is asked about`() = onOneThread {
        val losses = listOf<suspend () -> Nothing>(
            { throw IOException("the connection was reset") },
            { withTimeout(1.milliseconds) { awaitCancellation() } },
        )
        for (loss in losses) {
            val holder = holder(LossyBackend(backend(sandbox), loss))
            holder.payByCard(card(TestCards.WITHOUT_3DS_APPROVED))
            val order = orderOf(holder)
            holder.becomes<Screen.Paid>()
            assertEquals(1, sandbox.payment(order).timesCharged)
            holder.close()
        }
    }

    @Test
    fun `a QR code that is lost on the way took no money`() = onOneThread {
        val holder = holder(LossyBackend(backend(sandbox)) { throw IOException("the connection was reset") })
        holder.payByQr()
        holder.screen.first { it == Screen.Ready("Nothing was paid") }
        assertNull(memory.entry)
        holder.close()
    }

    @Test
    fun `asking that fails on the way to the server begins again when the payer comes back`() = onOneThread {
        val behind = backend(sandbox)
        var isOffline = true
        val backend = object : Backend by behind {
            override fun watch(payment: PaymentRef) = if (isOffline) throw IOException("offline") else behind.watch(payment)
        }
        val holder = holder(backend)
        holder.payByCard(card(TestCards.WITHOUT_3DS_APPROVED))
        holder.becomes<Screen.StillOpen>()
        assertNotNull(memory.entry)
        isOffline = false
        holder.cameBack("$RETURN_URL?OrderNumber=another&statusCode=200")
        assertTrue(holder.screen.value is Screen.StillOpen, "a link to another payment asks nothing")
        holder.cameBack()
        holder.becomes<Screen.Paid>()
        holder.close()
    }

    @Test
    fun `asking that has ended says nothing about the payment, and can be begun again`() = onOneThread {
        sandbox.faults.add(FaultName.UNAUTHORIZED, endpoint = Endpoint.STATUS)
        val holder = holder(backend(sandbox, OFTEN))
        holder.payByCard(card(TestCards.APPROVED))
        val order = orderOf(holder)
        holder.becomes<Screen.StillOpen>()
        assertNotNull(memory.entry)
        sandbox.faults.clear()
        sandbox.approve(order)
        holder.askAgain()
        holder.becomes<Screen.Paid>()
        holder.close()
    }
}
