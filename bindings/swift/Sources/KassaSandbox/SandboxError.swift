import Foundation

/// What can go wrong with the sandbox itself, as distinct from the faults that it plays.
public enum SandboxError: Error, Hashable {
    /// A value cannot be handed to the sandbox. Nothing was asked.
    case invalid(field: String, rule: String)
    /// The sandbox did not start: a port that is taken, a value it does not accept, a database it cannot use. `exitCode` is what the
    /// program ended with, nil where it could not be started at all; `log` is the end of what it wrote to its standard error.
    case notStarted(detail: String, exitCode: Int32?, log: String)
    /// The sandbox was stopped, was killed, or does not answer.
    case notRunning(detail: String)
    /// The sandbox refused a question or a change, and nothing changed. 400 is a wrong value, with each wrong field in `violations`;
    /// 409 is a payment that is already decided.
    case refused(httpStatus: Int, detail: String, violations: [FieldError])
    /// There is no payment with this number.
    case unknownPayment(number: String)
    /// What answered is not the sandbox of this package.
    case notThisSandbox(detail: String)

    /// A field that is wrong, and what is wrong with it.
    public struct FieldError: Hashable, Sendable, Decodable {
        /// The field, as the sandbox spells it.
        public let field: String
        /// What is wrong with it.
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
        case .notRunning(let detail), .refused(_, let detail, _), .notThisSandbox(let detail): detail
        case .unknownPayment(let number): "no payment has the number \(number)"
        }
    }

    /// The same as ``description``.
    public var errorDescription: String? { description }
}
