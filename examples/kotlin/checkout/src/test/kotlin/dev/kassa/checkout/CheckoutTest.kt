package dev.kassa.checkout

import dev.kassa.PaymentRef
import dev.kassa.sandbox.FaultName
import dev.kassa.sandbox.Sandbox
import dev.kassa.sandbox.TestCards
import dev.kassa.sandbox.junit.WithSandbox
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.Timeout
import org.junit.jupiter.api.io.TempDir
import java.math.BigDecimal
import java.nio.file.Path
import kotlin.io.path.ExperimentalPathApi
import kotlin.io.path.isRegularFile
import kotlin.io.path.readText
import kotlin.io.path.walk
import kotlin.time.Duration.Companion.minutes

private const val CVC = "~Q7"

/** Each program, against a sandbox. The timeout stops only what hangs. */
@WithSandbox
@Timeout(1800, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class CheckoutTest(private val sandbox: Sandbox) {
    @TempDir
    lateinit var folder: Path

    @Test
    fun `card with 3DS and a QR code, by programs that share a journal`() {
        start("CardKt", "100.10", pan = TestCards.APPROVED.pan).use { card ->
            start("QrKt", "120.50").use { qr ->
                assertEquals(200, post(card.after("open: "), "otp=${TestCards.APPROVED.otp}"))
                assertEquals(200, post(qr.after("or open: "), "action=approve"))
                for (program in listOf(card, qr)) program.after("paid: deliver two coffees")
                assertEquals(listOf(0, 0), listOf(card.end(), qr.end()))
            }
        }
        assertEquals(2, sandbox.ledger().count { it.isCharged })
        assertEquals(0, start("ResumeKt").use { it.end() })
    }

    @Test
    fun `mobile bank`() = start("MbankKt", "996555000101", "250").use { program ->
        program.type("101101")
        program.after("paid: deliver two coffees")
        assertEquals(0, program.end())
    }

    @Test
    fun `MegaPay shows the total before the PIN`() = start("MegapayKt", "996755000201", "250.50", "7").use { program ->
        assertEquals("255.51 som", program.after("total: "))
        program.type("201201")
        program.after("paid: deliver two coffees")
        assertEquals(0, program.end())
    }

    @Test
    fun `pay-form, whose callback is proved as soon as the gateway can be queried`() = start("PayFormKt", "100.10").use { program ->
        val page = program.after("open: ")
        assertEquals(303, post(page, "provider=MBank&phone=996555000101"))
        sandbox.faults.add(FaultName.UNAVAILABLE)
        assertEquals(303, post(page.replace("/pay-form?", "/wallet?"), "otp=101101"))
        program.after("Not available")
        sandbox.faults.clear()
        program.after("paid: deliver two coffees")
        assertEquals(0, program.end())
        assertTrue(sandbox.ledger().single().isCharged)
    }

    @Test
    fun `what a killed program left behind is resumed, and charged once`() {
        sandbox.faults.add(FaultName.DELAY, delay = 5.minutes)
        start("CardKt", "100.10", pan = TestCards.WITHOUT_3DS_APPROVED.pan).use { program ->
            while (sandbox.ledger().isEmpty() && program.isAlive) Thread.sleep(10)
            program.kill()
        }
        sandbox.faults.clear()
        start("ResumeKt").use { program ->
            program.after("paid: deliver two coffees")
            assertEquals(0, program.end())
        }
        assertEquals(1, sandbox.ledger().single().timesCharged)
        assertEquals("", start("ResumeKt").use { it.all() })
    }

    @Test
    fun `support desk asks by what was stored`() {
        assertEquals(0, start("CardKt", "100.10", pan = TestCards.WITHOUT_3DS_APPROVED.pan).use { it.end() })
        val stored = PaymentRef.card(sandbox.ledger().single().orderNumber, BigDecimal("100.10"), "KGS").toString()
        assertEquals("charged: $stored\n", start("CheckKt", stored).use { it.all() })
        val other = start("CheckKt", stored.replace("100.10", "1")).use { it.all() }
        assertTrue(other.startsWith("a person should look: Mismatch(payment=") && "fields=[amount]" in other, other)
    }

    @OptIn(ExperimentalPathApi::class)
    @Test
    fun `no secret is printed or stored`() {
        val pan = TestCards.WITHOUT_3DS_APPROVED.pan
        val told = start("CardKt", "100.10", pan = pan).use { it.all() } + start("CardKt", "much", pan = "$pan ").use { it.all() }
        val stored = folder.walk().filter { it.isRegularFile() }.joinToString("") { it.readText() }
        for (text in listOf(told, stored)) {
            assertFalse(pan in text || CVC in text || sandbox.password in text, text)
        }
    }

    private fun start(program: String, vararg arguments: String, pan: String = ""): Program = Program(
        listOf("dev.kassa.checkout.$program", *arguments),
        mapOf(
            "KASSA_URL" to sandbox.baseUrl,
            "KASSA_LOGIN" to sandbox.login,
            "KASSA_PASSWORD" to sandbox.password,
            // Without it, nobody can say that a pay-form's number is not that of a QR payment.
            "KASSA_DIALECT" to "${Path.of("../../sandbox-dialect.json").toAbsolutePath()}",
            "KASSA_JOURNAL" to "$folder",
            "KASSA_PORT" to "0",
            "KASSA_CALLBACK_SECRET" to "32 characters that nobody guesses",
            "KASSA_CARD_PAN" to pan,
            "KASSA_CARD_CVC" to CVC,
        ),
    )
}
