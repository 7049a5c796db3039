import Foundation
internal import KassaGenerated

/// Why a call failed: **what happened to the money**, and what to do next.
///
/// Only ``outcomeUnknown(payment:httpStatus:code:reason:detail:body:)`` means that this call may have moved money; every other error says
/// that it did not. No error ever holds a card number, a CVC, a one-time password or a password: if the gateway echoes one in its
/// response, it is masked.
///
/// It is `Codable`: an object with the case's name that holds an object with the case's values, such as `{"refused": {"httpStatus": 400,
/// "code": "05", "body": "{}"}}`.
///
/// Calls can also throw `CancellationError` if their task was cancelled. It says nothing about a payment that was already sent: watch it.
public enum PaymentError: Error, Hashable, Codable {
    /// The input breaks rules. **Nothing was sent.** Fix the named fields; the error has all violations, in the order of the interface's
    /// table.
    case invalid(violations: [Violation])
    /// The configuration is wrong: **nothing happened.** A bad setting, a bad certificate, or an address that is not the gateway's (404,
    /// 405 or 407 without the gateway's envelope).
    case misconfigured(detail: String, httpStatus: Int? = nil, code: String? = nil, body: String? = nil)
    /// The gateway did not accept the credentials (401, or 403 with the gateway's envelope): **nothing happened.**
    case unauthorized(detail: String, httpStatus: Int = 401, code: String? = nil, body: String = "")
    /// **Nothing happened, try again**: no connection was made, the gateway asked to wait (429), or a request that moves no money failed
    /// in transit. `retryAfter` is how long the gateway asked to wait, if it did.
    case unavailable(
        detail: String, retryAfter: Duration? = nil, httpStatus: Int? = nil, code: String? = nil, body: String? = nil)
    /// The gateway refused: **nothing happened.** Tell the payer. `code` and `reason` are the gateway's own, `body` is its response with
    /// secrets masked.
    case refused(httpStatus: Int, code: String? = nil, reason: String? = nil, body: String = "")
    /// **The payment may have happened**: it was sent, and no trustworthy response arrived. Watch `payment`
    /// (``Gateway/watch(_:policy:)``); never send it again. `detail` is why the outcome is unknown; `body` is the response, if there was
    /// one, with secrets masked.
    case outcomeUnknown(
        payment: PaymentRef, httpStatus: Int? = nil, code: String? = nil, reason: String? = nil, detail: String,
        body: String? = nil)
    /// The response to a request that moves no money could not be understood: **nothing happened.** `body` is the response with secrets
    /// masked.
    case unexpected(detail: String, httpStatus: Int = 200, code: String? = nil, body: String = "")
    /// A watch reached its deadline while the payment was still pending. Watch it again, or let a person decide. `last` is the last
    /// status, if any.
    case deadlineExpired(last: StatusReport?)
}

extension PaymentError {
    /// True if **this call** may have moved money: only for ``outcomeUnknown(payment:httpStatus:code:reason:detail:body:)``. Never send
    /// such a payment again.
    public var paymentMayExist: Bool { (try? withoutAmount.paymentMayExist()) ?? true }

    /// True if you can repeat the same call later: only for ``unavailable(detail:retryAfter:httpStatus:code:body:)``.
    public var isRetryable: Bool { (try? withoutAmount.isRetryable()) ?? false }

    /// The HTTP status of the response, if there was one.
    public var httpStatus: Int? { response?.httpStatus }

    /// The gateway's code, if the response had one.
    public var code: String? { response?.code }

    /// The body of the response, if there was one, with secrets masked.
    public var body: String? { response?.body }

    private var response: (httpStatus: Int?, code: String?, body: String?)? {
        switch self {
        case .misconfigured(_, let httpStatus, let code, let body): (httpStatus, code, body)
        case .unauthorized(_, let httpStatus, let code, let body): (httpStatus, code, body)
        case .unavailable(_, _, let httpStatus, let code, let body): (httpStatus, code, body)
        case .refused(let httpStatus, let code, _, let body): (httpStatus, code, body)
        case .outcomeUnknown(_, let httpStatus, let code, _, _, let body): (httpStatus, code, body)
        case .unexpected(_, let httpStatus, let code, let body): (httpStatus, code, body)
        case .invalid, .deadlineExpired: nil
        }
    }

