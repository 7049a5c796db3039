package dev.kassa

import com.fasterxml.jackson.annotation.JsonCreator
import com.fasterxml.jackson.annotation.JsonValue
import java.io.Serializable
import dev.kassa.internal.PaymentStatus as CorePaymentStatus

/**
 * Where a payment stands. Only [Charged] and [Rejected] are final.
 *
 * Words are compared without regard to letter case. A word that is not known is carried as it came, and is never final.
 */
public sealed class PaymentStatus : Serializable {
    /** True where nothing more will happen to the payment. */
    public val isFinal: Boolean by lazy(LazyThreadSafetyMode.PUBLICATION) { calling { toCore().isFinal() } }

    private val text by lazy(LazyThreadSafetyMode.PUBLICATION) { calling { toCore().asText() } }

    /** A word that is not known stands in quotes, so that nobody takes a "charged" of the gateway's for a charge. */
    final override fun toString(): String = text

    /**
     * What it is in JSON, the same as in Rust: the text `charged` or `rejected`, and a map for any other word,
     * `{"kind": "other", "word": "HOLD"}`, so that a "charged" of the gateway's is not read as a charge. Jackson calls it by itself;
     * [fromJson] reads it.
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
     * @property word the word, exactly as it came
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
         * Reads what [toJson] gives; Jackson calls it by itself. A text that is not known is [Other]: a later version may have written it.
         *
         * @throws IllegalArgumentException where it is neither a text nor a map with the `kind` and the `word` of another one
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
