package dev.kassa

import dev.kassa.internal.Dialect as CoreDialect

/**
 * How to read the gateway's replies, as one JSON document that is the same in all languages.
 *
 * Much of the interface is not shown: the replies of the mobile bank, of `get-status` and of the QR endpoints, the codes, the
 * full set of status words. A dialect names them, so that a merchant need not wait for a release to teach Kassa what the gateway
 * really sends. `Dialect()` assumes the envelope that the interface shows; [fromJson] replaces only what it names; [toJson]
 * gives the whole of it.
 */
public class Dialect private constructor(internal val core: CoreDialect) {
    private val json: String = calling { core.toJson() }

    /** The dialect that assumes the envelope which the interface shows. */
    public constructor() : this(calling { CoreDialect() })

    /** The whole dialect as JSON, defaults included: a good start for a file of one's own. */
    public fun toJson(): String = json

    override fun equals(other: Any?): Boolean = other is Dialect && json == other.json

    override fun hashCode(): Int = json.hashCode()

    /** Whether it is the default one. */
    override fun toString(): String = if (this == Dialect()) "Dialect()" else "Dialect.fromJson(...)"

    /** Reads dialects. */
    public companion object {
        internal fun of(core: CoreDialect) = Dialect(core)

        /**
         * Reads the JSON form. What it does not name stays as in the default.
         *
         * @throws PaymentException.Invalid naming every part that is not understood: a field that does not exist or that its
         *   endpoint does not use, a pointer that is not one, a code or a word in two lists that exclude each other
         */
        @JvmStatic
        @Throws(PaymentException::class)
        public fun fromJson(text: String): Dialect = Dialect(calling { CoreDialect.fromJson(sendable("dialect", text)) })
    }
}
