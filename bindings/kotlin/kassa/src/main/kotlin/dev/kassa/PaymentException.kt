package dev.kassa

import kotlin.time.Duration
import kotlin.time.toJavaDuration
import kotlin.time.toKotlinDuration
import dev.kassa.internal.PaymentException as CorePaymentException

/**
 * Why a call failed: **what happened to the money**, and what to do next.
 *
 * Only [OutcomeUnknown] means that this call may have moved money; every other one says that it did not. None ever holds a card number, a
 * CVC, a one-time password or a password: if the gateway echoes one in its response, it is masked.
 *
 * [message] says what happened and what to do.
 *
 * It is [Serializable][java.io.Serializable] with all its content, between programs with the same version of Kassa. For longer storage,
 * use the text of the [PaymentRef].
 */
public sealed class PaymentException : Exception() {
    /** What happened, and what to do, in one English sentence or two. */
    override val message: String by lazy(LazyThreadSafetyMode.PUBLICATION) { calling { toCore().describe() } }

    /** True if **this call** may have moved money: only for [OutcomeUnknown]. Never send such a payment again. */
    public val paymentMayExist: Boolean get() = calling { toCore().paymentMayExist() }

    /** True if you can repeat the same call later: only for [Unavailable]. */
    public val isRetryable: Boolean get() = calling { toCore().isRetryable() }

    /** The HTTP status of the response, if there was one. */
    public open val httpStatus: Int? get() = null

    /** The gateway's code, if the response had one. */
    public open val code: String? get() = null

    /** The body of the response, if there was one, with secrets masked. */
    public open val body: String? get() = null

    /** The name of its kind, the same in every language, such as `OutcomeUnknown`. */
    public val kind: String get() = calling { toCore().kind() }

    /**
     * The input breaks rules. **Nothing was sent.** Fix the named fields; the error has all violations.
     *
     * @property violations every rule that is broken, in the order of the interface's table
     */
    public class Invalid(public val violations: List<Violation>) : PaymentException()

    /**
     * The configuration is wrong: **nothing happened.** A bad setting, a bad certificate, or an address that is not the gateway's (404,
     * 405 or 407 without the gateway's envelope).
     *
     * @property detail what is wrong
     */
    public class Misconfigured @JvmOverloads constructor(
        public val detail: String,
        override val httpStatus: Int? = null,
        override val code: String? = null,
        override val body: String? = null,
    ) : PaymentException()

    /**
     * The gateway did not accept the credentials (401, or 403 with the gateway's envelope): **nothing happened.**
     *
     * @property detail the gateway's message
     */
    public class Unauthorized @JvmOverloads constructor(
        public val detail: String,
        override val httpStatus: Int = 401,
        override val code: String? = null,
        override val body: String = "",
    ) : PaymentException()

    /**
     * **Nothing happened, try again**: no connection was made, the gateway asked to wait (429), or a request that moves no money failed
     * in transit.
     *
     * @property detail what went wrong
     * @property retryAfter the gateway's `Retry-After`, capped at one minute; null if it sent none
     */
    public class Unavailable(
        public val detail: String,
        retryAfter: Duration? = null,
        override val httpStatus: Int? = null,
        override val code: String? = null,
        override val body: String? = null,
    ) : PaymentException() {
        // Java's duration is Serializable, Kotlin's is not.
        private val pause = retryAfter?.toJavaDuration()

        public val retryAfter: Duration? get() = pause?.toKotlinDuration()

        /** Without a pause that the gateway requested. */
        public constructor(detail: String) : this(detail, null)

        /** With a pause, by Java's duration. */
        @JvmOverloads
        public constructor(
            detail: String,
            retryAfter: java.time.Duration,
            httpStatus: Int? = null,
            code: String? = null,
            body: String? = null,
        ) : this(detail, retryAfter.toKotlinDuration(), httpStatus, code, body)

        /** The gateway's `Retry-After` for Java, capped at one minute; null if it sent none. */
        public fun getRetryAfter(): java.time.Duration? = pause
    }

    /**
     * The gateway refused: **nothing happened.** Tell the payer.
     *
     * @property reason the gateway's message, if any
     */
    public class Refused @JvmOverloads constructor(
        override val httpStatus: Int,
        override val code: String? = null,
        public val reason: String? = null,
        override val body: String = "",
    ) : PaymentException()

    /**
     * **The payment may have happened**: it was sent, and no trustworthy response arrived. Watch [payment]; never send it again.
     *
     * @property payment the payment reference, for status queries
     * @property detail why the outcome is unknown
     * @property reason the gateway's message, if the response had one
     */
    public class OutcomeUnknown @JvmOverloads constructor(
        public val payment: PaymentRef,
        public val detail: String,
        override val httpStatus: Int? = null,
        override val code: String? = null,
        public val reason: String? = null,
        override val body: String? = null,
    ) : PaymentException()

    /**
     * The response to a request that moves no money could not be understood: **nothing happened.**
     *
     * @property detail what could not be understood
     */
    public class Unexpected @JvmOverloads constructor(
        public val detail: String,
        override val httpStatus: Int = 200,
        override val code: String? = null,
        override val body: String = "",
    ) : PaymentException()

    /**
     * A watch reached its deadline while the payment was still pending. Watch it again, or let a person decide.
     *
     * @property last the last status, if any
     */
    public class DeadlineExpired @JvmOverloads constructor(public val last: StatusReport? = null) : PaymentException()
}

internal fun CorePaymentException.toKassa(): PaymentException = when (this) {
    is CorePaymentException.Invalid -> PaymentException.Invalid(violations.map { it.toKassa() })
    is CorePaymentException.Misconfigured -> PaymentException.Misconfigured(detail, httpStatus?.toInt(), code, body)
    is CorePaymentException.Unauthorized -> PaymentException.Unauthorized(detail, httpStatus.toInt(), code, body)
    is CorePaymentException.Unavailable ->
        PaymentException.Unavailable(detail, retryAfter?.toKotlinDuration(), httpStatus?.toInt(), code, body)
    is CorePaymentException.Refused -> PaymentException.Refused(httpStatus.toInt(), code, reason, body)
    is CorePaymentException.OutcomeUnknown ->
        PaymentException.OutcomeUnknown(payment.toKassa(), detail, httpStatus?.toInt(), code, reason, body)
    is CorePaymentException.Unexpected -> PaymentException.Unexpected(detail, httpStatus.toInt(), code, body)
    is CorePaymentException.DeadlineExpired -> PaymentException.DeadlineExpired(last?.toKassa())
}

internal fun PaymentException.toCore(): CorePaymentException = when (this) {
    is PaymentException.Invalid -> CorePaymentException.Invalid(violations.map { it.toCore() })
    is PaymentException.Misconfigured -> CorePaymentException.Misconfigured(detail, httpStatus?.toUShort(), code, body)
    is PaymentException.Unauthorized -> CorePaymentException.Unauthorized(detail, httpStatus.toUShort(), code, body)
    is PaymentException.Unavailable ->
        CorePaymentException.Unavailable(detail, retryAfter?.toJavaDuration(), httpStatus?.toUShort(), code, body)
    is PaymentException.Refused -> CorePaymentException.Refused(httpStatus.toUShort(), code, reason, body)
    is PaymentException.OutcomeUnknown ->
        CorePaymentException.OutcomeUnknown(payment.toCore(), httpStatus?.toUShort(), code, reason, detail, body)
    is PaymentException.Unexpected -> CorePaymentException.Unexpected(detail, httpStatus.toUShort(), code, body)
    is PaymentException.DeadlineExpired -> CorePaymentException.DeadlineExpired(last?.toCore())
}
