package dev.kassa

import kotlinx.serialization.KSerializer
import kotlinx.serialization.SerializationException
import kotlinx.serialization.descriptors.PrimitiveKind
import kotlinx.serialization.descriptors.PrimitiveSerialDescriptor
import kotlinx.serialization.descriptors.SerialDescriptor
import kotlinx.serialization.encoding.Decoder
import kotlinx.serialization.encoding.Encoder
import kotlinx.serialization.json.JsonDecoder
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonEncoder
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive

// For kotlinx.serialization. The values name these by an annotation, which a JVM that lacks kotlinx.serialization ignores:
// nothing else may name this file's classes.

/**
 * Writes a [PaymentRef] as its text, and reads it with [PaymentRef.parse]. A property of that type needs no setting; name this one only
 * where a reference alone is serialized: `Json.encodeToString(PaymentRefSerializer, payment)`.
 */
public object PaymentRefSerializer : KSerializer<PaymentRef> {
    /** Of a text. */
    override val descriptor: SerialDescriptor get() = text("PaymentRef")

    /** Writes its text. */
    override fun serialize(encoder: Encoder, value: PaymentRef): Unit = encoder.encodeString("$value")

    /** Throws a `SerializationException` if the text is none of a reference. */
    override fun deserialize(decoder: Decoder): PaymentRef = decoder.decodeString().let { reading { PaymentRef.parse(it) } }
}

/** Writes a [PaymentEntry] as its text, and reads it with [PaymentEntry.parse]. A property of that type needs no setting. */
public object PaymentEntrySerializer : KSerializer<PaymentEntry> {
    /** Of a text. */
    override val descriptor: SerialDescriptor get() = text("PaymentEntry")

    /** Writes its text. */
    override fun serialize(encoder: Encoder, value: PaymentEntry): Unit = encoder.encodeString("$value")

    /** Throws a `SerializationException` if the text is none of an entry. */
    override fun deserialize(decoder: Decoder): PaymentEntry = decoder.decodeString().let { reading { PaymentEntry.parse(it) } }
}

/** Writes a [Provider] as its name, and reads it with [Provider.fromName]. A property of that type needs no setting. */
public object ProviderSerializer : KSerializer<Provider> {
    /** Of a text. */
    override val descriptor: SerialDescriptor get() = text("Provider")

    /** Writes its name. */
    override fun serialize(encoder: Encoder, value: Provider): Unit = encoder.encodeString("$value")

    /** Throws a `SerializationException` if it is no text. */
    override fun deserialize(decoder: Decoder): Provider = decoder.decodeString().let { reading { Provider.fromName(it) } }
}

/** Writes a [PaymentStatus] as [PaymentStatus.toJson], and reads that; in JSON alone. A property of that type needs no setting. */
public object PaymentStatusSerializer : KSerializer<PaymentStatus> {
    /** Of any JSON. */
    override val descriptor: SerialDescriptor get() = JsonElement.serializer().descriptor

    /** Throws a `SerializationException` for another format than JSON. */
    override fun serialize(encoder: Encoder, value: PaymentStatus) {
        val json = encoder as? JsonEncoder ?: throw SerializationException("a PaymentStatus can be written as JSON alone")
        json.encodeJsonElement(element(value.toJson()))
    }

    /** Throws a `SerializationException` if it is no status, or for another format than JSON. */
    override fun deserialize(decoder: Decoder): PaymentStatus {
        val json = decoder as? JsonDecoder ?: throw SerializationException("a PaymentStatus can be read from JSON alone")
        val element = json.decodeJsonElement()
        val plain = if (element is JsonObject) element.mapValues { (_, value) -> textOf(value) } else textOf(element)
        return reading { PaymentStatus.fromJson(plain ?: element) }
    }

    private fun element(plain: Any?): JsonElement = when (plain) {
        is Map<*, *> -> JsonObject(plain.entries.associate { (name, value) -> "$name" to element(value) })
        else -> JsonPrimitive("$plain")
    }

    private fun textOf(element: JsonElement): String? = (element as? JsonPrimitive)?.takeIf { it.isString }?.content
}

private fun text(name: String) = PrimitiveSerialDescriptor("dev.kassa.$name", PrimitiveKind.STRING)

/** Callers of a format catch its own exception for whatever cannot be read. */
private inline fun <T> reading(parse: () -> T): T = try {
    parse()
} catch (error: PaymentException) {
    throw SerializationException(error.message, error)
} catch (error: IllegalArgumentException) {
    throw SerializationException(error.message, error)
}
