package dev.kassa.readme

import dev.kassa.PaymentRef
import dev.kassa.PaymentStatus
import kotlinx.serialization.KSerializer
import kotlinx.serialization.descriptors.PrimitiveKind
import kotlinx.serialization.descriptors.PrimitiveSerialDescriptor
import kotlinx.serialization.encoding.Decoder
import kotlinx.serialization.encoding.Encoder
import kotlinx.serialization.json.JsonDecoder
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonEncoder
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.jsonPrimitive

object PaymentRefSerializer : KSerializer<PaymentRef> {
    override val descriptor = PrimitiveSerialDescriptor("dev.kassa.PaymentRef", PrimitiveKind.STRING)
    override fun serialize(encoder: Encoder, value: PaymentRef) = encoder.encodeString("$value")
    override fun deserialize(decoder: Decoder) = PaymentRef.parse(decoder.decodeString())
}

object PaymentStatusSerializer : KSerializer<PaymentStatus> {
    override val descriptor = JsonElement.serializer().descriptor
    override fun serialize(encoder: Encoder, value: PaymentStatus) {
        fun text(value: Any?) = JsonPrimitive(value as String)
        val json = value.toJson() // a text, or a map of texts
        val element = if (json is Map<*, *>) JsonObject(json.entries.associate { "${it.key}" to text(it.value) }) else text(json)
        (encoder as JsonEncoder).encodeJsonElement(element)
    }
    override fun deserialize(decoder: Decoder): PaymentStatus {
        val json = (decoder as JsonDecoder).decodeJsonElement()
        return PaymentStatus.fromJson(if (json is JsonObject) json.mapValues { it.value.jsonPrimitive.content } else json.jsonPrimitive.content)
    }
}