    /// The variant's name, the same in every language, such as `OutcomeUnknown`.
    public var kind: String { (try? withoutAmount.kind()) ?? "PaymentError" }

    /// What happened, and what to do, in one English sentence or two.
    public func describe() -> String {
        let core = core(\.core)
        return (try? core.describe()) ?? (try? withoutAmount.describe()) ?? "PaymentError"
    }
}

extension PaymentError: LocalizedError, CustomStringConvertible {
    /// The same as ``describe()``.
    public var description: String { describe() }

    /// The same as ``describe()``.
    public var errorDescription: String? { describe() }
}

extension PaymentError {
    init(_ core: KassaGenerated.PaymentError) {
        self =
            switch core {
            case .Invalid(let violations): .invalid(violations: violations.map(Violation.init))
            case .Misconfigured(let detail, let httpStatus, let code, let body):
                .misconfigured(detail: detail, httpStatus: httpStatus.map(Int.init), code: code, body: body)
            case .Unauthorized(let detail, let httpStatus, let code, let body):
                .unauthorized(detail: detail, httpStatus: Int(httpStatus), code: code, body: body)
            case .Unavailable(let detail, let retryAfter, let httpStatus, let code, let body):
                .unavailable(
                    detail: detail, retryAfter: retryAfter.map(Duration.init(core:)), httpStatus: httpStatus.map(Int.init),
                    code: code, body: body)
            case .Refused(let httpStatus, let code, let reason, let body):
                .refused(httpStatus: Int(httpStatus), code: code, reason: reason, body: body)
            case .OutcomeUnknown(let payment, let httpStatus, let code, let reason, let detail, let body):
                .outcomeUnknown(
                    payment: PaymentRef(payment), httpStatus: httpStatus.map(Int.init), code: code, reason: reason, detail: detail,
                    body: body)
            case .Unexpected(let detail, let httpStatus, let code, let body):
                .unexpected(detail: detail, httpStatus: Int(httpStatus), code: code, body: body)
            case .DeadlineExpired(let last): .deadlineExpired(last: last.map(StatusReport.init))
            }
    }

    /// As the core has it, save for amounts: one that is none there (not a number, too many digits) could not be handed over.
    private var withoutAmount: KassaGenerated.PaymentError { core(\.withoutAmount) }

    /// As the core has it, save for the amount of the last status, which it needs for nothing. A description names the payment, with its
    /// amount.
    private func core(_ form: (PaymentRef) -> KassaGenerated.PaymentRef) -> KassaGenerated.PaymentError {
        switch self {
        case .invalid(let violations): .Invalid(violations: violations.map(\.core))
        case .misconfigured(let detail, let httpStatus, let code, let body):
            .Misconfigured(detail: detail, httpStatus: httpStatus.map(UInt16.init(clamping:)), code: code, body: body)
        case .unauthorized(let detail, let httpStatus, let code, let body):
            .Unauthorized(detail: detail, httpStatus: UInt16(clamping: httpStatus), code: code, body: body)
        case .unavailable(let detail, let retryAfter, let httpStatus, let code, let body):
            .Unavailable(
                detail: detail, retryAfter: retryAfter?.core, httpStatus: httpStatus.map(UInt16.init(clamping:)), code: code,
                body: body)
        case .refused(let httpStatus, let code, let reason, let body):
            .Refused(httpStatus: UInt16(clamping: httpStatus), code: code, reason: reason, body: body)
        case .outcomeUnknown(let payment, let httpStatus, let code, let reason, let detail, let body):
            .OutcomeUnknown(
                payment: form(payment), httpStatus: httpStatus.map(UInt16.init(clamping:)), code: code, reason: reason,
                detail: detail, body: body)
        case .unexpected(let detail, let httpStatus, let code, let body):
            .Unexpected(detail: detail, httpStatus: UInt16(clamping: httpStatus), code: code, body: body)
        case .deadlineExpired(let last): .DeadlineExpired(last: last?.withoutAmount)
        }
    }
}
