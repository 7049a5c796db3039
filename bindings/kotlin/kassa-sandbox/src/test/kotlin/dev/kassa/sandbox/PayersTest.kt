package dev.kassa.sandbox

import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test
import java.nio.file.Files
import java.nio.file.Path

/** The test data is what the sandbox's own page says. */
class PayersTest {
    private val tables = Files.readAllLines(Path.of(System.getProperty("kassa.repository"), "sandbox", "README.md"))
        .filter { it.startsWith("| `") }
        .map { line -> line.trim('|', ' ').split(" | ").map { it.trim('`', ' ') } }

    @Test
    fun `every test card is there`() {
        val checks = mapOf("3DS 2.0" to ThreeDs.V2, "3DS 1.0" to ThreeDs.V1, "without 3DS" to ThreeDs.NONE)
        val cards = tables.filter { it.size == 4 && it[1] in checks }
            .map { (pan, check, outcome, otp) ->
                TestCard(pan, checks.getValue(check), outcome(outcome), otp.takeIf { it != "none" })
            }
        assertEquals(cards, TestCards.ALL)
    }

    @Test
    fun `every test phone is there`() {
        val providers = mapOf("MBank" to Sandbox.Provider.M_BANK, "MegaPay" to Sandbox.Provider.MEGA_PAY)
        val phones = tables.filter { it.size == 4 && it[1] in providers }
            .map { (phone, provider, outcome, otp) -> TestPhone(phone, providers.getValue(provider), outcome(outcome), otp) }
        assertEquals(phones, TestPhones.ALL)
    }

    private fun outcome(words: String) = Outcome.valueOf(words.uppercase().replace(' ', '_'))
}
