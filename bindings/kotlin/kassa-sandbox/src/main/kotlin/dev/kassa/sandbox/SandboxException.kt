package dev.kassa.sandbox

/** The base class of all exceptions of this package: the sandbox could not execute a request. Injected faults are not exceptions. */
public open class SandboxException internal constructor(message: String, cause: Throwable? = null) :
    RuntimeException(message, cause) {

    /**
     * The sandbox did not start: a port in use, an invalid value, or an unusable database.
     *
     * @property exitCode the program's exit code; null if it could not be started
     * @property log the end of its standard error
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
     * The sandbox refused a request, and nothing changed.
     *
     * @property httpStatus 400 for a wrong value, 404 for something that does not exist, 409 for a payment that is already decided
     * @property violations for a wrong value: the error of each field
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
     * @property message the error
     */
    public data class Violation(public val field: String, public val message: String) {
        /** Both. */
        override fun toString(): String = if (field.isEmpty()) message else "$field: $message"
    }
}
