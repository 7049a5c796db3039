package dev.kassa.sandbox

/** The sandbox could not do what it was asked, as distinct from the faults it plays. Every exception of this package is one. */
public open class SandboxException internal constructor(message: String, cause: Throwable? = null) :
    RuntimeException(message, cause) {

    /**
     * The sandbox did not start: a port that is taken, a value it does not accept, a database it cannot use.
     *
     * @property exitCode what the program ended with; null where it could not be started at all
     * @property log the end of what it wrote to its standard error
     */
    public class NotStarted internal constructor(
        detail: String,
        public val exitCode: Int? = null,
        public val log: String = "",
        cause: Throwable? = null,
    ) : SandboxException(if (log.isEmpty()) detail else "$detail\n$log", cause)

    /** The sandbox was stopped, was killed, or does not answer. */
    public class NotRunning internal constructor(message: String, cause: Throwable? = null) : SandboxException(message, cause)

    /**
     * The sandbox refused a question or a change, and nothing changed.
     *
     * @property httpStatus 400 for a wrong value, 404 for what there is none of, 409 for a payment that is already decided
     * @property violations for a wrong value: what is wrong with each field
     */
    public open class Refused internal constructor(
        public val httpStatus: Int,
        detail: String,
        public val violations: List<Violation> = emptyList(),
    ) : SandboxException(detail)

    /** There is no payment with this number. */
    public class UnknownPayment internal constructor(message: String) : Refused(404, message)

    /**
     * What is wrong with a field.
     *
     * @property field the field, as the sandbox spells it
     * @property message what is wrong with it
     */
    public data class Violation(public val field: String, public val message: String) {
        /** Both. */
        override fun toString(): String = if (field.isEmpty()) message else "$field: $message"
    }
}
