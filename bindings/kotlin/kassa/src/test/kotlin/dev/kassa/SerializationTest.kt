package dev.kassa

import com.fasterxml.jackson.databind.JsonMappingException
import com.fasterxml.jackson.databind.ObjectMapper
import dev.kassa.readme.Order
import dev.kassa.support.card
import dev.kassa.support.cardPayment
import kotlinx.serialization.KSerializer
import kotlinx.serialization.SerializationException
import kotlinx.serialization.json.Json
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.jsonObject
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNotNull
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.Arguments.arguments
import org.junit.jupiter.params.provider.MethodSource
import org.junit.jupiter.params.provider.ValueSource
import java.io.ByteArrayInputStream
import java.io.ByteArrayOutputStream
import java.io.DataOutputStream
import java.io.InvalidObjectException
import java.io.NotSerializableException
import java.io.ObjectInputStream
import java.io.ObjectOutputStream
import java.io.ObjectStreamClass
import java.io.ObjectStreamConstants
import java.math.BigDecimal
import java.time.Instant
import kotlin.time.Duration.Companion.seconds

/** `java.io.Serializable`: what may leave the process, and what may not. */
class SerializationTest {
    @ParameterizedTest
    @MethodSource("references")
    fun `reference survives, as its text`(ref: PaymentRef) {
        assertEquals(ref, read(written(ref)))
        assertTrue("$ref" in written(ref).toString(Charsets.UTF_8))
    }

    @Test
    fun `reference's text is checked when it is read`() {
        val bytes = written(PaymentRef.mbank("o-1", 250))
        val forged = bytes.toString(Charsets.ISO_8859_1).replace("kassa1:", "kassa9:").toByteArray(Charsets.ISO_8859_1)
        assertThrows<InvalidObjectException> { read(forged) }
    }

    @Test
    fun `stream that names the class itself does not go past that check`() {
        for (type in listOf(PaymentRef::class.java, PaymentEntry::class.java)) {
            val bytes = ByteArrayOutputStream()
            DataOutputStream(bytes).writeObjectWithoutFields(type)
            assertThrows<InvalidObjectException> { read(bytes.toByteArray()) }
        }
    }

    @Test
    fun `entry survives, as its text, which is checked`() {
        val entry = PaymentEntry(PaymentRef.mbank("o-1", 250), "https://pay.kg/3ds?a=1&b=я", "000201 %")
        assertEquals(entry, read(written(entry)))
        val forged = written(entry).toString(Charsets.ISO_8859_1).replace("page=https", "page=httpx")
        assertThrows<InvalidObjectException> { read(forged.toByteArray(Charsets.ISO_8859_1)) }
    }

    @ParameterizedTest
    @MethodSource("exceptions")
    fun `exception keeps what it says`(error: PaymentException) {
        val again = read(written(error)) as PaymentException
        assertEquals(error::class, again::class)
        assertEquals(error.message, again.message)
        assertEquals(told(error), told(again))
        assertEquals(error.paymentMayExist to error.isRetryable, again.paymentMayExist to again.isRetryable)
        assertEquals(error.stackTrace.toList(), again.stackTrace.toList())
    }

    @Test
    fun `status that is final stays the only one of its kind`() {
        for (status in listOf(PaymentStatus.Charged, PaymentStatus.Rejected)) assertSame(status, read(written(status)))
        assertEquals(PaymentStatus.Other("HOLD"), read(written(PaymentStatus.Other("HOLD"))))
    }

    @ParameterizedTest
    @MethodSource("verdicts")
    fun `verdict comes back as what it was`(verdict: Verdict) {
        val again = read(written(verdict)) as Verdict
        assertEquals(verdict, again)
        assertEquals(verdict is Verdict.Charged, again.isCharged)
    }

    @ParameterizedTest
    @MethodSource("asJson")
    fun `JSON has one value for it, by Jackson and by kotlinx, and gives it back`(value: Any, json: String) {
        val type = when (value) {
            is PaymentStatus -> PaymentStatus::class.java
            is Provider -> Provider::class.java
            else -> value.javaClass
        }
        for (jackson in listOf(ObjectMapper(), ObjectMapper().findAndRegisterModules())) {
            assertEquals(json, jackson.writeValueAsString(value))
            assertEquals(value, jackson.readValue(json, type))
            // In a list, as in an answer of a back end.
            assertEquals(listOf(value), jackson.readerForListOf(type).readValue<List<Any>>("[$json]"))
        }
        val kotlinx = when (value) {
            is PaymentRef -> byKotlinx(PaymentRefSerializer, value, json)
            is PaymentEntry -> byKotlinx(PaymentEntrySerializer, value, json)
            is PaymentStatus -> byKotlinx(PaymentStatusSerializer, value, json)
            else -> byKotlinx(ProviderSerializer, value as Provider, json)
        }
        assertEquals(json to value, kotlinx)
    }

