package dev.kassa

import dev.kassa.internal.dialectNames
import dev.kassa.internal.Dialect as CoreDialect
import dev.kassa.internal.DialectReading as CoreDialectReading

/**
 * How to read the gateway's responses: one JSON document, the same in all languages.
 *
 * The interface does not document the responses of the mobile bank, of `get-status` and of the QR endpoints, the codes, or all status
 * words. A dialect maps them, so you need not wait for a release of Kassa when the gateway sends something else. `Dialect()` assumes the
 * documented envelope; [named] returns a built-in dialect; [fromJson] replaces only what it names; [toJson] returns the whole dialect.
 */
public class Dialect private constructor(internal val core: CoreDialect) {
    private val json: String = calling { core.toJson() }

    /** The default dialect: the envelope that the interface documents. */
    public constructor() : this(calling { CoreDialect() })

    /** The whole dialect as JSON, including defaults: a good start for your own file. */
    public fun toJson(): String = json

    /**
     * What this dialect reads in the body of an endpoint's response, for authors of dialects. Sends nothing.
     *
     * Without the request, no secret can be masked and nothing can be compared. Pass the `raw` of an answer or the `body` of an
     * exception, in which secrets are masked.
     *
     * @param endpoint the endpoint by its name in the dialect, such as `qr_status`
     * @param response the body of the response
     * @throws PaymentException.Invalid if there is no such endpoint, or a text contains an unpaired surrogate
     */
    @Throws(PaymentException::class)
    public fun explain(endpoint: String, response: String): DialectReading =
        calling { core.explain(sendable("endpoint", endpoint), sendable("response", response)).toKassa() }

    /** Settings that this dialect leaves open and that matter for money. It blocks nothing. */
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
         * Parses the JSON form. What it does not name stays as in its `base`: the name of a built-in dialect, by default `interface`.
         *
         * @throws PaymentException.Invalid with every error: a field that does not exist or that its endpoint does not use, an invalid
         *   pointer, a code or word in two lists that exclude each other
         */
        @JvmStatic
        @Throws(PaymentException::class)
        public fun fromJson(text: String): Dialect = Dialect(calling { CoreDialect.fromJson(sendable("dialect", text)) })

        /**
         * A built-in dialect: `interface`, the default, or `finipay`, from the public pages of that gateway. It was never tried against
         * the live service; override differences with [fromJson] and this `base`.
         *
         * @throws PaymentException.Invalid for any other name
         */
        @JvmStatic
        @Throws(PaymentException::class)
        public fun named(name: String): Dialect = Dialect(calling { CoreDialect.named(sendable("dialect", name)) })

        /** The names that [named] and the JSON's `base` accept. */
        @JvmStatic
        public fun names(): List<String> = calling { dialectNames() }
    }
}

/**
 * What a dialect reads in a response: the result of [Dialect.explain].
 *
 * @property fields the values found, in the order of the endpoint's fields
 * @property codeMeans the list that has the response's code: `success`, `refusal`, `unknown` or `duplicate`; `null` if no list has it, or
 *   the response has no code. A code in no list is a success if the list of success codes is empty
 * @property statusMeans what the status word means: `charged`, `rejected` or `pending`; `null` if the response is not an answer, or the
 *   endpoint is not a status query
 * @property unread jSON pointers to the texts, numbers and booleans of the response that the dialect does not read; only the first ones
 *   of a very long response
 * @property problem why the response is not an answer: it is not JSON, its code is not known as a success, or a required field is
 *   missing; `null` if it is an answer
 */
public data class DialectReading(
    public val fields: List<DialectField>,
    public val codeMeans: String?,
    public val statusMeans: String?,
    public val unread: List<String>,
    public val problem: String?,
)

/**
 * One value that a dialect finds in a response, and its place.
 *
 * @property name the dialect's name of the field, such as `status`
 * @property pointer the place: a JSON pointer, such as `/data/status`, or a tag of an ELQR code, such as `elqr:32.11`
 * @property value the value, as text
 */
public data class DialectField(public val name: String, public val pointer: String, public val value: String)

private fun CoreDialectReading.toKassa() =
    DialectReading(fields.map { DialectField(it.name, it.pointer, it.value) }, codeMeans, statusMeans, unread, problem)
