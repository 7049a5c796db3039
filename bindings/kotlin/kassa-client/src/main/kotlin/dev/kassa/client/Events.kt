package dev.kassa.client

import dev.kassa.client.EventException.Reason
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive
import java.math.BigDecimal
import java.security.MessageDigest
import java.time.Clock
import java.time.Duration
import java.time.Instant
import java.util.Base64
import java.util.UUID
import javax.crypto.Mac
import javax.crypto.spec.SecretKeySpec

private const val ID = "webhook-id"
private const val TIMESTAMP = "webhook-timestamp"
private const val SIGNATURE = "webhook-signature"
private const val PREFIX = "whsec_"
private const val VERSION = "v1,"
private val SECRET_SIZES = 24..64
private const val SIGNATURE_SIZE = 32
private const val LONGEST_TIME = 12
private val TOLERANCE = Duration.ofMinutes(5)

/** Verifies the server's events, and signs events for the shop's own tests. */
public object Events {
    /**
     * The event in a request that the server sent, if the server has signed it within the last five minutes. Answer 401 if this throws,
     * and 2xx once you have stored the event.
     *
     * @param body the request's body, byte for byte as it came
     * @param headers the request's headers, in any case: each value a text, or a list or an array of texts
     * @param secrets the server's `events.secret`; while it is being replaced, the old one, too
     * @throws EventException saying why it is not taken, and what to do
     */
    @JvmStatic
    public fun verify(body: ByteArray, headers: Map<String, *>, vararg secrets: String): Event =
        EventVerifier(secrets.toList()).verify(body, headers)

    /** The same for a body that was read as UTF-8 text. */
    @JvmStatic
    public fun verify(body: String, headers: Map<String, *>, vararg secrets: String): Event =
        verify(body.toByteArray(), headers, *secrets)

    /**
     * An event as the server would send it, for the tests of the shop's receiver.
     *
     * @param secret the secret to sign with: `whsec_` and base64 of 24 to 64 bytes
     * @param kind an [EventKind]
     * @param timestamp when it is sent: another time shows how a late one is refused
     * @param id the same one again shows how a repetition is ignored
     * @param data further members of the event's `data`, such as `after` with `expired` for a charge that came late
     */
    @JvmStatic
    @JvmOverloads
    public fun sign(
        secret: String,
        reference: String = "order-17",
        kind: String = EventKind.CHECKOUT_PAID,
        amount: BigDecimal = BigDecimal("390"),
        timestamp: Instant = Instant.now(),
        id: String = "evt_" + hex(UUID.randomUUID().toString()),
        data: Map<String, String> = emptyMap(),
    ): SignedEvent {
        val ended = mapOf(EventKind.CHECKOUT_EXPIRED to CheckoutState.EXPIRED, EventKind.CHECKOUT_CANCELLED to CheckoutState.CANCELLED)
        val state = ended[kind] ?: if (kind.startsWith("checkout.")) CheckoutState.PAID else CheckoutState.OPEN
        val members = mapOf(
            "checkout" to JsonPrimitive("co_" + hex(UUID.nameUUIDFromBytes(reference.toByteArray()).toString())),
            "reference" to JsonPrimitive(reference),
            "amount" to JsonPrimitive(amount.stripTrailingZeros().toPlainString()),
            "currency" to JsonPrimitive("KGS"),
            "checkout_state" to JsonPrimitive(state),
            "version" to JsonPrimitive(1),
            "number" to JsonPrimitive(1),
        )
        val event = mapOf(
            "id" to JsonPrimitive(id),
            "type" to JsonPrimitive(kind),
            "timestamp_ms" to JsonPrimitive(timestamp.toEpochMilli()),
            "data" to JsonObject(members + data.mapValues { (_, value) -> JsonPrimitive(value) }),
        )
        val body = JsonObject(event).toString()
        val seconds = timestamp.epochSecond.toString()
        val signature = signature(key(secret, 1), id, seconds, body.toByteArray())
        val headers = mapOf(
            "content-type" to "application/json",
            ID to id,
            TIMESTAMP to seconds,
            SIGNATURE to VERSION + Base64.getEncoder().encodeToString(signature),
        )
        return SignedEvent(body, headers)
    }
}

/**
 * A request with a signed event.
 *
 * @property body the body, as UTF-8 text
 * @property headers the three headers of the signature, and `content-type`
 */
public data class SignedEvent(public val body: String, public val headers: Map<String, String>)

/**
 * Verifies events as [Events.verify] does, with secrets that are checked once, and with another tolerance or clock.
 *
 * @param secrets the server's `events.secret`, and the old one while it is being replaced
 * @param tolerance how far an event's timestamp may be from the clock, to either side
 * @param clock the clock to compare with
 * @throws EventException if a secret is malformed, or there is none
 */
