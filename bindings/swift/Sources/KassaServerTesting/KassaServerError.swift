import Foundation
import KassaSandbox

/// What can go wrong with the server itself.
public enum KassaServerError: Error, Hashable {
    /// The server did not start: a wrong setting, or a port in use. `exitCode` is the program's exit code, nil if it could not be
    /// started; `log` is the end of its standard error.
    case notStarted(detail: String, exitCode: Int32?, log: String)
    /// The server was stopped, was killed, or does not answer.
    case notRunning(detail: String)
    /// The server refused a request; `problem` has the problem details, as JSON (RFC 9457).
    case refused(httpStatus: Int, problem: String)
    /// The pay-form does not take this phone, or is paid already.
    case notPayable(detail: String)
    /// The awaited event did not happen in time.
    case tooLate(detail: String)
    /// What answered is not the server of this package.
    case notThisServer(detail: String)
}

extension KassaServerError: LocalizedError, CustomStringConvertible {
    /// What happened, in a sentence.
    public var description: String {
        switch self {
        case .notStarted(let detail, let exitCode, let log):
            "\(detail)\(exitCode.map { " (exit code \($0))" } ?? "")\(log.isEmpty ? "" : "\n\(log)")"
        case .refused(let httpStatus, let problem): "HTTP \(httpStatus): \(problem)"
        case .notRunning(let detail), .notPayable(let detail), .tooLate(let detail), .notThisServer(let detail): detail
        }
    }

    /// The same as ``description``.
    public var errorDescription: String? { description }
}

/// The errors of children and of the line to them, as those of the server.
func asServer<Answer: Sendable>(_ work: @Sendable () async throws -> Answer) async throws -> Answer {
    do {
        return try await work()
    } catch SandboxError.notStarted(let detail, let exitCode, let log) {
        throw KassaServerError.notStarted(detail: detail, exitCode: exitCode, log: log)
    } catch SandboxError.notRunning {
        throw KassaServerError.notRunning(detail: "the server does not answer")
    } catch SandboxError.notPayable(let detail) {
        throw KassaServerError.notPayable(detail: detail)
    } catch SandboxError.notThisSandbox(let detail) {
        throw KassaServerError.notThisServer(detail: detail)
    }
}
