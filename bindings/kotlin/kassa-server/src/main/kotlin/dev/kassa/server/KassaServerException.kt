package dev.kassa.server

/** The server could not do what it was asked. Every exception of this package is one. */
public open class KassaServerException internal constructor(message: String, cause: Throwable? = null) :
    RuntimeException(message, cause) {

    /**
     * The server did not start: a setting that is wrong, a port that is taken, a database it cannot use.
     *
     * @property exitCode what the program ended with; null where it could not be started at all
     * @property log the end of what it wrote to its standard error
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
     * @property problem what it said, as JSON (RFC 9457)
     */
    public class Refused internal constructor(public val httpStatus: Int, public val problem: String) :
        KassaServerException("HTTP $httpStatus: $problem")

    /** What was waited for did not happen in time. */
    public class TooLate internal constructor(message: String) : KassaServerException(message)
}
