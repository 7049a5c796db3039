// Generated from sandbox/data/test_data.json. Change that, and then:
// cargo test -p kassa-conformance --test tables -- --generate

extension Sandbox {
    /// What the sandbox can do wrong on purpose.
    public enum FaultName: String, Hashable, Sendable, CaseIterable, Codable {
        /// The connection is closed before the request takes effect; no money moves.
        case requestLost = "request-lost"
        /// The request takes effect, and the connection is closed without a response.
        case responseLost = "response-lost"
        /// The request takes effect immediately, and the response is delayed by `delay`, by default one second.
        case delay
        /// The request takes effect, and the response body arrives at one byte per second.
        case drip
        /// The connection is reset after the first line of its first request, if that request is for one of the
        /// gateway's endpoints; no money moves.
        case resetOnConnect = "reset-on-connect"
        /// The request takes effect, and the connection is reset before the first byte of the response.
        case resetBeforeResponse = "reset-before-response"
        /// The request takes effect, and the connection is reset in the middle of the response headers.
        case resetInHeaders = "reset-in-headers"
        /// The request takes effect, and the connection is reset in the middle of the response body.
        case resetInBody = "reset-in-body"
        /// The request takes effect, and the response is an HTML page with HTTP 502.
        case html502 = "html-502"
        /// The request takes effect, and the response body is not JSON.
        case notJSON = "not-json"
        /// The request takes effect, and the response body is truncated, with a length that matches the truncated body.
        case cutJSON = "cut-json"
        /// The request takes effect, and the response body never ends.
        case endlessBody = "endless-body"
        /// The status word of the response is replaced by `status`, by default `ON_HOLD`. Responses without a status
        /// word are unchanged.
        case unknownStatus = "unknown-status"
        /// The code of the response is replaced by `code`, by default `999`. Responses without an envelope are
        /// unchanged.
        case unknownCode = "unknown-code"
        /// The response uses the sandbox's other dialect.
        case otherDialect = "other-dialect"
        /// The payment becomes `PENDING` instead of final, until it is decided by `approve` or `decline`, or becomes
        /// final automatically if the clock is set to do so.
        case stuckPending = "stuck-pending"
        /// The request takes effect, and the response is a redirect (307) to the same endpoint: a client that follows
        /// it sends the payment twice.
        case redirect
        /// HTTP 429 with `Retry-After` set to `retryAfter`, by default one second. The request has no effect.
        case retryAfter = "retry-after"
        /// HTTP 503, with `Retry-After` if `retryAfter` is given. The request has no effect.
        case unavailable
        /// HTTP 401, regardless of the credentials. The request has no effect.
        case unauthorized
        /// The callback is never sent.
        case callbackLost = "callback-lost"
        /// The callback is delayed by `delay`, by default one second.
        case callbackLate = "callback-late"
        /// The callback is delivered twice.
        case callbackDuplicated = "callback-duplicated"
        /// A callback for a status that is not final is held back until the payment's next callback has been delivered.
        case callbackOutOfOrder = "callback-out-of-order"
        /// An additional callback with a different amount and the status `CHARGE`, although nobody paid.
        case callbackForged = "callback-forged"
        /// The confirmation is executed twice concurrently; if one of the two is refused, the response is that refusal.
        case otpTwice = "otp-twice"
    }
}
