package dev.kassa.client

/** The base class of what calls of [KassaClient] throw. No message has the API key in it. */
public sealed class KassaClientException(message: String, cause: Throwable? = null) : RuntimeException(message, cause) {

    /**
     * The server refused the request (problem details, RFC 9457). Its status is 4xx, so nothing was changed.
     *
     * @property status the HTTP status, such as 400
     * @property kind the stable name of the problem, such as `invalid` or `reference_used`
     * @property detail what explains this response; null if there is nothing
     * @property violations every field that breaks a rule
     * @property state the state of the checkout or payment that prevents the request; null for other problems
     */
    public open class Refused internal constructor(
        message: String,
        public val status: Int,
        public val kind: String,
        public val detail: String?,
        public val violations: List<Violation>,
        public val state: String?,
    ) : KassaClientException(message) {
        internal constructor(message: String, other: Refused) :
            this(message, other.status, other.kind, other.detail, other.violations, other.state)
    }

    /** The API key is wrong or revoked. */
    public class WrongKey internal constructor(problem: Refused) :
        Refused("${problem.message}: set an API key of this server", problem)

    /** There is no such checkout or payment. */
    public class NotFound internal constructor(problem: Refused) : Refused(problem.message.orEmpty(), problem)

    /** The [state] of the checkout or payment prevents the request, or its reference was used for a checkout with other content. */
    public class Conflict internal constructor(problem: Refused) : Refused(problem.message.orEmpty(), problem)

    /**
     * The server's database was restored from a backup and no longer has the event of the cursor. Store [next], and read on after it:
     * events that you know can come again. What the server finds out once more has a new identifier, so recognise also by the order's
     * reference what is delivered already.
     *
     * @property next the cursor to read on after
     */
    public class HistoryGone internal constructor(problem: Refused, public val next: String) :
        Refused("${problem.message}: store `next` as the cursor, and read on after it; known events can come again", problem)

    /**
     * The server could not be reached, was too busy, or failed (5xx), also in the last attempt. Whether a call that changes something
     * was carried out is unknown, unless the message says that it was not. [KassaClient.openCheckout] can be repeated.
     *
     * @property status the HTTP status of the last attempt: 408, 429 or 5xx; null if there was no response
     * @property attempts how often the request was sent
     */
    public class Unavailable internal constructor(
        message: String,
        public val status: Int?,
        public val attempts: Int,
        cause: Throwable?,
    ) : KassaClientException(message, cause)

    /**
     * The response is not one of kassa-server's: a redirect, a page of a proxy, or JSON that lacks something.
     *
     * @property status its HTTP status
     */
    public class BadResponse internal constructor(message: String, public val status: Int) : KassaClientException(message)

    /** The thread was interrupted. Its flag is set again; whether the server has the request is unknown. */
    public class Interrupted internal constructor(cause: InterruptedException) :
        KassaClientException("the thread was interrupted while it waited for the server", cause)
}

/**
 * A rule that a field breaks.
 *
 * @property field name of the body's field, the parameter or the header
 * @property rule the rule, such as `format`
 * @property text a sentence that says what is allowed
 */
public data class Violation(public val field: String, public val rule: String, public val text: String)
