package dev.kassa.client

import dev.kassa.client.EventException.Reason
import kotlinx.serialization.json.Json
import kotlinx.serialization.json.JsonArray
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.double
import kotlinx.serialization.json.jsonObject
import kotlinx.serialization.json.jsonPrimitive
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.DynamicTest
import org.junit.jupiter.api.DynamicTest.dynamicTest
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.TestFactory
import org.junit.jupiter.api.assertThrows
import java.nio.file.Files
import java.nio.file.Path
import java.time.Clock
import java.time.Duration
import java.time.Instant
import java.time.ZoneOffset

private const val SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
private const val OTHER = "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

class EventsTest {
    @TestFactory
    fun `signed events of all languages`(): List<DynamicTest> {
        val file = Path.of(System.getProperty("kassa.repository"), "tests", "events", "signed.json")
        val vectors = (Json.parseToJsonElement(Files.readString(file)) as JsonArray).map { it.jsonObject }
        assertTrue(vectors.size > 5)
        return vectors.map { dynamicTest(it.text("name")) { play(it) } }
    }

    private fun play(vector: JsonObject) {
        val clock = Clock.fixed(Instant.ofEpochSecond(vector.getValue("now").jsonPrimitive.double.toLong()), ZoneOffset.UTC)
        val headers = vector.textMap("headers")
        val outcome = vector.child("outcome")
        fun verify() = EventVerifier(vector.texts("secrets"), clock = clock).verify(vector.text("body").toByteArray(), headers)
        val reason = outcome.textOrNull("error")
        if (reason != null) {
            val error = assertThrows<EventException> { verify() }
            assertEquals(reason, error.reason.name, error.message)
            for (secret in vector.texts("secrets")) assertFalse(secret in error.message!!, error.message)
        } else {
            val event = verify()
            for ((name, expected) in outcome.child("event")) {
                val names = (expected as? JsonObject)?.keys
                val member = names?.associateWith { memberOf(event, "$name.$it") }?.let(::JsonObject) ?: memberOf(event, name)
                assertEquals(expected, member, name)
            }
        }
    }

    /** As the vectors write it. */
    private fun memberOf(event: Event, name: String) = when (name) {
        "id" -> JsonPrimitive(event.id)
        "kind" -> JsonPrimitive(event.kind)
        "timestamp_ms" -> JsonPrimitive(event.timestamp.toEpochMilli())
        "checkout" -> JsonPrimitive(event.checkout)
        "reference" -> JsonPrimitive(event.reference)
        "amount" -> JsonPrimitive(event.amount.toPlainString())
        "currency" -> JsonPrimitive(event.currency)
        "checkout_state" -> JsonPrimitive(event.checkoutState)
        "version" -> JsonPrimitive(event.version)
        "number" -> JsonPrimitive(event.number)
        "after" -> JsonPrimitive(event.after)
        "reason" -> JsonPrimitive(event.reason)
        "by" -> JsonPrimitive(event.by)
        "payment.id" -> JsonPrimitive(event.payment!!.id)
        "payment.method" -> JsonPrimitive(event.payment!!.method)
        "payment.state" -> JsonPrimitive(event.payment!!.state)
        "payment.commission" -> JsonPrimitive(event.payment!!.commission?.toPlainString())
        "payment.total" -> JsonPrimitive(event.payment!!.total?.toPlainString())
        "payment.code_expires_at_ms" -> JsonPrimitive(event.payment!!.codeExpiresAt?.toEpochMilli())
        "via.role" -> JsonPrimitive(event.via!!.role)
        "via.key" -> JsonPrimitive(event.via!!.key)
        else -> throw AssertionError("the test does not know $name")
    }

