internal import KassaGenerated

/// How a watch asks.
///
/// It is `Codable`: both times are their seconds as texts, `{"interval": "10", "deadline": "1200"}`.
public struct PollPolicy: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The time from the start of one query to the start of the next.
    public var interval: Duration
    /// How long to go on while the payment is open, from the first query.
    public var deadline: Duration

    /// A query every 10 seconds, for 20 minutes, unless set.
    public init(interval: Duration = .seconds(10), deadline: Duration = .seconds(20 * 60)) {
        self.interval = interval
        self.deadline = deadline
    }

    /// Both.
    public var description: String { described(self) }
}

/// What one query of a watch brought.
public enum WatchReport: Hashable, Sendable {
    /// The gateway answered. A final status is the last report.
    case status(report: StatusReport)
    /// The query failed, or the gateway does not know the payment (yet). The watch goes on.
    case queryFailed(error: PaymentError)
}

/// How a watch ended.
public enum WatchOutcome: Hashable, Sendable {
    /// The money was taken, as the report says.
    case charged(report: StatusReport)
    /// The payment ended without the money being taken, as the report says.
    case rejected(report: StatusReport)
    /// The watch was cancelled. This says nothing about the payment.
    case cancelled
}

/// Follows one payment: a query at once, then one every interval, one at a time, until the payment is charged or rejected.
///
/// ```swift
/// for try await report in try gateway.watch(payment) {
///     print(report)
/// }
/// ```
///
/// Failed queries and "not found" are reported and end nothing; wrong credentials and a wrong configuration do. A tick that is missed
/// because a query took long is skipped. A `Retry-After` of the gateway delays the next query.
///
/// Iterate over the reports, or wait for the end with ``outcome()``. Between calls nothing is asked. A report goes to one iterator
/// only. Cancelling the task that waits throws `CancellationError` at once and loses no report: a query under way goes on, and its
/// report is the next one.
///
/// The iteration ends after the final status. It throws ``PaymentError/deadlineExpired(last:)`` where the payment was still open at
/// the deadline, and ``PaymentError/unauthorized(detail:)`` or ``PaymentError/misconfigured(detail:)`` where asking on is useless. None of
/// them says that the payment failed.
public final class StatusWatch: AsyncSequence, Sendable {
    /// What the iteration yields.
    public typealias Element = WatchReport

    private let core: KassaGenerated.StatusWatch

    init(_ core: KassaGenerated.StatusWatch) {
        self.core = core
    }

    /// The next report, when it is there; nil after the last one.
    ///
    /// - Throws: As the iteration does.
    public func next() async throws -> WatchReport? {
        guard let report = try await untilCancelled({ try await $0.next(watch: core) }) else {
            try Task.checkCancellation()
            return nil
        }
        return WatchReport(report)
    }

    /// The end of the watch. It asks on until then, and can be called again afterwards.
    ///
    /// - Throws: As the iteration does.
    public func outcome() async throws -> WatchOutcome {
        WatchOutcome(try await asked { try await $0.outcome(watch: core) })
    }

    /// Makes the next query due at once: for an app that has just come back to the front.
    public func checkNow() { core.checkNow() }

    /// Stops asking: there is no next report, and the outcome is cancelled, unless the watch had ended before.
    public func cancel() { core.cancel() }

    /// Yields the reports.
    public struct Iterator: AsyncIteratorProtocol {
        let watch: StatusWatch

        /// See ``StatusWatch/next()``.
        public mutating func next() async throws -> WatchReport? {
            try await watch.next()
        }
    }

    /// An iterator over the reports to come.
    public func makeAsyncIterator() -> Iterator { Iterator(watch: self) }
}

extension StatusWatch: CustomStringConvertible, CustomReflectable {
    /// Its name.
    public var description: String { "StatusWatch" }

    /// Nothing of what is inside.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension WatchReport: CustomStringConvertible {
    /// The report, or the error in a sentence.
    public var description: String {
        switch self {
        case .status(let report): "status(\(report))"
        case .queryFailed(let error): "queryFailed(\(error))"
        }
    }
}

extension WatchOutcome: CustomStringConvertible {
    /// Which one, and its report.
    public var description: String {
        switch self {
        case .charged(let report): "charged(\(report))"
        case .rejected(let report): "rejected(\(report))"
        case .cancelled: "cancelled"
        }
    }
}

extension PollPolicy {
    var core: KassaGenerated.PollPolicy {
        KassaGenerated.PollPolicy(interval: interval.core, deadline: deadline.core)
    }
}

extension WatchReport {
    init(_ core: KassaGenerated.WatchReport) {
        self =
            switch core {
            case .status(let report): .status(report: StatusReport(report))
            case .queryFailed(let error): .queryFailed(error: PaymentError(error))
            }
    }
}

extension WatchOutcome {
    init(_ core: KassaGenerated.WatchOutcome) {
        self =
            switch core {
            case .charged(let report): .charged(report: StatusReport(report))
            case .rejected(let report): .rejected(report: StatusReport(report))
            case .cancelled: .cancelled
            }
    }
}
