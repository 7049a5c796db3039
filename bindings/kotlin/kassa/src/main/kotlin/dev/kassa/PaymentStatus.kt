package dev.kassa

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

    /** The two final ones, for Java. */
    public companion object {
        /** [Charged], for Java. */
        @JvmStatic
        public fun charged(): PaymentStatus = Charged

        /** [Rejected], for Java. */
        @JvmStatic
        public fun rejected(): PaymentStatus = Rejected
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
