import Foundation

/// What can go wrong with the sandbox itself, as distinct from the faults that it plays.
public enum SandboxError: Error, Hashable {
    /// A value cannot be passed to the sandbox. No request was sent.
    case invalid(field: String, rule: String)
    /// The sandbox did not start: a port in use, an invalid value, or an unusable database. `exitCode` is the program's exit code, nil if
    /// it could not be started; `log` is the end of its standard error.
    case notStarted(detail: String, exitCode: Int32?, log: String)
    /// The sandbox was stopped, was killed, or does not answer.
    case notRunning(detail: String)
    /// The sandbox refused a request, and nothing changed. 400 is a wrong value, with each wrong field in `violations`; 409 is a payment
    /// that is already decided.
    case refused(httpStatus: Int, detail: String, violations: [FieldError])
    /// There is no payment with this number.
    case unknownPayment(number: String)
    /// The pay-form does not take this phone, is paid already, or is not one of this sandbox.
    case notPayable(detail: String)
    /// What answered is not the sandbox of this package.
    case notThisSandbox(detail: String)

    /// A wrong field and its error.
    public struct FieldError: Hashable, Sendable, Decodable {
        /// The field, as the sandbox spells it.
        public let field: String
        /// The error.
        public let message: String
    }
}

extension SandboxError: LocalizedError, CustomStringConvertible {
    /// What happened, in a sentence.
    public var description: String {
        switch self {
        case .invalid(let field, let rule): "\(field) \(rule)"
        case .notStarted(let detail, let exitCode, let log):
            "\(detail)\(exitCode.map { " (exit code \($0))" } ?? "")\(log.isEmpty ? "" : "\n\(log)")"
        case .notRunning(let detail), .refused(_, let detail, _), .notPayable(let detail), .notThisSandbox(let detail): detail
        case .unknownPayment(let number): "no payment has the number \(number)"
        }
    }

    /// The same as ``description``.
    public var errorDescription: String? { description }
}
