package dev.kassa

import com.fasterxml.jackson.annotation.JsonCreator
import com.fasterxml.jackson.annotation.JsonValue
import java.io.Serializable
import dev.kassa.internal.PaymentStatus as CorePaymentStatus

/**
 * The status of a payment. Only [Charged] and [Rejected] are final.
 *
 * Words are case-insensitive. An unknown word is kept as received, and is never final.
 */
@kotlinx.serialization.Serializable(with = PaymentStatusSerializer::class)
public sealed class PaymentStatus : Serializable {
    /** True if the status is final. */
    public val isFinal: Boolean by lazy(LazyThreadSafetyMode.PUBLICATION) { calling { toCore().isFinal() } }

    private val text by lazy(LazyThreadSafetyMode.PUBLICATION) { calling { toCore().asText() } }

    /** An unknown word is quoted, so that the gateway's "charged" is never mistaken for a charge. */
    final override fun toString(): String = text

    /**
     * The JSON form, the same as in Rust: the text `charged` or `rejected`, or a map for any other word, `{"kind": "other", "word":
     * "HOLD"}`, so that the gateway's "charged" is not read as a charge. Jackson and kotlinx.serialization write it; [fromJson] reads it.
     */
    @JsonValue
    public fun toJson(): Any = if (this is Other) mapOf("kind" to "other", "word" to word) else text

    /** The money was taken (CHARGE). */
    public data object Charged : PaymentStatus() {
        private fun readResolve(): Any = Charged
    }

    /** The payment ended without the money being taken (Reject). */
    public data object Rejected : PaymentStatus() {
        private fun readResolve(): Any = Rejected
    }

    /**
     * Any other word of the gateway.
     *
     * @property word the word as received
     */
    public data class Other(public val word: String) : PaymentStatus()

    /** The two final ones, for Java, and how one is read. */
    public companion object {
        /** [Charged], for Java. */
        @JvmStatic
        public fun charged(): PaymentStatus = Charged

        /** [Rejected], for Java. */
        @JvmStatic
        public fun rejected(): PaymentStatus = Rejected

        /**
         * Reads the form of [toJson]; Jackson and kotlinx.serialization call it. An unknown text becomes [Other]: a later version may have written
         * it.
         *
         * @throws IllegalArgumentException if it is neither a text nor a map with the `kind` and the `word` of another one
         */
        @JvmStatic
        @JsonCreator
        public fun fromJson(json: Any): PaymentStatus = when (json) {
            "charged" -> Charged
            "rejected" -> Rejected
            is String -> Other(json)
            else -> Other(requireNotNull(wordOf(json)) { "a payment status is a text, or an object with the kind \"other\" and a word" })
        }

        private fun wordOf(json: Any) = (json as? Map<*, *>)?.takeIf { it["kind"] == "other" }?.get("word") as? String
    }
}

internal fun PaymentStatus.toCore(): CorePaymentStatus = when (this) {
    PaymentStatus.Charged -> CorePaymentStatus.Charged
    PaymentStatus.Rejected -> CorePaymentStatus.Rejected
    is PaymentStatus.Other -> CorePaymentStatus.Other(sendable("status", word))
}

internal fun CorePaymentStatus.toKassa(): PaymentStatus = when (this) {
    CorePaymentStatus.Charged -> PaymentStatus.Charged
    CorePaymentStatus.Rejected -> PaymentStatus.Rejected
    is CorePaymentStatus.Other -> PaymentStatus.Other(v1)
}
