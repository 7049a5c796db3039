import Foundation
internal import KassaGenerated

/// Observes each request to the gateway that has ended, for metrics and traces.
public enum KassaTelemetry {
    /// Shows each request that has ended to an observer, from now on and in the whole program.
    ///
    /// ```swift
    /// KassaTelemetry.onCall { call in print(call.operation, call.outcome, call.duration) }
    /// ```
    ///
    /// The observer is called on a thread of Kassa, for one request at a time, and no call waits for it. If more than a thousand requests
    /// are waiting, further ones are dropped. Without an observer nothing is recorded.
    ///
    /// - Parameter observer: Receives the requests.
    /// - Returns: What ends it.
    @discardableResult
    public static func onCall(_ observer: @escaping @Sendable (CompletedCall) -> Void) -> CallObservation {
        onCall(capturing: {}, { call, _ in observer(call) })
    }

    /// The same with what belongs to the caller, such as the current span of a task.
    ///
    /// - Parameters:
    ///   - context: Called in the caller's task before each call begins. It must return at once. For requests of a call that began before
    ///     this was called, such as a watch's, it is called on a thread of Kassa.
    ///   - observer: Receives the requests, each with what was captured for its call.
    /// - Returns: What ends it.
    @discardableResult
    public static func onCall<Context: Sendable>(
        capturing context: @escaping @Sendable () -> Context, _ observer: @escaping @Sendable (CompletedCall, Context) -> Void
    ) -> CallObservation {
        Observers.shared.add {
            let captured = context()
            return { observer($0, captured) }
        }
    }
}

/// Ends what ``KassaTelemetry/onCall(_:)`` began; it goes on if this is dropped.
public final class CallObservation: Sendable {
    private let number: UInt64

    fileprivate init(number: UInt64) { self.number = number }

    /// Ends it. Calls that have begun are still observed.
    public func cancel() { Observers.shared.remove(number) }
}

/// A request to the gateway that has ended, with its attempts. It has no secrets and no bodies. `docs/telemetry.md` lists all values, which
/// are the same in every language.
public struct CompletedCall: Hashable, Sendable {
    /// The gateway's endpoint, as logs and dialects name it: `card_payment`, `provider_status`.
    public let operation: String
    /// The number by which logs name the payment, if any.
    public let orderNumber: String?
    /// How it ended: `accepted`; of a status query `charged`, `rejected` or `pending`; `refused`; `unknown`; `invalid`, `misconfigured`,
    /// `unauthorized`, `unavailable`, `unexpected`; or `cancelled`. **No reason to ship**: a report of the gateway becomes a ``Verdict``
    /// only when it is compared with the payment.
    public let outcome: String
    /// The kind of the error, such as `OutcomeUnknown`; nil if the gateway answered, also if it refused.
    public let errorType: String?
    /// The HTTP method.
    public let method: String
    /// The path below the gateway's base URL, without a query.
    public let path: String
    /// The gateway's host.
    public let serverAddress: String
    /// The gateway's port.
    public let serverPort: Int
    /// When it began.
    public let startedAt: Date
    /// How long it took, with its retries and the pauses between them.
    public let duration: Duration
    /// Each HTTP request, in order; empty if nothing was tried.
    public let attempts: [CallAttempt]
}

/// One HTTP request of a ``CompletedCall``.
public struct CallAttempt: Hashable, Sendable {
    /// When it began.
    public let startedAt: Date
    /// How long it took.
    public let duration: Duration
    /// The HTTP status of its response, if one came.
    public let httpStatus: Int?
    /// Why it failed: an HTTP status from 400 on, or `not_connected`, `lost`, `misconfigured` or `cancelled`.
    public let errorType: String?
}

/// All observers of the program.
///
/// Unchecked, because the compiler does not see that all that changes is behind the lock.
final class Observers: @unchecked Sendable {
    typealias Observe = @Sendable (CompletedCall) -> Void
    /// Makes the observer of one call, in its caller's task.
    typealias Begin = @Sendable () -> Observe

    static let shared: Observers = Observers()

    private let lock = NSLock()
    private var all: [(number: UInt64, begin: Begin)] = []
    private var lastObserver: UInt64 = 0
    private var lastCall: UInt64 = 0

    /// The number of a call that nobody observes, and of requests without a call.
    static let unobserved: UInt64 = 0

    func add(_ begin: @escaping Begin) -> CallObservation {
        lock.withLock {
            lastObserver += 1
            all.append((lastObserver, begin))
            changed()
            return CallObservation(number: lastObserver)
        }
    }

    func remove(_ number: UInt64) {
        let before = lock.withLock {
            let before = all
            all.removeAll { $0.number == number }
            changed()
            return before
        }
        // What an observer has captured goes after the lock: its `deinit` may end another observation.
        withExtendedLifetime(before) {}
    }

    private func changed() {
        if all.isEmpty {
            stopObservingCall(call: Self.unobserved)
        } else {
            let all = all
            observeCall(call: Self.unobserved, observer: Observer { all.map { $0.begin() } })
        }
    }

    /// Makes a call by a number, under which it is observed. What it has sent is observed to its end, also without its caller.
    func observing<Answer>(_ call: (UInt64) async throws -> Answer) async rethrows -> Answer {
        guard let (number, all) = next() else { return try await call(Self.unobserved) }
        let begun = all.map { $0.begin() }
        observeCall(call: number, observer: Observer { begun })
        defer { stopObservingCall(call: number) }
        return try await call(number)
    }

    private func next() -> (UInt64, [(number: UInt64, begin: Begin)])? {
        lock.withLock {
            guard !all.isEmpty else { return nil }
            lastCall += 1
            return (lastCall, all)
        }
    }
}

private final class Observer: KassaGenerated.CallObserver {
    private let observers: @Sendable () -> [Observers.Observe]

    init(_ observers: @escaping @Sendable () -> [Observers.Observe]) { self.observers = observers }

    func completed(call: KassaGenerated.CompletedCall) {
        let completed = CompletedCall(call)
        for observe in observers() { observe(completed) }
    }
}

extension CompletedCall {
    fileprivate init(_ core: KassaGenerated.CompletedCall) {
        operation = core.operation
        orderNumber = core.orderNumber
        outcome = core.outcome
        errorType = core.errorType
        method = core.method
        path = core.path
        serverAddress = core.serverAddress
        serverPort = Int(core.serverPort)
        startedAt = core.startedAt
        duration = Duration(core: core.duration)
        attempts = core.attempts.map(CallAttempt.init)
    }
}

extension CallAttempt {
    fileprivate init(_ core: KassaGenerated.CallAttempt) {
        startedAt = core.startedAt
        duration = Duration(core: core.duration)
        httpStatus = core.httpStatus.map(Int.init)
        errorType = core.errorType
    }
}
