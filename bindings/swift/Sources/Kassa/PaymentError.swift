import Foundation
internal import KassaGenerated

/// Why a call gave no answer, told by **what it did to the money** and what to do next.
///
/// Only ``outcomeUnknown(payment:code:reason:detail:body:)`` means that this call may have moved money; every other error says that
/// it did not. No error ever holds a card number, a CVC, a one-time password or a password: where the gateway echoes one in its
/// reply, it is masked.
///
/// Calls that are awaited can throw `CancellationError` as well, where their task was cancelled. That says nothing about a payment
/// that was already on its way: watch it.
public enum PaymentError: Error, Hashable {
    /// The input breaks rules. **Nothing was sent.** Fix the named fields: all violations are there at once, in the order of the
    /// interface's table.
    case invalid(violations: [Violation])
    /// The configuration is wrong: **nothing happened.** A bad setting, a certificate that fails, or an address that is not the
    /// gateway (404, 405 or 407 without the gateway's envelope).
    case misconfigured(detail: String)
    /// The gateway did not accept the credentials (401, 403): **nothing happened.**
    case unauthorized(detail: String)
    /// **Nothing happened, try again**: no connection was made, the gateway asked to wait (429), or a request that moves no money
    /// failed on the way. `retryAfter` is how long the gateway asked to wait, where it did.
    case unavailable(detail: String, retryAfter: Duration?)
    /// The gateway said no: **nothing happened.** Tell the payer. `code` and `reason` are the gateway's own, `body` is its reply with
    /// secrets masked.
    case refused(httpStatus: Int, code: String?, reason: String?, body: String)
    /// **The payment may have happened**: it was sent, and no verdict that can be trusted came back. Watch `payment`
    /// (``Gateway/watch(_:policy:)``); never send it again. `detail` is why the outcome is unknown; `body` is the reply where one
    /// came, with secrets masked.
    case outcomeUnknown(payment: PaymentRef, code: String?, reason: String?, detail: String, body: String?)
    /// The answer of a request that moves no money could not be understood: **nothing happened.** `body` is the reply with secrets
    /// masked.
    case unexpected(detail: String, body: String)
    /// A watch reached its deadline while the payment was still open. Keep watching, or let a person decide. `last` is the last
    /// status that was seen, where there was one.
    case deadlineExpired(last: StatusReport?)
}

extension PaymentError {
    /// True where **this call** may have moved money: for ``outcomeUnknown(payment:code:reason:detail:body:)`` alone. Never send such
    /// a payment again.
    public var paymentMayExist: Bool { (try? withoutAmount.paymentMayExist()) ?? true }

    /// True where the same call may simply be made again, later: for ``unavailable(detail:retryAfter:)`` alone.
    public var isRetryable: Bool { (try? withoutAmount.isRetryable()) ?? false }

    /// The variant's name, the same in every language, such as `OutcomeUnknown`.
    public var kind: String { (try? withoutAmount.kind()) ?? "PaymentError" }

    /// What happened, and what to do, in one English sentence or two.
    public func describe() -> String { (try? withoutAmount.describe()) ?? "PaymentError" }
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
            case .Misconfigured(let detail): .misconfigured(detail: detail)
            case .Unauthorized(let detail): .unauthorized(detail: detail)
            case .Unavailable(let detail, let retryAfter):
                .unavailable(detail: detail, retryAfter: retryAfter.map(Duration.init(core:)))
            case .Refused(let httpStatus, let code, let reason, let body):
                .refused(httpStatus: Int(httpStatus), code: code, reason: reason, body: body)
            case .OutcomeUnknown(let payment, let code, let reason, let detail, let body):
                .outcomeUnknown(payment: PaymentRef(payment), code: code, reason: reason, detail: detail, body: body)
            case .Unexpected(let detail, let body): .unexpected(detail: detail, body: body)
            case .DeadlineExpired(let last): .deadlineExpired(last: last.map(StatusReport.init))
            }
    }

    /// As the core has it, save for the amount of the last status, which it needs for nothing: an amount that is none there (not a
    /// number, too many digits) could not be handed over.
    private var withoutAmount: KassaGenerated.PaymentError {
        switch self {
        case .invalid(let violations): .Invalid(violations: violations.map(\.core))
        case .misconfigured(let detail): .Misconfigured(detail: detail)
        case .unauthorized(let detail): .Unauthorized(detail: detail)
        case .unavailable(let detail, let retryAfter): .Unavailable(detail: detail, retryAfter: retryAfter?.core)
        case .refused(let httpStatus, let code, let reason, let body):
            .Refused(httpStatus: UInt16(clamping: httpStatus), code: code, reason: reason, body: body)
        case .outcomeUnknown(let payment, let code, let reason, let detail, let body):
            .OutcomeUnknown(payment: payment.core, code: code, reason: reason, detail: detail, body: body)
        case .unexpected(let detail, let body): .Unexpected(detail: detail, body: body)
        case .deadlineExpired(let last): .DeadlineExpired(last: last?.withoutAmount)
        }
    }
}
