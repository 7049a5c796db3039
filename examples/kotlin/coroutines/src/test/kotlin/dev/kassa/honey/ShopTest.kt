package dev.kassa.honey

import dev.kassa.Journal
import dev.kassa.StopSignal
import dev.kassa.sandbox.Endpoint
import dev.kassa.sandbox.FaultName
import dev.kassa.sandbox.Sandbox
import dev.kassa.sandbox.TestPhones
import dev.kassa.sandbox.junit.WithSandbox
import dev.kassa.testing.FakeGateway
import kotlinx.coroutines.async
import kotlinx.coroutines.delay
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withTimeout
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.io.TempDir
import java.net.URI
import java.net.http.HttpClient
import java.net.http.HttpRequest
import java.net.http.HttpRequest.BodyPublishers
import java.net.http.HttpResponse.BodyHandlers
import java.nio.file.Path
import java.util.concurrent.TimeUnit
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds

/** The upper bound of a wait. The environment variable `KASSA_PATIENCE` multiplies it on a slow machine. */
private val PATIENCE = 60.seconds * (System.getenv("KASSA_PATIENCE") ?: "1").toDouble()

class ShopTest {
    @TempDir
    lateinit var folder: Path

    // docs: begin fake
    @Test
    fun `who pays is delivered to`() = runBlocking {
        val fake = FakeGateway()
        val gateway = fake.gateway.withJournal(Journal.open(folder))
        val orders = Orders()
        val shop = Shop(gateway, orders)
        val stop = StopSignal()
        val worker = async { gateway.deliverForever(stop) { orders.deliverOnce(it.note!!) } }

        assertEquals(200, shop.pay("order-1", "996555000101").status)
        assertEquals(422, shop.confirm("order-1", "no code").status)
        assertEquals("waiting", shop.state("order-1").body)
        assertEquals(200, shop.confirm("order-1", fake.otp).status)
        waitUntil { shop.state("order-1").body == "delivered" } // the worker queried it

        stop.stop()
        assertEquals(0, worker.await().undecided.size)
    }
    // docs: end fake

    // docs: begin sandbox
    @Test
    @WithSandbox
    fun `lost answer is no failed payment`(sandbox: Sandbox) = runBlocking {
        Program(sandbox, folder).use { shop ->
            val phone = TestPhones.MBANK_APPROVED
            assertEquals(200, shop.post("/orders/order-1/pay", phone.phone))
            sandbox.faults.add(FaultName.RESPONSE_LOST, endpoint = Endpoint.MBANK_CONFIRM, times = 1)
            assertEquals(202, shop.post("/orders/order-1/code", phone.otp))
            waitUntil { shop.get("/orders/order-1") == "delivered" }
            assertEquals(1, sandbox.payment("order-1").timesCharged)
            assertTrue("1 delivered; left open: nothing" in shop.end())
        }
    }
    // docs: end sandbox
}

private suspend fun waitUntil(condition: () -> Boolean) = withTimeout(PATIENCE) { while (!condition()) delay(20.milliseconds) }

/** The program in a JVM of its own. */
private class Program(sandbox: Sandbox, folder: Path) : AutoCloseable {
    private val java = Path.of(System.getProperty("java.home"), "bin", "java").toString()
    private val classPath = System.getProperty("java.class.path")
    private val process = ProcessBuilder(java, "-XX:TieredStopAtLevel=1", "-cp", classPath, "dev.kassa.honey.ShopKt")
        .directory(folder.toFile())
        .redirectErrorStream(true)
        .apply { environment() += sandbox.environment() + ("PORT" to "0") }
        .start()
    private val output = process.inputStream.bufferedReader()
    private val client = HttpClient.newHttpClient()
    private val url = "http://127.0.0.1:" + output.lineSequence().first { "listening on " in it }.substringAfter("listening on ")

    fun get(path: String): String = client.send(HttpRequest.newBuilder(URI(url + path)).build(), BodyHandlers.ofString()).body()

    fun post(path: String, body: String): Int {
        val request = HttpRequest.newBuilder(URI(url + path)).POST(BodyPublishers.ofString(body)).build()
        return client.send(request, BodyHandlers.ofString()).statusCode()
    }

    /** By SIGTERM; what it printed at its end. */
    fun end(): String {
        process.toHandle().destroy() // that of the process closes its output, too
        val printed = output.readText()
        assertTrue(process.waitFor(PATIENCE.inWholeSeconds, TimeUnit.SECONDS))
        return printed
    }

    override fun close() {
        process.destroyForcibly().waitFor()
    }
}