    @ParameterizedTest
    @ValueSource(strings = ["1", "[]", "{}", """{"word":"HOLD"}""", """{"kind":"other"}""", """{"kind":"other","word":1}"""])
    fun `what is no status in JSON is refused`(json: String) {
        assertThrows<JsonMappingException> { ObjectMapper().readValue(json, PaymentStatus::class.java) }
        assertThrows<SerializationException> { Json.decodeFromString(PaymentStatusSerializer, json) }
    }

    @Test
    fun `reference's text is checked when it is read from JSON`() {
        assertThrows<JsonMappingException> { ObjectMapper().readValue("\"kassa9:kind=card\"", PaymentRef::class.java) }
        assertThrows<SerializationException> { Json.decodeFromString(PaymentRefSerializer, "\"kassa9:kind=card\"") }
        assertThrows<SerializationException> { Json.decodeFromString(PaymentEntrySerializer, "\"kassa9:kind=card\"") }
    }

    @Test
    fun `value in a class of the program needs no serializer of its own`() {
        val order = Order("order-17", payment, PaymentEntry(payment, "https://pay.kg/3ds"), PaymentStatus.Other("HOLD"), Provider.Cards)
        val json = Json.encodeToString(order)
        assertEquals(JsonPrimitive("$payment"), Json.parseToJsonElement(json).jsonObject["payment"])
        assertEquals(order, Json.decodeFromString<Order>(json))
        assertEquals(order, ObjectMapper().findAndRegisterModules().readValue(json, Order::class.java))
        val bare = Order("order-18", payment)
        assertEquals(bare, Json.decodeFromString<Order>(Json.encodeToString(bare)))
    }

    @Test
    fun `what a journal lists comes back as what it was`() {
        val begun = Instant.parse("2026-11-22T10:00:00.123Z")
        val entry = JournalEntry("o-1-ab", payment, begun, JournalState.CHARGED, isFinished = true, reason = "PAID", note = "cart 17")
        val unfinished = listOf(Unfinished.Payment(entry), Unfinished.Unreadable("o-2-cd", "is torn"))
        val recovered = listOf(Recovered.Payment(entry), Recovered.Unreadable("o-2-cd", "is torn"))
        for (item in unfinished + recovered) assertEquals(item, read(written(item)))
    }

    @Test
    fun `verdict, an entry or an item that lacks a field is none`() {
        val items = listOf(Unfinished.Payment::class, Unfinished.Unreadable::class, Recovered.Payment::class, Recovered.Unreadable::class)
        for (type in items + Verdict.Charged::class + JournalEntry::class) {
            val bytes = ByteArrayOutputStream()
            DataOutputStream(bytes).writeObjectWithoutFields(type.java)
            assertThrows<InvalidObjectException> { read(bytes.toByteArray()) }
        }
    }

    @Test
    fun `secrets cannot be written`() {
        val credentials = Credentials("shop", "secret-77")
        val config = GatewayConfig("https://pay.example.kg", credentials)
        val form = CardInput().withNumber("4111 1111 1111 1111")
        for (secret in listOf(card(), form, cardPayment(), credentials, config, Proxy.url("http://user:secret-77@127.0.0.1:8080"))) {
            assertNotNull(assertThrows<NotSerializableException> { written(secret) }.message)
        }
    }

