package dev.kassa

import dev.kassa.internal.dialectNames
import dev.kassa.internal.Dialect as CoreDialect
import dev.kassa.internal.DialectReading as CoreDialectReading

/**
 * How to read the gateway's responses, as one JSON document that is the same in all languages.
 *
 * Much of the interface is not shown: the responses of the mobile bank, of `get-status` and of the QR endpoints, the codes, the
 * full set of status words. A dialect names them, so that a merchant need not wait for a release to teach Kassa what the gateway
 * really sends. `Dialect()` assumes the envelope that the interface shows; [named] gives one that Kassa knows; [fromJson] replaces
 * only what it names; [toJson] gives the whole of it.
 */
public class Dialect private constructor(internal val core: CoreDialect) {
    private val json: String = calling { core.toJson() }

    /** The dialect that assumes the envelope which the interface shows. */
    public constructor() : this(calling { CoreDialect() })

    /** The whole dialect as JSON, defaults included: a good start for a file of one's own. */
    public fun toJson(): String = json

    /**
     * What this dialect reads in the body of a response to an endpoint's requests, for whoever writes a dialect. Nothing is sent.
     *
     * The request is not known, so no secret can be masked, and nothing is compared with what was asked for: give it the `raw` of an
     * answer or the `body` of an exception, in which secrets are masked.
     *
     * @param endpoint the endpoint by its name in the dialect, such as `qr_status`
     * @param response the body of the response
     * @throws PaymentException.Invalid where there is no such endpoint, or a text has half a surrogate pair in it
     */
    @Throws(PaymentException::class)
    public fun explain(endpoint: String, response: String): DialectReading =
        calling { core.explain(sendable("endpoint", endpoint), sendable("response", response)).toKassa() }

    /** What this dialect leaves open that matters to money, and what to set. It blocks nothing. */
    public fun advice(): List<Advice> = calling { core.advice().toKassa() }

    override fun equals(other: Any?): Boolean = other is Dialect && json == other.json

    override fun hashCode(): Int = json.hashCode()

    /** Which known one it is, if any. */
    override fun toString(): String {
        if (this == Dialect()) return "Dialect()"
        val name = names().find { this == named(it) }
        return if (name == null) "Dialect.fromJson(...)" else "Dialect.named(\"$name\")"
    }

    /** Reads dialects. */
    public companion object {
        internal fun of(core: CoreDialect) = Dialect(core)

        /**
         * Reads the JSON form. What it does not name stays as in its `base`: the name of a known dialect, which is `interface` unless
         * given.
         *
         * @throws PaymentException.Invalid naming every part that is not understood: a field that does not exist or that its
         *   endpoint does not use, a pointer that is not one, a code or a word in two lists that exclude each other
         */
        @JvmStatic
        @Throws(PaymentException::class)
        public fun fromJson(text: String): Dialect = Dialect(calling { CoreDialect.fromJson(sendable("dialect", text)) })

        /**
         * A dialect that Kassa knows: `interface`, the default, or `finipay`, which the public pages of that gateway show. It was never
         * tried against the live service; what differs is replaced by [fromJson] with this `base`.
         *
         * @throws PaymentException.Invalid for any other name
         */
        @JvmStatic
        @Throws(PaymentException::class)
        public fun named(name: String): Dialect = Dialect(calling { CoreDialect.named(sendable("dialect", name)) })

        /** The names that [named] and the JSON's `base` take. */
        @JvmStatic
        public fun names(): List<String> = calling { dialectNames() }
    }
}

/**
 * What a dialect reads in a response: the answer of [Dialect.explain].
 *
 * @property fields what was found, in the order of the endpoint's fields
 * @property codeMeans the list that has the response's code: `success`, `refusal`, `unknown` or `duplicate`; `null` where no list has it, or
 *   the response has no code. A code in no list is a success where the list of success codes is empty
 * @property statusMeans what the status word means: `charged`, `rejected` or `pending`; `null` where the response is no answer, or the endpoint
 *   is no status query
 * @property unread the JSON pointers of the texts, numbers and booleans of the response that the dialect does not look at. Of a very long
 *   response the first ones
 * @property problem why the response is no answer: it is not JSON, its code is not known as a success, what the endpoint needs is missing;
 *   `null` where it is one
 */
public data class DialectReading(
    public val fields: List<DialectField>,
    public val codeMeans: String?,
    public val statusMeans: String?,
    public val unread: List<String>,
    public val problem: String?,
)

/**
 * One thing that a dialect finds in a response, and where.
 *
 * @property name what was looked for, as the dialect's JSON names it, such as `status`
 * @property pointer where it was found: a JSON pointer, such as `/data/status`, or a tag of an ELQR code, such as `elqr:32.11`
 * @property value the value, as text
 */
public data class DialectField(public val name: String, public val pointer: String, public val value: String)

private fun CoreDialectReading.toKassa() =
    DialectReading(fields.map { DialectField(it.name, it.pointer, it.value) }, codeMeans, statusMeans, unread, problem)
