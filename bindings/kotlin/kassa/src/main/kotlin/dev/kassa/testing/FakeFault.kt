package dev.kassa.testing

import dev.kassa.PaymentException
import dev.kassa.sendable
import kotlin.time.Duration
import kotlin.time.toJavaDuration
import kotlin.time.toKotlinDuration
import dev.kassa.internal.FakeFault as CoreFakeFault

/** The fault of one call (fault injection). */
public sealed interface FakeFault {
    /** No connection is made: [PaymentException.Unavailable]. */
    public data object NoConnection : FakeFault

    /** The connection breaks before the gateway gets the request: a payment was **not** made, but its outcome is still unknown. */
    public data object RequestLost : FakeFault

    /**
     * The gateway executes the request, and the connection breaks before the response arrives: a payment **was** made, and its outcome is
     * unknown.
     */
    public data object ResponseLost : FakeFault

    /** The gateway executes the request and never responds: as [ResponseLost], after the call's deadline. */
    public data object NoResponse : FakeFault

    /**
     * The gateway refuses: [PaymentException.Refused].
     *
     * @property code its code
     * @property reason its words
     */
    public data class Refused(public val code: String, public val reason: String) : FakeFault

    /** The gateway does not accept the credentials: [PaymentException.Unauthorized]. */
    public data object Unauthorized : FakeFault

    /** The gateway fails and does nothing (HTTP 500): a payment's outcome is unknown, any other call is unavailable. */
    public data object ServerError : FakeFault

    /**
     * The gateway takes no more requests now (HTTP 429): [PaymentException.Unavailable] with its `retryAfter`.
     *
     * @property retryAfter when to try again
     */
    public data class TooManyRequests(public val retryAfter: Duration) : FakeFault {
        /** By Java's duration. */
        public constructor(retryAfter: java.time.Duration) : this(retryAfter.toKotlinDuration())

        /** When to try again, for Java. */
        public fun getRetryAfter(): java.time.Duration = retryAfter.toJavaDuration()
    }

    /** What has no values, for Java. */
    public companion object {
        /** [NoConnection], for Java. */
        @JvmStatic
        public fun noConnection(): FakeFault = NoConnection

        /** [RequestLost], for Java. */
        @JvmStatic
        public fun requestLost(): FakeFault = RequestLost

        /** [ResponseLost], for Java. */
        @JvmStatic
        public fun responseLost(): FakeFault = ResponseLost

        /** [NoResponse], for Java. */
        @JvmStatic
        public fun noResponse(): FakeFault = NoResponse

        /** [Unauthorized], for Java. */
        @JvmStatic
        public fun unauthorized(): FakeFault = Unauthorized

        /** [ServerError], for Java. */
        @JvmStatic
        public fun serverError(): FakeFault = ServerError
    }
}

internal fun FakeFault.toCore(): CoreFakeFault = when (this) {
    FakeFault.NoConnection -> CoreFakeFault.NoConnection
    FakeFault.RequestLost -> CoreFakeFault.RequestLost
    FakeFault.ResponseLost -> CoreFakeFault.ResponseLost
    FakeFault.NoResponse -> CoreFakeFault.NoResponse
    is FakeFault.Refused -> CoreFakeFault.Refused(sendable("code", code), sendable("reason", reason))
    FakeFault.Unauthorized -> CoreFakeFault.Unauthorized
    FakeFault.ServerError -> CoreFakeFault.ServerError
    is FakeFault.TooManyRequests -> CoreFakeFault.TooManyRequests(sendable(retryAfter))
}
