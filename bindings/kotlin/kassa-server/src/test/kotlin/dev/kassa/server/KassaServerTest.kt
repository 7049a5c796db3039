package dev.kassa.server

import dev.kassa.sandbox.DialectName
import dev.kassa.sandbox.Sandbox
import dev.kassa.sandbox.SandboxOptions
import dev.kassa.sandbox.TestPhones
import dev.kassa.server.junit.WithKassaServer
import kotlinx.serialization.json.Json
import kotlinx.serialization.json.jsonObject
import kotlinx.serialization.json.jsonPrimitive
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows
import org.junit.platform.engine.discovery.DiscoverySelectors.selectClass
import org.junit.platform.testkit.engine.EngineTestKit
import java.time.Duration

/** The upper bound of a wait. The environment variable `KASSA_PATIENCE` multiplies it on a slow machine. */
private val PATIENCE = Duration.ofSeconds((60 * (System.getenv("KASSA_PATIENCE") ?: "1").toDouble()).toLong())

class KassaServerTest {
    @Test
    fun `run has one server, with a gateway behind it, and leaves nothing`() {
        val run = EngineTestKit.engine("junit-jupiter").selectors(selectClass(Shared::class.java)).execute()
        run.testEvents().assertStatistics { it.started(4).succeeded(4) }
        assertEquals(1, Shared.addresses.size)
        for (pid in Shared.pids) assertFalse(ProcessHandle.of(pid).isPresent)
    }

    @WithKassaServer
    class Shared {
        @Test
        fun `payer pays and the shop gets its events`(server: KassaServer) {
            note(server)
            val back = server.payByForm(server.buy("order-1"))
            assertTrue(back!!.startsWith("http://127.0.0.1:9/paid?"), back)
            val paid = server.waitFor("checkout.paid", reference = "order-1", timeout = PATIENCE)
            assertEquals("paid", text(server.checkout("order-1"), "state"))
            assertEquals(text(server.checkout("order-1"), "id"), paid.checkout)
            val kinds = server.events(reference = "order-1").map { it.kind }
            assertEquals(listOf("payment.created", "payment.accepted", "payment.charged", "checkout.paid"), kinds)
            assertEquals(1, server.sandbox.ledger().last().timesCharged)
        }

        @Test
        fun `crash loses nothing`(server: KassaServer) {
            note(server)
            val page = server.buy("order-2")
            server.kill()
            assertThrows<KassaServerException.NotRunning> { server.events() }
            // The payer goes on without the server.
            server.payByForm(page)
            server.restart()
            note(server)
            server.request("POST", "/v1/checkouts/${text(server.checkout("order-2"), "id")}/check")
            server.waitFor("checkout.paid", reference = "order-2", timeout = PATIENCE)
            server.kill()
        }

        @Test
        fun `what is refused or never happens is thrown`(server: KassaServer) {
            note(server)
            assertNull(server.payByForm(server.buy("order-3"), TestPhones.MEGAPAY_DECLINED))
            assertThrows<KassaServerException.TooLate> { server.waitFor("checkout.paid", "order-3", Duration.ofMillis(1)) }
            val refused = assertThrows<KassaServerException.Refused> { server.request("POST", "/v1/checkouts", "{}") }
            assertEquals(400, refused.httpStatus)
            assertTrue("reference" in refused.problem, refused.problem)
            val another = server.newApiKey("another")
            server.request("GET", "/v1/events", key = another)
            assertThrows<KassaServerException.Refused> { server.request("GET", "/v1/events", key = "$another.") }
        }

        @Test
        fun `shop's environment has what it needs`(server: KassaServer) {
            note(server)
            val expected = mapOf(
                "KASSA_SERVER_URL" to server.url,
                "KASSA_API_KEY" to server.apiKey,
                "KASSA_EVENTS_SECRET" to server.eventsSecret,
            )
            assertEquals(expected, server.environment())
        }

        private fun note(server: KassaServer) {
            addresses += server.url
            pids += listOf(server.pid!!, server.sandbox.pid!!)
        }

        companion object {
            val addresses = mutableSetOf<String>()
            val pids = mutableSetOf<Long>()
        }
    }

    @Test
    fun `sandbox that runs already is taken and left`() {
        Sandbox.start(SandboxOptions(actsAs = DialectName.OTHER)).use { sandbox ->
            KassaServer.start(KassaServerOptions(sandbox = sandbox)).use { server ->
                server.payByForm(server.buy("order-1"))
                server.waitFor("checkout.paid", timeout = PATIENCE)
            }
            assertTrue(sandbox.ledger().last().isCharged)
        }
    }

    @Test
    fun `start that fails says why`() {
        val options = KassaServerOptions(settings = mapOf("token_lifetime" to "a year"))
        val failed = assertThrows<KassaServerException.NotStarted> { KassaServer.start(options) }
        assertEquals(1, failed.exitCode)
        assertTrue("token_lifetime" in failed.log, failed.log)
    }
}

/** An order by pay-form; the address of its page. */
private fun KassaServer.buy(reference: String): String {
    val order = """{"reference": "$reference", "amount": "390", "description": "Honey", "return_url": "http://127.0.0.1:9/paid"}"""
    val id = text(request("POST", "/v1/checkouts", order), "id")
    val token = text(request("POST", "/v1/checkouts/$id/tokens"), "token")
    return text(request("POST", "/v1/checkout/payments", """{"method": "pay_form"}""", token, reference), "page_url")
}

private fun text(json: String, name: String) = Json.parseToJsonElement(json).jsonObject.getValue(name).jsonPrimitive.content
