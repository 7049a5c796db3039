// Generated from sandbox/data/test_data.json. Change that, and then:
// cargo test -p kassa-conformance --test tables -- --generate
package dev.kassa.sandbox

/**
 * What the sandbox can do wrong on purpose.
 *
 * @property word how the sandbox spells it
 */
public enum class FaultName(override val word: String) : Word {
    /** The connection is closed before the request takes effect; no money moves. */
    REQUEST_LOST("request-lost"),

    /** The request takes effect, and the connection is closed without a response. */
    RESPONSE_LOST("response-lost"),

    /** The request takes effect immediately, and the response is delayed by `delay`, by default one second. */
    DELAY("delay"),

    /** The request takes effect, and the response body arrives at one byte per second. */
    DRIP("drip"),

    /**
     * The connection is reset after the first line of its first request, if that request is for one of the gateway's
     * endpoints; no money moves.
     */
    RESET_ON_CONNECT("reset-on-connect"),

    /** The request takes effect, and the connection is reset before the first byte of the response. */
    RESET_BEFORE_RESPONSE("reset-before-response"),

    /** The request takes effect, and the connection is reset in the middle of the response headers. */
    RESET_IN_HEADERS("reset-in-headers"),

    /** The request takes effect, and the connection is reset in the middle of the response body. */
    RESET_IN_BODY("reset-in-body"),

    /** The request takes effect, and the response is an HTML page with HTTP 502. */
    HTML_502("html-502"),

    /** The request takes effect, and the response body is not JSON. */
    NOT_JSON("not-json"),

    /** The request takes effect, and the response body is truncated, with a length that matches the truncated body. */
    CUT_JSON("cut-json"),

    /** The request takes effect, and the response body never ends. */
    ENDLESS_BODY("endless-body"),

    /**
     * The status word of the response is replaced by `status`, by default `ON_HOLD`. Responses without a status word
     * are unchanged.
     */
    UNKNOWN_STATUS("unknown-status"),

    /**
     * The code of the response is replaced by `code`, by default `999`. Responses without an envelope are unchanged.
     */
    UNKNOWN_CODE("unknown-code"),

    /** The response uses the sandbox's other dialect. */
    OTHER_DIALECT("other-dialect"),

    /**
     * The payment becomes `PENDING` instead of final, until it is decided by `approve` or `decline`, or becomes final
     * automatically if the clock is set to do so.
     */
    STUCK_PENDING("stuck-pending"),

    /**
     * The request takes effect, and the response is a redirect (307) to the same endpoint: a client that follows it
     * sends the payment twice.
     */
    REDIRECT("redirect"),

    /** HTTP 429 with `Retry-After` set to `retryAfter`, by default one second. The request has no effect. */
    RETRY_AFTER("retry-after"),

    /** HTTP 503, with `Retry-After` if `retryAfter` is given. The request has no effect. */
    UNAVAILABLE("unavailable"),

    /** HTTP 401, regardless of the credentials. The request has no effect. */
    UNAUTHORIZED("unauthorized"),

    /** The callback is never sent. */
    CALLBACK_LOST("callback-lost"),

    /** The callback is delayed by `delay`, by default one second. */
    CALLBACK_LATE("callback-late"),

    /** The callback is delivered twice. */
    CALLBACK_DUPLICATED("callback-duplicated"),

    /** A callback for a status that is not final is held back until the payment's next callback has been delivered. */
    CALLBACK_OUT_OF_ORDER("callback-out-of-order"),

    /** An additional callback with a different amount and the status `CHARGE`, although nobody paid. */
    CALLBACK_FORGED("callback-forged"),

    /** The confirmation is executed twice concurrently; if one of the two is refused, the response is that refusal. */
    OTP_TWICE("otp-twice"),
}
