package dev.kassa.client

import dev.kassa.server.KassaServer
import dev.kassa.server.junit.WithKassaServer
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows
import java.math.BigDecimal
import java.time.Duration
import java.time.Instant

/** Every call, against the server itself. That of a whole payment is in `FromJavaTest`. */
@WithKassaServer
class KassaClientTest(private val server: KassaServer) {
    private val client = KassaClient(server.url + "/", server.apiKey, timeout = Duration.ofSeconds(60))

    private fun order(reference: String, amount: String = "390.0000") =
        NewCheckout(reference, BigDecimal(amount), "Honey", returnUrl = "https://shop.example.kg/paid")

    @Test
    fun `checkout is opened once and cancelled`() {
        val wanted = order("calls-1").withLifetime(Duration.ofHours(2)).withCurrency("KGS").withMethods(PaymentMethod.QR).withMetadata("cart", "81")
        val opened = client.openCheckout(wanted)
        assertEquals(opened, client.openCheckout(wanted))
        assertEquals(opened, client.checkout(opened.id))
        assertEquals(opened, client.findCheckout("calls-1"))
        assertNull(client.findCheckout("of nobody & nothing"))

        assertEquals(0, BigDecimal(390).compareTo(opened.amount))
        assertEquals(listOf("KGS", "Honey", "open", "calls-1"), opened.run { listOf(currency, description, state, reference) })
        assertEquals(listOf(PaymentMethod.QR), opened.methods)
        assertEquals(mapOf("cart" to "81"), opened.metadata)
        assertTrue(opened.expiresAt in opened.openedAt.plusSeconds(7199)..opened.openedAt.plusSeconds(7201))
        assertTrue(Duration.between(opened.openedAt, Instant.now()) < Duration.ofMinutes(5))
        val page = opened.pageUrl!!.removePrefix("${server.url}/pay/")
        assertFalse(page in opened.toString(), "$opened")
        assertTrue(page in opened.json)

        assertEquals(CheckoutState.CANCELLED, client.cancel(opened.id).state)
        val cancelled = client.cancel(opened.id)
        assertEquals(cancelled, client.waitForChange(opened.id, afterVersion = 0))
        assertEquals(cancelled, client.waitForChange(opened.id, cancelled.version, Duration.ofMillis(1)))
    }

    @Test
    fun `token opens one checkout until revoked`() {
        val opened = client.openCheckout(order("calls-2"))
        val token = client.newToken(opened.id)
        assertEquals(Duration.ofMinutes(15), token.lifetime)
        assertFalse(token.token in "$token", "$token")
        val body = """{"method": "qr"}"""
        server.request("POST", "/v1/checkout/payments", body, token.token, idempotencyKey = "calls-2")
        client.check(opened.id)
        val payment = client.checkout(opened.id).payments.single()
        assertEquals(PaymentMethod.QR, payment.method)
        assertEquals(1, payment.number)
        assertEquals(1, client.revokeTokens(opened.id))

        val resolved = client.resolvePayment(payment.id, Outcome.NOT_CHARGED, reason = "No such payment", by = "Aida")
        assertEquals("rejected", resolved.state)
        val refused = assertThrows<KassaClientException.Conflict> {
            client.resolvePayment(payment.id, Outcome.CHARGED, reason = "Mistaken", by = "Aida")
        }
        assertEquals("rejected", refused.state)
        val event = client.events().last { it.event.reference == "calls-2" }.event
        assertEquals(listOf("payment.resolved", "Aida", "shop"), event.run { listOf(kind, by, via?.role) })
    }

    @Test
    fun `what the server refuses has its reason`() {
        val opened = client.openCheckout(order("calls-3"))
        val invalid = assertThrows<KassaClientException.Refused> { client.openCheckout(order("", "0.5")) }
        assertEquals(400, invalid.status)
        assertEquals("invalid", invalid.kind)
        assertEquals(setOf("reference", "amount"), invalid.violations.map { it.field }.toSet())
        assertTrue("amount " in invalid.message!! && "reference " in invalid.message!!, invalid.message)

        val used = assertThrows<KassaClientException.Conflict> { client.openCheckout(order("calls-3", "391")) }
        assertEquals("reference_used", used.kind)
        assertTrue("amount" in used.detail!!, used.detail)
        val unknown = "co_" + "0".repeat(32)
        assertThrows<KassaClientException.NotFound> { client.checkout(unknown) }
        assertThrows<KassaClientException.NotFound> { client.checkout("../checkouts") }
        assertThrows<KassaClientException.NotFound> { client.newToken(unknown) }

        val stranger = KassaClient(server.url, server.apiKey.dropLast(3) + "000")
        val unauthorized = assertThrows<KassaClientException.WrongKey> { stranger.checkout(opened.id) }
        for (printed in listOf("$unauthorized", "$stranger", "$client")) assertFalse(server.apiKey.dropLast(3) in printed, printed)
    }

    @Test
    fun `events are read by cursor`() {
        val before = client.events().lastOrNull()?.cursor ?: "0"
        val references = (1..3).map { "calls-4.$it" }
        references.forEach { client.cancel(client.openCheckout(order(it)).id) }
        val own = client.events(before).filter { it.event.reference in references }
        assertEquals(references, own.map { it.event.reference })
        val (cursor, event) = own[1].run { cursor to event }
        assertEquals(EventKind.CHECKOUT_CANCELLED, event.kind)
        assertEquals(CheckoutState.CANCELLED, event.checkoutState)
        assertEquals(own[2].event, client.events(cursor).first().event)
        assertEquals(own[2].cursor, client.followEvents(cursor, Duration.ofMillis(10)).first { it.event.reference in references }.cursor)
        assertEquals(0, client.replayEvents())
        assertEquals(0, client.replayEvents(event.checkout))
        val refused = assertThrows<KassaClientException.Refused> { client.events("no cursor").toList() }
        assertEquals("after", refused.violations.single().field)
    }
}
