import Foundation
internal import KassaGenerated

/// A defect in Kassa itself. **It says nothing about the money**: watch the payment, never send it again.
public struct InternalError: LocalizedError, Hashable, CustomStringConvertible {
    /// What went wrong.
    public let detail: String

    /// What happened, and what to do.
    public var description: String {
        "A defect in Kassa; it says nothing about the money. Watch the payment; never send it again. (\(detail))"
    }

    /// The same as ``description``.
    public var errorDescription: String? { description }
}

/// Calls the core, and throws its errors as those of this package.
func translated<Answer>(_ call: () throws -> Answer) throws -> Answer {
    do {
        return try call()
    } catch {
        throw own(error)
    }
}

/// Awaits the core, and throws its errors as those of this package.
func translated<Answer>(_ call: () async throws -> Answer) async throws -> Answer {
    do {
        return try await call()
    } catch {
        throw own(error)
    }
}

private func own(_ error: any Error) -> any Error {
    switch error {
    case let error as KassaGenerated.PaymentError: PaymentError(error)
    case is PaymentError, is CancellationError: error
    default: InternalError(detail: String(describing: error))
    }
}

/// Awaits the core, and stops at once when the task is cancelled: the core then drops its side of the call and returns nothing.
func untilCancelled<Answer>(_ make: (CancellableCall) async throws -> Answer) async throws -> Answer {
    let call = CancellableCall()
    return try await withTaskCancellationHandler {
        try await translated { try await make(call) }
    } onCancel: {
        call.cancel()
    }
}

/// Asks for an answer, which is missing only where the call was given up.
func asked<Answer>(_ make: (CancellableCall) async throws -> Answer?) async throws -> Answer {
    guard let answer = try await untilCancelled(make) else { throw CancellationError() }
    return answer
}

/// Asks for an answer whose absence is an end: that of a call which was given up throws.
func untilEnd<Answer>(_ make: (CancellableCall) async throws -> Answer?) async throws -> Answer? {
    let answer = try await untilCancelled(make)
    if answer == nil { try Task.checkCancellation() }
    return answer
}
