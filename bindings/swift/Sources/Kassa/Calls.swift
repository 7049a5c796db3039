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

private func own(_ error: any Error) -> any Error {
    switch error {
    case let error as KassaGenerated.PaymentError: PaymentError(error)
    case is PaymentError: error
    default: InternalError(detail: String(describing: error))
    }
}

/// Makes a call that takes time, and reads its answer. If the task is cancelled, the core drops the call, and this throws
/// `CancellationError` at once. If the task was cancelled before, the call is never made.
func answer<Answer>(to call: AsyncCall, _ read: (inout Reader) throws -> Answer) async throws -> Answer {
    let completion = try await Observers.shared.observing { number in
        try await CompletionQueue.shared.completion(of: call, observedAs: number)
    }
    var reader = (data: completion.value, offset: completion.value.startIndex)
    switch completion.code {
    case .answer: return try translated { try read(&reader) }
    case .error: throw try translated { try PaymentError(FfiConverterTypePaymentError.read(from: &reader)) }
    case .defect: throw InternalError(detail: String(decoding: completion.value, as: UTF8.self))
    }
}

/// The same for a call that is made, and waited for, even if the task is cancelled: it runs in a task of its own.
func answerDespiteCancellation<Answer: Sendable>(
    to call: AsyncCall, _ read: @escaping @Sendable (inout Reader) throws -> Answer
) async throws -> Answer {
    try await Task { try await answer(to: call, read) }.value
}

/// A serialized value and the position in it, in the form that the generated converters take.
typealias Reader = (data: Data, offset: Data.Index)

// The generated converters of booleans and of absent values are private to their file.

/// Reads the answer of a call that returns nothing.
func nothing(_: inout Reader) {}

/// Reads a boolean.
func bool(_ reader: inout Reader) -> Bool {
    defer { reader.offset += 1 }
    return reader.data[reader.offset] != 0
}

/// Reads a value that may be absent.
func optional<Value>(_ read: @escaping (inout Reader) throws -> Value) -> (inout Reader) throws -> Value? {
    { reader in try bool(&reader) ? read(&reader) : nil }
}