    private companion object {
        @JvmStatic
        fun references() = listOf(
            PaymentRef.card("order 1&=ü", BigDecimal("100.10"), "KGS"),
            PaymentRef.mbank("o-1", 250).withGatewayNumber("gw-1").copy(confirmIdentifier = "\"a 1\""),
            PaymentRef.payForm(BigDecimal("75.5")),
            PaymentRef.payForm(BigDecimal("75.5")).withEntryId("cart 17"),
            PaymentRef.payForm(BigDecimal("75.5")).withClaimedNumber("o-1", Provider.fromName("ELSOM")),
            PaymentRef.qr(9990).withTransactionId("t-1"),
            PaymentRef.qr(null),
        )

        @JvmStatic
        fun asJson() = listOf(
            arguments(PaymentStatus.Charged, "\"charged\""),
            arguments(PaymentStatus.Rejected, "\"rejected\""),
            arguments(PaymentStatus.Other("HOLD"), """{"kind":"other","word":"HOLD"}"""),
            // A gateway's own word is not read as a charge.
            arguments(PaymentStatus.Other("charged"), """{"kind":"other","word":"charged"}"""),
            arguments(Provider.MBank, "\"MBank\""),
            arguments(Provider.fromName("ELSOM"), "\"ELSOM\""),
            arguments(PaymentEntry(PaymentRef.mbank("o-1", 250)), "\"${PaymentEntry(PaymentRef.mbank("o-1", 250))}\""),
        ) + references().map { arguments(it, JsonPrimitive("$it").toString()) }

        private val report = StatusReport(
            PaymentStatus.Other("HOLD"), "210", "wait", "o-1", BigDecimal("100.10"), "KGS", """{"a":1}""",
        )

        private val payment = PaymentRef.card("o-1", BigDecimal("100.10"), "KGS")

        @JvmStatic
        fun verdicts() = listOf(
            Verdict.Charged(payment, report, listOf("amount")),
            Verdict.Rejected(payment, report),
            Verdict.Pending(payment, report),
            Verdict.Mismatch(payment, listOf("orderNumber", "amount"), report),
            Verdict.Mismatch(payment, listOf("amount")),
            Verdict.Unverifiable(payment, "there is nothing to ask with", report),
            Verdict.Unverifiable(payment, "there is nothing to ask with"),
        )

        @JvmStatic
        fun exceptions() = listOf(
            PaymentException.Invalid(listOf(Violation("pan", Rule.LENGTH, "13 to 20", "pan must have 13 to 20 digits"))),
            PaymentException.Misconfigured("HTTP 404", 404, null, "<html>"),
            PaymentException.Unauthorized("HTTP 403", 403, "E", "{}"),
            PaymentException.Unavailable("HTTP 429", 7.seconds, 429, "L", "{}"),
            PaymentException.Unavailable("HTTP 503"),
            PaymentException.Refused(402, "51", "no money", "{}"),
            PaymentException.OutcomeUnknown(PaymentRef.mbank("o-1", 250), "reset", 500, "5", "who knows", "{}"),
            PaymentException.Unexpected("no status", 200, "0", "{}"),
            PaymentException.DeadlineExpired(report),
        )

        private fun told(error: PaymentException): List<Any?> = listOf(error.httpStatus, error.code, error.body) + own(error)

        private fun own(error: PaymentException): List<Any?> = when (error) {
            is PaymentException.Invalid -> error.violations
            is PaymentException.Misconfigured -> listOf(error.detail)
            is PaymentException.Unauthorized -> listOf(error.detail)
            is PaymentException.Unavailable -> listOf(error.detail, error.retryAfter)
            is PaymentException.Refused -> listOf(error.reason)
            is PaymentException.OutcomeUnknown -> listOf(error.payment, error.detail, error.reason)
            is PaymentException.Unexpected -> listOf(error.detail)
            is PaymentException.DeadlineExpired -> listOf(error.last)
        }
    }
}

/** A forged stream: an object of the class with none of its fields. */
private fun DataOutputStream.writeObjectWithoutFields(type: Class<*>) {
    writeShort(ObjectStreamConstants.STREAM_MAGIC.toInt())
    writeShort(ObjectStreamConstants.STREAM_VERSION.toInt())
    writeByte(ObjectStreamConstants.TC_OBJECT.toInt())
    writeByte(ObjectStreamConstants.TC_CLASSDESC.toInt())
    writeUTF(type.name)
    writeLong(ObjectStreamClass.lookup(type).serialVersionUID)
    writeByte(ObjectStreamConstants.SC_SERIALIZABLE.toInt())
    writeShort(0)
    writeByte(ObjectStreamConstants.TC_ENDBLOCKDATA.toInt())
    writeByte(ObjectStreamConstants.TC_NULL.toInt())
}

private fun <T> byKotlinx(serializer: KSerializer<T>, value: T, json: String): Pair<String, T> =
    Json.encodeToString(serializer, value) to Json.decodeFromString(serializer, json)

private fun written(value: Any): ByteArray = ByteArrayOutputStream().also { bytes ->
    ObjectOutputStream(bytes).use { it.writeObject(value) }
}.toByteArray()

private fun read(bytes: ByteArray): Any = ObjectInputStream(ByteArrayInputStream(bytes)).use { it.readObject() }
