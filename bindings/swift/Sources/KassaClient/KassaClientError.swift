import Foundation

/// What calls of ``KassaClient`` throw, beside the `CancellationError` of a cancelled task. No text of any of them holds the API key or a
/// secret.
public enum KassaClientError: Error, Hashable {
    /// A setting or an argument is wrong. Nothing was sent.
    case invalid(field: String, rule: String)
    /// The API key is wrong or revoked (401). Make another one with `kassa-server keys new`.
    case wrongKey(Problem)
    /// There is no such checkout or payment (404).
    case notFound(Problem)
    /// What the server already has prevents the request (409, 422): ``Problem/state`` says in which state the checkout or payment is.
    /// `reference_used`: the reference belongs to a checkout with other content. To take another payment for the same order, use another
    /// reference, such as `order-17.2`.
    case conflict(Problem)
    /// The server's database was restored from a backup that lacks the cursor's event (410). Read on from `next`, which lies an hour
    /// before the lost event: known events can come again, and what the server finds out again has a new identifier. Recognise by the
    /// order, not only by the event's identifier, what you have already delivered.
    case historyGone(Problem, next: String)
    /// The server refused the request for another reason (4xx). Nothing was changed; a repetition does not help.
    case refused(Problem)
    /// The server could not be reached, failed (5xx), or cannot answer now (408, 429), after all attempts. The request may have been
    /// executed; ``KassaClient/openCheckout(_:amount:description:returnURL:methods:lifetime:metadata:currency:)`` can be repeated.
    /// `httpStatus` is that of the last response, nil if there was none; `retryAfter` is how long the server asks to wait.
    case unavailable(detail: String, httpStatus: Int?, retryAfter: Duration?)
    /// The response is not one of kassa-server. Usually something else answers at this address: a proxy, a login page. With a status of
    /// 200, or of 500 and more, the request may have been executed. `text` is how the response begins, with secrets masked.
    case badResponse(detail: String, httpStatus: Int, text: String)
    /// The client was closed by ``KassaClient/close()``.
    case closed

    /// Problem details (RFC 9457): why the server refused a request.
    public struct Problem: Hashable, Sendable {
        /// The HTTP status, such as 400.
        public let httpStatus: Int
        /// The problem's name, for programs: the last part of `type`, such as `invalid` or `reference_used`.
        public let kind: String
        /// What is wrong, in a sentence.
        public let detail: String
        /// Every rule that the request breaks.
        public let violations: [FieldViolation]
        /// The state of the checkout or payment that prevents the request, if that is why.
        public let state: String?
    }

    /// A rule that a field of the request breaks.
    public struct FieldViolation: Hashable, Sendable {
        /// The field of the body, the parameter or the header, by its name on the wire, such as `return_url`.
        public let field: String
        /// The rule's name, for programs.
        public let rule: String
        /// One sentence that says what is allowed.
        public let text: String
    }

    /// Why the server refused the request; nil for the other errors.
    public var problem: Problem? {
        switch self {
        case .wrongKey(let problem), .notFound(let problem), .conflict(let problem), .historyGone(let problem, _),
            .refused(let problem):
            problem
        case .invalid, .unavailable, .badResponse, .closed: nil
        }
    }

    /// Whether the same request can succeed later.
    public var isTemporary: Bool {
        switch self {
        case .unavailable: true
        case .badResponse(_, let httpStatus, _): httpStatus >= 500
        default: false
        }
    }
}

extension KassaClientError: LocalizedError, CustomStringConvertible {
    /// What happened, in a sentence.
    public var description: String {
        switch self {
        case .invalid(let field, let rule): "\(field) \(rule)"
        case .historyGone(let problem, let next): "\(problem) Read on from the cursor '\(next)': events that you know can come again."
        case .wrongKey(let problem), .notFound(let problem), .conflict(let problem), .refused(let problem): "\(problem)"
        case .unavailable(let detail, _, _): detail
        case .badResponse(let detail, let httpStatus, let text): "HTTP \(httpStatus): \(detail). The response begins with: '\(text)'"
        case .closed: "the client is closed"
        }
    }

    /// The same as ``description``.
    public var errorDescription: String? { description }
}

extension KassaClientError.Problem: CustomStringConvertible {
    /// The status, the detail, the state, and every rule that is broken.
    public var description: String {
        // The server's sentences begin with their field.
        let rules = violations.map { $0.text.hasPrefix($0.field) ? $0.text : "\($0.field): \($0.text)" }.joined(separator: "; ")
        let state = state.map { " Its state is \($0)." } ?? ""
        return "HTTP \(httpStatus) (\(kind)): \(detail)\(state)\(rules.isEmpty ? "" : " \(rules)")"
    }
}

/// Why an event is not accepted. **Do nothing that it says.** Log why, and answer with 401 without the reason.
///
/// ``Reason/malformedSecret`` is the shop's own mistake: every event is refused. Answer with 500, and alert somebody.
public struct EventError: LocalizedError, Hashable, CustomStringConvertible {
    /// Why, for programs.
    public let reason: Reason
    /// Why, and what to do. It holds no secret.
    public let detail: String

    /// Why an event is not accepted. If a request has several faults, it is the first of these.
    public enum Reason: String, Hashable, Sendable, CaseIterable {
        /// A secret is not `whsec_` and base64 of 24 to 64 bytes, or there is none. A mistake in the shop's settings.
        case malformedSecret = "malformed_secret"
        /// `webhook-id`, `webhook-timestamp` or `webhook-signature` is missing.
        case missingHeader = "missing_header"
        /// `webhook-timestamp` is not a number of seconds.
        case malformedTimestamp = "malformed_timestamp"
        /// It was sent too long ago.
        case tooOld = "too_old"
        /// It was sent in the future: the clocks differ.
        case tooNew = "too_new"
        /// `webhook-signature` has no signature of the version `v1`.
        case malformedSignature = "malformed_signature"
        /// No secret made any of the signatures.
        case wrongSignature = "wrong_signature"
        /// The signature is right, and the body is not an event.
        case malformedEvent = "malformed_event"
    }

    /// The same as ``detail``.
    public var description: String { detail }
    /// The same as ``detail``.
    public var errorDescription: String? { detail }
}
