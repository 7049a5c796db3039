package dev.kassa.checkout

import dev.kassa.sandbox.Sandbox
import dev.kassa.sandbox.SandboxOptions
import dev.kassa.sandbox.TestCards
import dev.kassa.sandbox.junit.SandboxExtension
import kotlinx.serialization.json.JsonNull
import kotlinx.serialization.json.jsonArray
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.extension.RegisterExtension
import org.junit.jupiter.api.io.TempDir
import java.math.BigDecimal
import java.nio.file.Files
import java.nio.file.Path
import kotlin.time.Duration.Companion.milliseconds

/** Each command, against a sandbox. */
class CheckoutTest(private val gateway: Sandbox) {
    @TempDir
    lateinit var folder: Path
    private val shop by lazy { Program(folder, gateway) }

    @Test
    fun `all takes four payments to their end`() {
        val shop = Program(folder)
        val run = shop.run("all").expect(0)
        for (words in listOf("1/4  Card with 3DS", "4/4  Dynamic QR code", "│ Flow", "│ qr", "█▄▄▄█", "All four payments ended as expected")) {
            assertTrue(words in run.stdout, "$words is not in\n${run.stdout}")
        }
        assertFalse('\u001b' in run.stdout, "colours are for terminals")
        assertEquals(2, run.stdout.split("charged 100.10 KGS").size - 1, "told at the end of the flow and in the table")
        assertEquals(4, run.stdout.split(" 1 charged").size - 1)
        assertEquals(List(4) { "charged" }, shop.payments.map { it.second })
    }

    @Test
    fun `all tells programs in one line`() {
        val run = shop.run("all", "--json").expect(0)
        assertTrue("4/4  Dynamic QR code" in run.stderr, "the story goes to standard error")
        assertEquals(listOf("true", "all", "0"), listOf("ok", "command", "exit_code").map { run.line.text(it) })
        val flows = run.line.at("flows").jsonArray
        assertEquals(listOf("card", "mbank", "pay-form", "qr"), flows.map { it.text("flow") })
        for (flow in flows) {
            assertEquals("charged" to "charged", flow.text("outcome") to flow.text("callbacks", 0, "verdict"))
            assertEquals(JsonNull to "true", flow.at("error") to flow.text("status", "is_final"))
        }
    }

    @Test
    fun `cards are taken, asked about and watched`() {
        val card = shop.json(0, "card", "--order-number", "CARD-1", "--amount", "17.30")
        assertEquals("OpenConfirmation", card.text("answer", "next_step", "kind"))
        assertEquals(BigDecimal("17.30"), gateway.payment("CARD-1").amount)
        val byReference = arrayOf("--payment", card.text("payment")!!)
        val byNumber = arrayOf("--order-number", "CARD-1", "--provider", "cards")
        for (subject in listOf(byReference, byNumber)) {
            assertEquals("17.30", shop.json(0, "status", *subject).text("answer", "amount"))
        }
        assertEquals("charged", shop.json(0, "status", *byReference).text("verdict"))
        assertEquals("charged", shop.json(0, "watch", *byReference).text("outcome"))
        assertEquals("charged", shop.json(0, "watch", *byNumber, "--amount", "17.3").text("outcome"))
        assertEquals("person_needed", shop.json(3, "watch", *byNumber, "--amount", "17.31").text("outcome"))
        shop.run("watch", *byNumber).expect(2)
    }

    @Test
    fun `MBank payments are confirmed later`() {
        assertEquals("created", shop.json(0, "mbank", "--order-number", "MBANK-1", "--no-wait").text("outcome"))
        assertEquals("CREATED", gateway.payment("MBANK-1").status)
        val wrong = shop.json(1, "confirm", "--order-number", "MBANK-1", "--otp", "999999")
        assertEquals("Refused" to "open", wrong.text("error", "kind") to wrong.text("outcome"))
        shop.run("confirm", "--order-number", "MBANK-1", "--otp", "101101").expect(0)
        assertTrue(gateway.payment("MBANK-1").isCharged)
        assertEquals(listOf("charged"), shop.payments.map { it.second })
    }

    @Test
    fun `pay-forms are paid in each way`() {
        for (payWith in listOf("card", "mbank", "megapay")) {
            val order = shop.json(0, "pay-form", "--pay-with", payWith).text("order_number")!!
            assertTrue(order.startsWith("PF-") && gateway.payment(order).isCharged)
        }
    }

    @Test
    fun `QR codes are drawn, or saved as the gateway's picture`() {
        val qr = shop.json(0, "qr")
        assertEquals("charged", qr.text("callbacks", 0, "verdict"))
        val status = shop.json(0, "status", "--transaction-id", qr.text("answer", "transaction_id")!!)
        assertEquals("charged" to "12050", status.text("answer", "status") to status.text("answer", "amount"))
        assertEquals("created", shop.json(0, "qr", "--image", "code.png", "--no-wait").text("outcome"))
        assertEquals("PNG", Files.readAllBytes(folder.resolve("code.png")).decodeToString(1, 4))
        shop.run("qr", "--amount", "open").expect(0)
        assertEquals(BigDecimal(4250), gateway.ledger().last().amount)
    }

