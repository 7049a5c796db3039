package dev.kassa

import dev.kassa.support.CHARGED
import dev.kassa.support.CREATED
import dev.kassa.support.PATIENCE_SECONDS
import dev.kassa.support.ScriptedServer
import dev.kassa.support.card
import dev.kassa.support.cardPayment
import dev.kassa.support.configOf
import dev.kassa.support.held
import dev.kassa.support.mbankPayment
import dev.kassa.support.response
import dev.kassa.testing.FakeFault
import dev.kassa.testing.FakeGateway
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.flow.single
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertInstanceOf
import org.junit.jupiter.api.assertThrows
import org.junit.jupiter.api.io.TempDir
import java.net.URI
import java.nio.file.FileSystems
import java.nio.file.Path
import java.time.Instant
import java.util.concurrent.CompletionException
import java.util.concurrent.TimeUnit
import kotlin.io.path.ExperimentalPathApi
import kotlin.io.path.Path
import kotlin.io.path.isRegularFile
import kotlin.io.path.readText
import kotlin.io.path.walk
import kotlin.io.path.writeText
import kotlin.time.Duration.Companion.seconds

/** No payment is forgotten. What a journal promises is in the vectors; here is what is Kotlin's and the JVM's. */
class JournalTest {
    @TempDir
    lateinit var folder: Path
    private val fake = FakeGateway()
    private val journal by lazy { Journal.open(folder) }
    private val delivered = mutableListOf<String?>()

    /** What is charged is delivered, as the documentation of [Gateway.recover] shows it; the rest is told. */
    private suspend fun deliverWhatIsPaid(gateway: Gateway) = gateway.recover().collect { recovered ->
        when (recovered) {
            is Recovered.Payment -> if (recovered.entry.state == JournalState.CHARGED) {
                delivered += recovered.entry.note
                gateway.finish(recovered.entry)
            } else {
                delivered += "not paid, or for a person: ${recovered.entry.payment}"
            }
            is Recovered.Unreadable -> delivered += "a person should look at ${recovered.id}: it ${recovered.why}"
        }
    }

    @Test
    fun `payment whose answer is lost is delivered once, when it is charged`() = runBlocking<Unit> {
        val gateway = fake.gateway.withJournal(journal)
        val begun = Instant.now()
        fake.failNext(FakeFault.ResponseLost)
        val payment = mbankPayment()
        val lost = assertThrows<PaymentException.OutcomeUnknown> { gateway.withNote("cart 17").createMbankPayment(payment) }
        val entry = gateway.journal!!.entry(lost.payment)!!
        assertEquals(listOf(Unfinished.Payment(entry)), gateway.unfinished().toList())
        assertEquals(JournalState.UNKNOWN to "cart 17", entry.state to entry.note)
        assertTrue(entry.begun in begun.minusSeconds(1)..Instant.now().plusSeconds(1), "$entry")
        assertThrows<PaymentException.OutcomeUnknown> { gateway.createMbankPayment(payment) }
        assertEquals(1, fake.payments.size)

        fake.failNext(FakeFault.NoConnection)
        deliverWhatIsPaid(gateway)
        deliverWhatIsPaid(gateway)
        assertEquals(emptyList<String?>(), delivered)
        fake.charge(payment.orderNumber)
        deliverWhatIsPaid(gateway)
        deliverWhatIsPaid(gateway)
        assertEquals(listOf<String?>("cart 17"), delivered)
        assertEquals(JournalState.CHARGED, journal.entry(lost.payment)!!.state)
    }

    @Test
    fun `callback that comes again delivers nothing again`() = runBlocking {
        val gateway = fake.gateway.withJournal(journal).withNote("cart 17")
        val payment = gateway.createMbankPayment(mbankPayment()).payment
        val callback = Callback.parse(fake.charge(payment.orderNumber!!).callback)
        repeat(2) {
            val verdict = assertInstanceOf<Verdict.Charged>(gateway.verifyCallback(callback, payment))
            val entry = journal.entry(verdict.payment)!!
            assertEquals(JournalState.CHARGED, entry.state)
            if (!entry.isFinished) {
                delivered += entry.note
                gateway.finish(entry)
            }
        }
        assertEquals(listOf<String?>("cart 17"), delivered)
    }