public class EventVerifier @JvmOverloads constructor(
    secrets: List<String>,
    private val tolerance: Duration = TOLERANCE,
    private val clock: Clock = Clock.systemUTC(),
) {
    private val keys = secrets.mapIndexed { index, secret -> key(secret, index + 1) }

    init {
        if (keys.isEmpty()) fail(Reason.MALFORMED_SECRET, "there is no secret: give the server's `events.secret`")
    }

    /** See [Events.verify]. */
    public fun verify(body: ByteArray, headers: Map<String, *>): Event {
        fun header(name: String): String? {
            val value = headers.entries.firstOrNull { name.equals(it.key, ignoreCase = true) }?.value
            val first = when (value) {
                is Iterable<*> -> value.firstOrNull()
                is Array<*> -> value.firstOrNull()
                else -> value
            }
            return first?.toString()
        }
        return verify(body, header(ID), header(TIMESTAMP), header(SIGNATURE))
    }

    /** The same by the three headers, for a web framework that has no map of them: null for one that is missing. */
    public fun verify(body: ByteArray, id: String?, timestamp: String?, signature: String?): Event {
        val (checkedId, seconds, given) = listOf(ID to id, TIMESTAMP to timestamp, SIGNATURE to signature).map { (name, value) ->
            value?.takeIf { it.isNotEmpty() }
                ?: fail(Reason.MISSING_HEADER, "the header $name is missing: is this a request of kassa-server?")
        }
        checkTime(seconds)
        check(body, checkedId, seconds, given)
        try {
            return Event(parsed(body.toString(Charsets.UTF_8)))
        } catch (error: MalformedJson) {
            fail(Reason.MALFORMED_EVENT, "the body is signed, but is no event: ${error.message}")
        }
    }

    private fun checkTime(text: String) {
        val seconds = text.takeIf { it.length <= LONGEST_TIME && it.all { digit -> digit in '0'..'9' } }?.toLong()
            ?: fail(Reason.MALFORMED_TIMESTAMP, "the header $TIMESTAMP must be seconds since 1970")
        val age = clock.instant().epochSecond - seconds
        val advice = "check the clocks of both machines; verify an event when it arrives, before it waits in a queue"
        val most = tolerance.toSeconds()
        if (age > most) fail(Reason.TOO_OLD, "the event was signed $age s ago, and $most s are allowed: $advice")
        if (-age > most) fail(Reason.TOO_NEW, "the event was signed ${-age} s in the future, and $most s are allowed: $advice")
    }

    private fun check(body: ByteArray, id: String, seconds: String, header: String) {
        val given = header.split(' ').filter { it.startsWith(VERSION) }.mapNotNull { decoded(it.removePrefix(VERSION)) }
            .filter { it.size == SIGNATURE_SIZE }
        if (given.isEmpty()) {
            fail(Reason.MALFORMED_SIGNATURE, "the header $SIGNATURE must have a signature of the form v1,BASE64 of 32 bytes")
        }
        // Each one is compared, so that the time that this takes tells nothing.
        val matches = keys.map { signature(it, id, seconds, body) }.flatMap { right -> given.map { MessageDigest.isEqual(right, it) } }
        if (true !in matches) {
            val secrets = if (keys.size == 1) "the secret" else "any of the ${keys.size} secrets"
            val advice = "pass the bytes as they came, not JSON that was parsed and written again"
            val why = "it is not this server's, or the body was changed ($advice)"
            fail(Reason.WRONG_SIGNATURE, "the signature does not match $secrets: $why")
        }
    }
}

/**
 * An event was not taken.
 *
 * @property reason for programs
 */
public class EventException internal constructor(public val reason: Reason, message: String) : RuntimeException(message) {
    /** Why an event was not taken. */
    public enum class Reason {
        /** One of the three headers is missing. */
        MISSING_HEADER,

        /** The timestamp is no number of seconds. */
        MALFORMED_TIMESTAMP,

        /** The event was signed too long ago. */
        TOO_OLD,

        /** The event was signed in the future. */
        TOO_NEW,

        /** The header has no signature of the known scheme. */
        MALFORMED_SIGNATURE,

        /** No signature matches a secret: another server's, or the body was changed. */
        WRONG_SIGNATURE,

        /** A secret that was passed is none. */
        MALFORMED_SECRET,

        /** The body is signed, but is no event. */
        MALFORMED_EVENT,
    }
}

private fun fail(reason: Reason, message: String): Nothing = throw EventException(reason, message)

/** From Java a secret can be null, such as a variable of the environment that is not set. */
private fun key(secret: String?, number: Int): SecretKeySpec {
    val bytes = secret?.takeIf { it.startsWith(PREFIX) }?.let { decoded(it.removePrefix(PREFIX)) }?.takeIf { it.size in SECRET_SIZES }
        ?: fail(Reason.MALFORMED_SECRET, "secret $number must be whsec_ and base64 of 24 to 64 bytes, from `kassa-server secret`")
    return SecretKeySpec(bytes, "HmacSHA256")
}

private fun signature(key: SecretKeySpec, id: String, seconds: String, body: ByteArray): ByteArray {
    val mac = Mac.getInstance("HmacSHA256").apply { init(key) }
    mac.update("$id.$seconds.".toByteArray())
    return mac.doFinal(body)
}

private fun decoded(base64: String): ByteArray? = try {
    Base64.getDecoder().decode(base64)
} catch (_: IllegalArgumentException) {
    null
}

private fun hex(uuid: String) = uuid.replace("-", "")