    @Test
    fun `payments that end otherwise end the program otherwise`() {
        val declined = shop.json(1, "card", "--pan", TestCards.DECLINED.pan)
        assertEquals("rejected" to "rejected", declined.text("outcome") to declined.text("callbacks", 0, "verdict"))
        shop.run("qr", "--decline").expect(1)
        val pending = shop.json(3, "card", "--pan", TestCards.STUCK_PENDING.pan, "--deadline", "1")
        assertEquals("open" to "DeadlineExpired", pending.text("outcome") to pending.text("watch_error", "kind"))
        assertEquals(listOf("rejected", "rejected", "open"), shop.payments.map { it.second })
    }

    @Test
    fun `what is invalid is named and not sent`() {
        val line = shop.json(1, "card", "--cvc", "1", "--ip", "nowhere", "--expiry-month", "13")
        assertEquals(listOf("expiryMonth", "cvc", "ip"), line.at("error", "violations").jsonArray.map { it.text("field") })
        assertEquals("false" to 0, line.text("error", "payment_may_exist") to gateway.requests().size)
        assertEquals(listOf("not_made"), shop.payments.map { it.second })
    }

    @Test
    fun `callbacks are checked, and told apart where they are listened for`() {
        shop.run("card", "--order-number", "CARD-2", "--pan", TestCards.WITHOUT_3DS_APPROVED.pan).expect(0)
        val body = firstCallback(gateway)
        fun check(body: String, vararg arguments: String) = shop.run("callback", "--file", "-", "--json", *arguments, input = body)
        val named = arrayOf("--order-number", "CARD-2", "--provider", "cards")
        val good = check(body, *named, "--amount", "100.10").expect(0)
        assertEquals("charged", good.line.text("callbacks", 0, "verdict"))
        assertEquals("amount", check(body, *named, "--amount", "500").expect(1).line.text("callbacks", 0, "fields", 0))
        check(body).expect(0)
        check("{}").expect(1)

        val story = shop.start("callback", "--count", "2", "--deadline", "60")
        val url = story.urlAfter("Callbacks at")
        assertEquals(400, post(url, "{}", "application/json"))
        assertEquals(200, post(url, body, "application/json"))
        story.lineWith("CARD-2 charged, amount 100.10 KGS; asked, the gateway says: charged")
        assertEquals(200, post(url, body.replace(",", ", "), "application/json"))
        story.lineWith("CARD-2: the same once more")
        assertEquals(200, post(url, body.replace("CARD-2", "NONE"), "application/json"))
        story.end().expect(3)
    }

    @Test
    fun `a person finishes the payments`() {
        val shop = Program(folder)
        val story = shop.start("all", "--interactive")
        assertEquals(303, post(story.urlAfter("payer     open"), "otp=123456"))
        story.lineWith("type the one-time password")
        story.type("101101")
        val page = story.urlAfter("payer     open")
        assertEquals(303, post(page, "provider=MBank&phone=996555000101"))
        assertEquals(303, post(page.replace("/pay-form?", "/wallet?"), "otp=101101"))
        assertEquals(200, post(story.urlAfter("payer     open"), "action=approve"))
        assertTrue("All four payments ended as expected" in story.end().expect(0).stdout)
    }

    @Test
    fun `wrong command lines are told as such`() {
        for (arguments in listOf(
            listOf("card", "--amount", "much"),
            listOf("status"),
            listOf("card", "--expiry-year", "later"),
            listOf("status", "--payment", "kassa9:x"),
            listOf("card", "--poll-interval", "0"),
        )) {
            val run = shop.run(*arguments.toTypedArray(), "--json").expect(2)
            assertEquals("Usage" to "false", run.line.text("error", "kind") to run.line.text("error", "payment_may_exist"))
        }
        val abroad = shop.run("all", environment = mapOf("KASSA_URL" to "https://pay.example.kg")).expect(2)
        assertTrue("--interactive" in abroad.stderr)
        assertFalse(Files.exists(shop.state), "nothing was begun")
        assertEquals(0, gateway.requests().size)
    }

    @Test
    fun `times are read with and without a unit`() {
        for ((text, millis) in listOf("10" to 10_000L, "0.5" to 500L, "250ms" to 250L, "20m" to 1_200_000L)) {
            assertEquals(millis.milliseconds, dev.kassa.checkout.commands.time(text), text)
        }
        for (text in listOf("", "0", "-1", "s", "5h", "1e400", "NaN", "ü", "525601m")) {
            assertEquals(null, dev.kassa.checkout.commands.time(text), text)
        }
    }

    @Test
    fun `control characters of strangers are shown as what they are`() {
        assertEquals("paid\\u001b[2J\\u000a\\u009b, сом", visible("paid\u001b[2J\n\u009b, сом"))
    }

    companion object {
        @JvmField
        @RegisterExtension
        val sandbox = SandboxExtension(SandboxOptions(password = PASSWORD))
    }
}