    @Test
    fun `payment that was not paid says why`() = runBlocking {
        val said = response(200, """{"code":"116","message":"NO FUNDS","data":{"orderNumber":"o-1","amount":100.10,"status":"REJECT"}}""")
        ScriptedServer(listOf(CREATED, said)).use { server ->
            Gateway(configOf(server.url), journal).use { gateway ->
                val payment = gateway.createCardPayment(cardPayment(orderNumber = "o-1")).payment
                val recovered = assertInstanceOf<Recovered.Payment>(gateway.recover().single())
                assertEquals(JournalState.REJECTED to "NO FUNDS", recovered.entry.run { state to reason })
                assertEquals(recovered.entry, journal.entry(payment))
            }
        }
    }

    @Test
    fun `three gateways and the journal itself list the same, however often`() = runBlocking {
        val gateways = Triple(fake.gateway.withJournal(journal), fake.blocking.withJournal(journal), fake.future.withJournal(journal))
        val (gateway, blocking, future) = gateways
        val orders = List(3 * PAGE / 2) { mbankPayment() }
        coroutineScope {
            for (order in orders) launch(Dispatchers.Default) { gateway.createMbankPayment(order) }
        }
        val flow = gateway.unfinished()
        val listed = flow.toList()
        assertEquals(orders.map { it.orderNumber }.toSet(), listed.map { (it as Unfinished.Payment).entry.payment.orderNumber }.toSet())
        assertEquals(orders.size, listed.size)
        assertEquals(listed, flow.toList())
        val items = blocking.unfinished()
        assertEquals(listOf(listed, listed), listOf(items.toList(), items.toList()))
        assertEquals(listed, journal.unfinished().toList())
        val pages = future.unfinished()
        assertEquals(listOf(PAGE, PAGE / 2, 0, 0), List(4) { pages.nextPage().join().size })

        val (first, second, third, fourth) = listed.map { (it as Unfinished.Payment).entry }
        gateway.finish(first)
        blocking.finish(second)
        assertNull(future.finish(third).join())
        journal.finish(fourth)
        assertEquals(listed.drop(4), flow.toList())
    }

    @Test
    fun `flow that is cancelled midway finishes nothing, and keeps nobody waiting`() = runBlocking {
        val gateway = fake.gateway.withJournal(journal)
        repeat(3) { gateway.createMbankPayment(mbankPayment()) }
        val (seen, isAtSecond) = mutableListOf<Unfinished>() to CompletableDeferred<Unit>()
        val collecting = launch(Dispatchers.Default) {
            gateway.unfinished().collect { item ->
                seen += item
                if (seen.size == 2) isAtSecond.complete(Unit).also { awaitCancellation() }
            }
        }
        isAtSecond.await()
        collecting.cancelAndJoin()
        assertEquals(seen, gateway.unfinished().toList().take(2))
        assertEquals(3, gateway.unfinished().toList().size)
    }

