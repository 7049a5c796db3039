package dev.kassa.checkout

import dev.kassa.sandbox.FaultName
import dev.kassa.sandbox.Sandbox
import dev.kassa.sandbox.SandboxOptions
import dev.kassa.sandbox.TestCards
import dev.kassa.sandbox.junit.SandboxExtension
import kotlinx.serialization.json.jsonArray
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.extension.RegisterExtension
import org.junit.jupiter.api.io.TempDir
import java.nio.file.Files
import java.nio.file.Path
import java.util.concurrent.TimeUnit.SECONDS
import kotlin.time.Duration.Companion.minutes

/** Charged as soon as the gateway has the request. */
private val CARD_AT_ONCE = TestCards.WITHOUT_3DS_APPROVED.pan

/** What happens to the money when replies, programs and passwords get lost. */
class MoneySafetyTest(private val gateway: Sandbox) {
    @TempDir
    lateinit var folder: Path
    private val shop by lazy { Program(folder, gateway) }

    @Test
    fun `a program killed after sending finds its payment again`() {
        gateway.faults.add(FaultName.DELAY, "KILLED-1", delay = 5.minutes)
        val running = shop.start("card", "--order-number", "KILLED-1", "--pan", CARD_AT_ONCE)
        val deadline = System.nanoTime() + SECONDS.toNanos(60)
        while (gateway.ledger("KILLED-1").isEmpty()) {
            assertTrue(System.nanoTime() < deadline, "it was never sent")
            Thread.sleep(10)
        }
        running.process.destroyForcibly().waitFor()
        val reference = "kassa1:kind=card&order=KILLED-1&provider=Cards&amount=100.10&currency=KGS"
        assertEquals(listOf(reference to "open"), shop.payments)

        gateway.faults.clear()
        val resumed = shop.json(0, "watch", "--resume")
        assertEquals(reference to "charged", resumed.text("payments", 0, "payment") to resumed.text("payments", 0, "outcome"))
        assertEquals(listOf(reference to "charged"), shop.payments)
        assertTrue(shop.json(0, "watch", "--resume").at("payments").jsonArray.isEmpty(), "what is over is not asked about again")
        assertEquals(1, gateway.payment("KILLED-1").timesCharged)
    }

    @Test
    fun `a lost reply is an unknown outcome, and is found by asking`() {
        val fault = gateway.faults.add(FaultName.REPLY_LOST, "LOST-1", times = 1)
        val run = shop.run("card", "--order-number", "LOST-1", "--pan", CARD_AT_ONCE, "--json").expect(0)
        assertEquals(1, fault.struck)
        assertEquals(listOf("OutcomeUnknown", "true"), listOf("kind", "payment_may_exist").map { run.line.text("error", it) })
        assertEquals("charged", run.line.text("outcome"))
        assertTrue("the payment may have happened" in run.stderr && "it is not sent again" in run.stderr)
        assertEquals(1, gateway.payment("LOST-1").timesCharged)
    }

    @Test
    fun `an outcome that stays unknown is left open`() {
        gateway.faults.add(FaultName.REPLY_LOST, "LOST-2")
        gateway.faults.add(FaultName.CALLBACK_LOST, "LOST-2")
        val line = shop.json(3, "mbank", "--order-number", "LOST-2", "--deadline", "700ms")
        assertEquals("OutcomeUnknown" to "unknown", line.text("error", "kind") to line.text("outcome"))
        assertEquals(listOf("open"), shop.payments.map { it.second })
    }

    @Test
    fun `a wrong password moves no money`() {
        val line = Program(folder, gateway, "wrong").json(1, "card")
        assertEquals("Unauthorized" to "false", line.text("error", "kind") to line.text("error", "payment_may_exist"))
        assertEquals(listOf("not_made"), shop.payments.map { it.second })
        assertTrue(gateway.ledger().isEmpty())
    }