    @Test
    fun `what is signed for a test is verified`() {
        val signed = Events.sign(SECRET, "order-5", EventKind.CHECKOUT_EXPIRED, id = "evt_1")
        val event = Events.verify(signed.body, signed.headers, OTHER, SECRET)
        assertEquals(listOf("evt_1", "order-5"), listOf(event.id, event.reference))
        assertEquals(listOf("checkout.expired", "expired"), listOf(event.kind, event.checkoutState))
        assertFalse(event.isPaid)
        val late = Events.sign(SECRET, data = mapOf("after" to "expired"))
        assertEquals("expired", Events.verify(late.body, late.headers, SECRET).after)
        val odd = Events.sign(SECRET, data = mapOf("payment" to "pay_1"))
        assertEquals(Reason.MALFORMED_EVENT, reason { Events.verify(odd.body, odd.headers, SECRET) })
        assertEquals(reason { Events.verify(signed.body + " ", signed.headers, SECRET) }, Reason.WRONG_SIGNATURE)
        assertEquals(reason { Events.verify(signed.body, signed.headers, OTHER) }, Reason.WRONG_SIGNATURE)
        assertEquals(reason { Events.verify(signed.body, signed.headers) }, Reason.MALFORMED_SECRET)
    }

    @Test
    fun `headers come in any form`() {
        val signed = Events.sign(SECRET)
        val lists = signed.headers.entries.associate { (name, value) -> name.uppercase() to listOf(value) }
        assertEquals(Events.verify(signed.body, signed.headers, SECRET), Events.verify(signed.body, lists, SECRET))
        val (id, time, signature) = listOf("id", "timestamp", "signature").map { signed.headers.getValue("webhook-$it") }
        val arrays = signed.headers.mapValues { (_, value) -> arrayOf(value) }
        assertEquals(id, Events.verify(signed.body, arrays, SECRET).id)
        val verifier = EventVerifier(listOf(SECRET))
        verifier.verify(signed.body.toByteArray(), id, time, "v2,abc $signature v1,AAAA")
        assertEquals(Reason.MISSING_HEADER, reason { verifier.verify(signed.body.toByteArray(), null, time, signature) })
    }

    @Test
    fun `clock may be wrong by the tolerance`() {
        val now = Instant.now()
        val verifier = EventVerifier(listOf(SECRET), tolerance = Duration.ofHours(1), clock = Clock.fixed(now, ZoneOffset.UTC))
        fun verify(at: Instant) = Events.sign(SECRET, timestamp = at).run { verifier.verify(body.toByteArray(), headers) }
        for (seconds in listOf(-3600L, 0, 3600)) verify(now.plusSeconds(seconds))
        assertEquals(Reason.TOO_OLD, reason { verify(now.minusSeconds(3601)) })
        assertEquals(Reason.TOO_NEW, reason { verify(now.plusSeconds(3601)) })
        val old = Events.sign(SECRET, timestamp = now.minusSeconds(600))
        assertEquals(Reason.TOO_OLD, reason { Events.verify(old.body, old.headers, SECRET) })
    }

    @Test
    fun `shop answers what it should`() {
        val actions = mutableListOf<String>()
        val orders = object : Orders {
            override fun deliverOnce(order: String) { if ("deliver $order" !in actions) actions += "deliver $order" }
            override fun release(order: String) { actions += "release $order" }
        }
        val shop = HoneyShop(KassaClient("http://127.0.0.1:9", "key"), SECRET, orders)
        val kinds = listOf(EventKind.CHECKOUT_PAID, EventKind.CHECKOUT_CANCELLED, EventKind.CHECKOUT_OVERPAID, "checkout.newer")
        for (kind in kinds) Events.sign(SECRET, "order-1", kind).run { assertEquals(200, shop.receive(body.toByteArray(), headers)) }
        // After a restore of the server the same payment has an event with a new identifier.
        Events.sign(SECRET, "order-1", id = "evt_again").run { assertEquals(200, shop.receive(body.toByteArray(), headers)) }
        assertEquals(401, Events.sign(OTHER).run { shop.receive(body.toByteArray(), headers) })
        assertEquals(listOf("deliver order-1", "release order-1"), actions)
    }

    private fun reason(verify: () -> Unit) = assertThrows<EventException>(verify).reason
}