    @Test
    fun `killed program leaves its payment to the next one`() = ScriptedServer(listOf(held(CREATED), CHARGED)).use { server ->
        val java = Path(System.getProperty("java.home"), "bin", "java").toString()
        val program = listOf(java, "-cp", System.getProperty("java.class.path"), KilledProgram::class.java.name, server.url, "$folder")
        val process = ProcessBuilder(program).redirectErrorStream(true).redirectOutput(ProcessBuilder.Redirect.DISCARD).start()
        try {
            assertTrue(server.waitForRequests(1))
        } finally {
            process.destroyForcibly()
        }
        assertTrue(process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS))
        BlockingGateway(configOf(server.url), journal).use { gateway ->
            val (entry) = gateway.unfinished().map { (it as Unfinished.Payment).entry }
            assertEquals(listOf("o-1", JournalState.UNKNOWN, "cart 17"), listOf(entry.payment.orderNumber, entry.state, entry.note))
            val again = assertThrows<PaymentException.OutcomeUnknown> { gateway.createCardPayment(cardPayment(orderNumber = "o-1")) }
            assertEquals(1, server.received.size, again.message)
            assertInstanceOf<Verdict.Charged>(gateway.check(entry.payment))
            assertEquals(listOf(entry.copy(state = JournalState.CHARGED)), gateway.unfinished().map { (it as Unfinished.Payment).entry })
            gateway.finish(entry)
            assertEquals(emptyList<Unfinished>(), gateway.unfinished().toList())
        }
    }

    @Test
    fun `every way to another gateway keeps the journal, and one without it is refused at once`() {
        val gateway = fake.gateway.withJournal(journal).withDeadline(5.seconds).withNote("cart 17")
        assertSame(journal, gateway.journal)
        assertNull(fake.gateway.journal)
        assertThrows<PaymentException.Misconfigured> { fake.gateway.withNote("cart 17") }
        assertThrows<PaymentException.Misconfigured> { fake.gateway.unfinished() }
        assertThrows<PaymentException.Misconfigured> { fake.blocking.unfinished() }
        assertThrows<PaymentException.Misconfigured> { fake.future.unfinished() }
        assertThrows<PaymentException.Misconfigured> { fake.gateway.recover() }
        assertThrows<PaymentException.Misconfigured> { fake.blocking.recover() }
        assertThrows<PaymentException.Misconfigured> { fake.future.recover() }
        val error = assertThrows<CompletionException> { fake.future.finish("o-1").join() }
        assertInstanceOf<PaymentException.Misconfigured>(error.cause)
        assertThrows<PaymentException.Invalid> { gateway.withNote("\uD83D") }
    }

    @Test
    fun `journal that is lost while it is read is an error, and no end`() {
        val gateway = fake.blocking.withJournal(journal)
        gateway.createMbankPayment(mbankPayment())
        val items = gateway.unfinished()
        assertEquals(1, items.count())
        folder.toFile().deleteRecursively()
        assertThrows<PaymentException.Unavailable> { items.count() }
        assertThrows<PaymentException.Unavailable> { runBlocking { fake.gateway.withJournal(journal).unfinished().toList() } }
        val error = assertThrows<CompletionException> { fake.future.withJournal(journal).unfinished().nextPage().join() }
        assertInstanceOf<PaymentException.Unavailable>(error.cause)
    }

    @OptIn(ExperimentalPathApi::class)
    @Test
    fun `no secret is printed or stored`() {
        val (pan, cvc, otp) = listOf("4111111111111111", "~Q7", "913571")
        val echoes = listOf("CREATED for $pan, $cvc", "CREATED", "$otp is wrong")
        ScriptedServer(echoes.map { response(200, """{"code":"110","message":"$it","data":{"status":"$it"}}""") }).use { server ->
            BlockingGateway(configOf(server.url), journal).use { gateway ->
                val told = listOf(
                    gateway.createCardPayment(cardPayment(card(pan, cvc))),
                    runCatching { gateway.confirmMbankPayment(gateway.createMbankPayment(mbankPayment()).payment, otp) },
                    runCatching { gateway.createCardPayment(cardPayment(card(pan, cvc)).copy(currency = pan)) },
                    gateway.unfinished().toList(),
                ).joinToString { if (it is Result<*> && it.isFailure) it.exceptionOrNull()!!.stackTraceToString() else "$it" }
                val stored = folder.walk().filter { it.isRegularFile() }.joinToString("") { it.readText() }
                assertTrue("CREATED" in told && "kassa1" in stored, "$told\n$stored")
                val secrets = listOf(pan, "4111 1111 1111 1111", cvc, "the-password-of-the-tests")
                assertEquals(emptyList<String>(), secrets.filter { it in told || it in stored })
                assertEquals(emptyList<String>(), listOf(told, stored).filter { Regex("\\b$otp\\b") in it })
            }
        }
    }

    @Test
    fun `only a folder of the machine itself holds one`() {
        assertEquals("Journal($folder)", "${Journal.open(folder.toFile())}")
        val file = folder.resolve("file").apply { writeText("") }
        assertThrows<PaymentException.Misconfigured> { Journal.open(file) }
        assertThrows<PaymentException.Misconfigured> { Journal.open(Path("")) }
        FileSystems.newFileSystem(URI("jar:${folder.resolve("a.zip").toUri()}"), mapOf("create" to "true")).use { zip ->
            assertThrows<PaymentException.Misconfigured> { Journal.open(zip.getPath("/journal")) }
        }
    }

    private companion object {
        /** How many entries the core hands on at once. */
        const val PAGE = 128
    }
}

/** Sends a payment, whose answer does not come in its lifetime. */
internal object KilledProgram {
    @JvmStatic
    fun main(arguments: Array<String>) {
        val (url, folder) = arguments
        BlockingGateway(configOf(url), Journal.open(Path(folder))).withNote("cart 17").createCardPayment(cardPayment(orderNumber = "o-1"))
    }
}
