import Foundation
import Kassa

/// What the program ends with.
enum ExitCode {
    /// Ended as expected.
    static let asExpected: Int32 = 0
    /// Ended, but not as expected.
    static let notAsExpected: Int32 = 1
    /// The command line is wrong; nothing was sent.
    static let usage: Int32 = 2
    /// A payment is still open, or nobody knows yet what became of it.
    static let notKnown: Int32 = 3

    /// The worst of several: a payment that nobody knows about goes before one that failed.
    static func worst(_ codes: [Int32]) -> Int32 { codes.max() ?? asExpected }
}

/// Why a command could not do its work, besides what the gateway says.
enum Failure: Error {
    /// The command line, the environment or the standard input is wrong. Nothing was sent.
    case usage(String)
    /// The state file cannot be read or written. Nothing was sent: without it a payment could get lost.
    case state(String)
    /// The machine did not play along: a port that is taken, a program that is not there.
    case system(String)
}

extension Failure: LocalizedError {
    var errorDescription: String? {
        switch self {
        case .usage(let text), .state(let text), .system(let text): text
        }
    }
}

extension Error {
    /// The name that programs see; of a payment's error that of its variant.
    var kind: String {
        switch self as any Error {
        case let error as PaymentError: error.kind
        case Failure.usage: "Usage"
        case Failure.state: "State"
        case is InternalError: "Internal"
        default: "System"
        }
    }

    /// The program's exit code where it ends with this error.
    var exitCode: Int32 {
        switch self as any Error {
        case PaymentError.outcomeUnknown, PaymentError.deadlineExpired, is InternalError: ExitCode.notKnown
        case Failure.usage: ExitCode.usage
        default: ExitCode.notAsExpected
        }
    }
}