    @Test
    fun `without a usable state file nothing is sent`() {
        for (text in listOf("not JSON", """{"version": 2, "payments": []}""", """{"version": 1, "payments": [{}]}""")) {
            Files.writeString(shop.state, text)
            assertEquals("State", shop.json(1, "mbank").text("error", "kind"))
            assertEquals(text, Files.readString(shop.state), "what is not understood is not overwritten")
        }
        assertTrue(gateway.requests().isEmpty())
    }

    @Test
    fun `programs that run at once lose none of each other's payments`() {
        val running = List(4) { shop.start("mbank", "--no-wait") }
        running.forEach { it.end().expect(0) }
        assertEquals(4, shop.payments.size)
    }

    @Test
    fun `an order that paid once pays for nothing else`() {
        shop.run("pay-form").expect(0)
        val paid = firstCallback(gateway)
        val story = shop.start("pay-form", "--interactive", "--deadline", "60")
        val callbacks = story.urlAfter("Callbacks at")
        val reference = story.lineWith("our reference").substringAfterLast(" ")
        val page = story.urlAfter("payer     open")
        assertEquals(200, post("$callbacks?ref=$reference", paid, "application/json"))
        story.lineWith("pays for another payment already")
        assertEquals(303, post(page, "provider=MBank&phone=996555000101"))
        assertEquals(303, post(page.replace("/pay-form?", "/wallet?"), "otp=101101"))
        story.end().expect(0)
        val orders = gateway.ledger().map { it.orderNumber }
        for ((payment, order) in shop.payments.map { it.first } zip orders) assertTrue(order in payment)
    }

    @Test
    fun `a callback that could not be checked is checked again`() {
        val story = shop.start("pay-form", "--interactive", "--deadline", "60")
        val page = story.urlAfter("payer     open")
        gateway.faults.add(FaultName.UNAVAILABLE)
        assertEquals(303, post(page, "provider=MBank&phone=996555000101"))
        assertEquals(303, post(page.replace("/pay-form?", "/wallet?"), "otp=101101"))
        story.lineWith("the gateway could not be asked (Unavailable")
        gateway.faults.clear()
        story.lineWith("asked, the gateway says: charged")
        story.end().expect(0)
    }

    @Test
    fun `no secret is printed or stored`() {
        val pan = TestCards.APPROVED.pan
        val line = """{"password": "$PASSWORD", "pan": "$pan", "cvc": "$CVC", "otp": "123456"}""" + "\n"
        // What the environment says is wrong, and goes after the line.
        val wrong = mapOf("KASSA_PASSWORD" to "wrong", "KASSA_OTP" to "000000")
        fun secretly(vararg arguments: String) = shop.run(*arguments, "--secrets-stdin", input = line, environment = wrong)
        val runs = listOf(
            secretly("card").expect(0),
            secretly("card", "--ip", "x", "--json").expect(1),
            secretly("pay-form", "--pay-with", "card").expect(0),
            secretly("card", "--deadline", "x").expect(2),
        )
        val texts = runs.flatMap { listOf(it.stdout, it.stderr) } + Files.readString(shop.state)
        // As a word: numbers that are made up have digits of any kind.
        val otp = Regex("\\b123456\\b")
        for (text in texts) {
            for (secret in listOf(pan, "4111 1111 1111 1111", CVC, PASSWORD)) assertFalse(secret in text, "$secret is in\n$text")
            assertFalse(otp in text, "the one-time password is in\n$text")
        }
        val refused = shop.run("card", "--secrets-stdin", input = """{"pan": 4111111111111111}""").expect(2)
        assertFalse("4111" in refused.stderr)
        val help = shop.run("card", "--help", environment = mapOf("KASSA_CARD_PAN" to TestCards.DECLINED.pan)).expect(0)
        assertTrue("--expiry-month" in help.stdout && TestCards.DECLINED.pan !in help.stdout)
    }

    companion object {
        @JvmField
        @RegisterExtension
        val sandbox = SandboxExtension(SandboxOptions(password = PASSWORD))
    }
}
