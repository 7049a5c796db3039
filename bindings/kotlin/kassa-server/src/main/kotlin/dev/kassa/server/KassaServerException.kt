package dev.kassa.server

/** The base class of all exceptions of this package: the server could not execute a request. */
public open class KassaServerException internal constructor(message: String, cause: Throwable? = null) :
    RuntimeException(message, cause) {

    /**
     * The server did not start: a wrong setting, or a port in use, a database it cannot use.
     *
     * @property exitCode the program's exit code; null if it could not be started
     * @property log the end of its standard error
     */
    public class NotStarted internal constructor(
        detail: String,
        public val exitCode: Int? = null,
        public val log: String = "",
        cause: Throwable? = null,
    ) : KassaServerException(if (log.isEmpty()) detail else "$detail\n$log", cause)

    /** The server was stopped, was killed, or does not answer. */
    public class NotRunning internal constructor(message: String, cause: Throwable? = null) : KassaServerException(message, cause)

    /**
     * The server refused a request.
     *
     * @property httpStatus such as 422
     * @property problem the problem details, as JSON (RFC 9457)
     */
    public class Refused internal constructor(public val httpStatus: Int, public val problem: String) :
        KassaServerException("HTTP $httpStatus: $problem")

    /** The awaited event did not happen in time. */
    public class TooLate internal constructor(message: String) : KassaServerException(message)
}
