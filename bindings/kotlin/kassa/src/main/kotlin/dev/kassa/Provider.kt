package dev.kassa

import com.fasterxml.jackson.annotation.JsonCreator
import com.fasterxml.jackson.annotation.JsonValue
import dev.kassa.internal.providerFromName
import dev.kassa.internal.Provider as CoreProvider

/**
 * Who processes the payment.
 *
 * A provider unknown to this version is kept as [Other], and cannot be queried.
 */
@kotlinx.serialization.Serializable(with = ProviderSerializer::class)
public sealed class Provider {
    /** Its name on the wire. */
    public abstract val name: String

    /** The name on the wire. Jackson and kotlinx.serialization write it as that. */
    @JsonValue
    final override fun toString(): String = name

    /** Payment cards. */
    public data object Cards : Provider() {
        override val name: String get() = "Cards"
    }

    /** The MegaPay wallet. */
    public data object MegaPay : Provider() {
        override val name: String get() = "MegaPay"
    }

    /** The MBank mobile bank. */
    public data object MBank : Provider() {
        override val name: String get() = "MBank"
    }

    /** A provider that this version does not know; [fromName] makes it. */
    @ConsistentCopyVisibility
    public data class Other internal constructor(override val name: String) : Provider()

    /** Makes providers. */
    public companion object {
        // Class initialization: a constant would need the subclasses initialized, and they need this class first. Two threads that begin
        // at either end would wait for each other.

        /** [Cards], for Java. */
        @JvmStatic
        public fun cards(): Provider = Cards

        /** [MegaPay], for Java. */
        @JvmStatic
        public fun megaPay(): Provider = MegaPay

        /** [MBank], for Java. */
        @JvmStatic
        public fun mBank(): Provider = MBank

        /** The provider by its name on the wire; letter case does not matter. */
        @JvmStatic
        @JsonCreator
        @Throws(PaymentException::class)
        public fun fromName(name: String): Provider = calling { providerFromName(sendable("provider", name)).toKassa() }
    }
}

internal fun Provider.toCore(): CoreProvider = when (this) {
    Provider.Cards -> CoreProvider.Cards
    Provider.MegaPay -> CoreProvider.MegaPay
    Provider.MBank -> CoreProvider.MBank
    is Provider.Other -> CoreProvider.Other(name)
}

internal fun CoreProvider.toKassa(): Provider = when (this) {
    CoreProvider.Cards -> Provider.Cards
    CoreProvider.MegaPay -> Provider.MegaPay
    CoreProvider.MBank -> Provider.MBank
    is CoreProvider.Other -> Provider.Other(v1)
}
