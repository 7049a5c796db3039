// Generated from sandbox/data/test_data.json. Change that, and then:
// cargo test -p kassa-conformance --test tables -- --generate

extension Sandbox {
    /// What the sandbox can do wrong on purpose.
    public enum FaultName: String, Hashable, Sendable, CaseIterable, Codable {
        /// The connection is closed before the request takes effect; nothing happens to the money.
        case requestLost = "request-lost"
        /// The request takes effect, and the connection is closed without an answer.
        case responseLost = "response-lost"
        /// The request takes effect at once, and is answered late: by `delay`, a second unless given.
        case delay
        /// The request takes effect, and the answer's body comes a byte a second.
        case drip
        /// The connection is reset on the first line of its first request, where that goes to one of the nine
        /// endpoints; nothing happens to the money.
        case resetOnConnect = "reset-on-connect"
        /// The request takes effect, and the connection is reset before the answer's first byte.
        case resetBeforeResponse = "reset-before-response"
        /// The request takes effect, and the connection is reset in the middle of the answer's head.
        case resetInHeaders = "reset-in-headers"
        /// The request takes effect, and the connection is reset in the middle of the answer's body.
        case resetInBody = "reset-in-body"
        /// The request takes effect, and an HTML page with HTTP 502 comes back.
        case html502 = "html-502"
        /// The request takes effect, and the answer's body is no JSON.
        case notJSON = "not-json"
        /// The request takes effect, and the answer's body ends in its middle, under a length that says so.
        case cutJSON = "cut-json"
        /// The request takes effect, and the answer's body has no end.
        case endlessBody = "endless-body"
        /// The answer's status word is another one: `status`, `ON_HOLD` unless given. Answers without a status word are
        /// left alone.
        case unknownStatus = "unknown-status"
        /// The answer's code is another one: `code`, `999` unless given. Answers without an envelope are left alone.
        case unknownCode = "unknown-code"
        /// The answer is written in the sandbox's other dialect.
        case otherDialect = "other-dialect"
        /// The payment becomes `PENDING` instead of final, until it is decided by `approve` or `decline`, or resolves
        /// by itself where the clock is set to that.
        case stuckPending = "stuck-pending"
        /// The request takes effect, and is answered with a redirect (307) to the same endpoint: who follows it sends
        /// the payment twice.
        case redirect
        /// HTTP 429 with `Retry-After`: `retryAfter`, a second unless given. Nothing takes effect.
        case retryAfter = "retry-after"
        /// HTTP 503, with `Retry-After` where `retryAfter` is given. Nothing takes effect.
        case unavailable
        /// HTTP 401, whatever the credentials. Nothing takes effect.
        case unauthorized
        /// The callback is never sent.
        case callbackLost = "callback-lost"
        /// The callback is sent late: by `delay`, a second unless given.
        case callbackLate = "callback-late"
        /// The callback is delivered twice.
        case callbackDuplicated = "callback-duplicated"
        /// A callback of a status that is not final is held back until the payment's next one was delivered.
        case callbackOutOfOrder = "callback-out-of-order"
        /// One more callback, with another amount and the status `CHARGE`, for money that nobody paid.
        case callbackForged = "callback-forged"
        /// The confirmation is carried out twice at once; where one of the two was refused, that is the answer.
        case otpTwice = "otp-twice"
    }
}
