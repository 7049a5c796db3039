package dev.kassa.readme

import dev.kassa.checkout.Stage
import dev.kassa.support.at
import dev.kassa.support.isTrue
import dev.kassa.support.items
import kotlinx.coroutines.runBlocking
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** The payment screen of the package's README. */
class PaymentScreenTest {
    @Test
    fun `payer pays on it by phone and code`() = runBlocking {
        Stage.open().use { scene ->
            val lines = mutableListOf<String>()
            val screen = PaymentScreen(scene.serverUrl, "ct_run_out", scene::newToken)
            screen.use {
                screen.show { line ->
                    lines += line
                    when {
                        line.startsWith("How do you want to pay?") -> screen.enterPhone("996555000101")
                        line.startsWith("The code from the SMS?") -> screen.enterCode("101101")
                        line.startsWith("Thank you") -> screen.close()
                    }
                }
            }
            assertEquals("Thank you for 390 KGS", lines.last())
            assertTrue("The code from the SMS? You may try 3 times" in lines, "$lines")
            assertEquals(listOf(true), scene.step("ledger").items.map { it.at("is_charged").isTrue })
        }
    }
}
