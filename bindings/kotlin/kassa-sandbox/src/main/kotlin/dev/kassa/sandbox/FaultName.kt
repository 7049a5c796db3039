// Generated from sandbox/data/test_data.json. Change that, and then:
// cargo test -p kassa-conformance --test tables -- --generate
package dev.kassa.sandbox

/**
 * What the sandbox can do wrong on purpose.
 *
 * @property word how the sandbox spells it
 */
public enum class FaultName(override val word: String) : Word {
    /** The connection is closed before the request takes effect; nothing happens to the money. */
    REQUEST_LOST("request-lost"),

    /** The request takes effect, and the connection is closed without an answer. */
    RESPONSE_LOST("response-lost"),

    /** The request takes effect at once, and is answered late: by `delay`, a second unless given. */
    DELAY("delay"),

    /** The request takes effect, and the answer's body comes a byte a second. */
    DRIP("drip"),

    /**
     * The connection is reset on the first line of its first request, where that goes to one of the nine endpoints;
     * nothing happens to the money.
     */
    RESET_ON_CONNECT("reset-on-connect"),

    /** The request takes effect, and the connection is reset before the answer's first byte. */
    RESET_BEFORE_RESPONSE("reset-before-response"),

    /** The request takes effect, and the connection is reset in the middle of the answer's head. */
    RESET_IN_HEADERS("reset-in-headers"),

    /** The request takes effect, and the connection is reset in the middle of the answer's body. */
    RESET_IN_BODY("reset-in-body"),

    /** The request takes effect, and an HTML page with HTTP 502 comes back. */
    HTML_502("html-502"),

    /** The request takes effect, and the answer's body is no JSON. */
    NOT_JSON("not-json"),

    /** The request takes effect, and the answer's body ends in its middle, under a length that says so. */
    CUT_JSON("cut-json"),

    /** The request takes effect, and the answer's body has no end. */
    ENDLESS_BODY("endless-body"),

    /**
     * The answer's status word is another one: `status`, `ON_HOLD` unless given. Answers without a status word are left
     * alone.
     */
    UNKNOWN_STATUS("unknown-status"),

    /** The answer's code is another one: `code`, `999` unless given. Answers without an envelope are left alone. */
    UNKNOWN_CODE("unknown-code"),

    /** The answer is written in the sandbox's other dialect. */
    OTHER_DIALECT("other-dialect"),

    /**
     * The payment becomes `PENDING` instead of final, until it is decided by `approve` or `decline`, or resolves by
     * itself where the clock is set to that.
     */
    STUCK_PENDING("stuck-pending"),

    /**
     * The request takes effect, and is answered with a redirect (307) to the same endpoint: who follows it sends the
     * payment twice.
     */
    REDIRECT("redirect"),

    /** HTTP 429 with `Retry-After`: `retryAfter`, a second unless given. Nothing takes effect. */
    RETRY_AFTER("retry-after"),

    /** HTTP 503, with `Retry-After` where `retryAfter` is given. Nothing takes effect. */
    UNAVAILABLE("unavailable"),

    /** HTTP 401, whatever the credentials. Nothing takes effect. */
    UNAUTHORIZED("unauthorized"),

    /** The callback is never sent. */
    CALLBACK_LOST("callback-lost"),

    /** The callback is sent late: by `delay`, a second unless given. */
    CALLBACK_LATE("callback-late"),

    /** The callback is delivered twice. */
    CALLBACK_DUPLICATED("callback-duplicated"),

    /** A callback of a status that is not final is held back until the payment's next one was delivered. */
    CALLBACK_OUT_OF_ORDER("callback-out-of-order"),

    /** One more callback, with another amount and the status `CHARGE`, for money that nobody paid. */
    CALLBACK_FORGED("callback-forged"),

    /** The confirmation is carried out twice at once; where one of the two was refused, that is the answer. */
    OTP_TWICE("otp-twice"),
}
