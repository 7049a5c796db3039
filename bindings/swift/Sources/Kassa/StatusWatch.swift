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
public enum WatchReport: Hashable, Sendable, Codable {
    /// The gateway answered: its answer, compared with what was asked for. One that ends the watch is the last report.
    case status(verdict: Verdict)
    /// The query failed, or the gateway does not know the payment (yet). The watch goes on.
    case queryFailed(error: PaymentError)
}

/// Follows one payment: a query at once, then one every interval, one at a time, until there is a final ``Verdict``.
///
/// ```swift
/// for try await report in try gateway.watch(payment) {
///     print(report)
/// }
/// ```
///
/// Failed queries and "not found" are reported and end nothing. Wrong credentials, a wrong configuration and a report that contradicts
/// what was asked for do, where three queries in a row end in them: one odd response does not. A tick that is missed because a query took
/// long is skipped. A `Retry-After` of the gateway delays the next query.
///
/// Iterate over the reports, or wait for the end with ``outcome()``. Between calls nothing is asked. A report goes to one iterator
/// only. Cancelling the task that waits throws `CancellationError` at once and loses no report: a query under way goes on, and its
/// report is the next one.
///
/// The iteration ends after the final verdict. It throws ``PaymentError/deadlineExpired(last:)`` where the payment was still pending at
/// the deadline, and ``PaymentError/unauthorized(detail:httpStatus:code:body:)`` or ``PaymentError/misconfigured(detail:httpStatus:code:body:)`` where asking on is useless. None of
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
        try await untilEnd { try await $0.next(watch: core) }.map(WatchReport.init)
    }

    /// The verdict at the end of the watch; nil where the watch was cancelled, which says nothing about the payment. It asks on until
    /// then, and can be called again afterwards.
    ///
    /// - Throws: As the iteration does.
    public func outcome() async throws -> Verdict? {
        try await untilEnd { try await $0.outcome(watch: core) }.map(Verdict.init)
    }

    /// Makes the next query due at once: for an app that has just come back to the front.
    public func checkNow() { core.checkNow() }

    /// Stops asking: there is no next report and no outcome, unless the watch had ended before.
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
    /// The verdict, or the error in a sentence.
    public var description: String {
        switch self {
        case .status(let verdict): "status(\(verdict))"
        case .queryFailed(let error): "queryFailed(\(error))"
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
            case .status(let verdict): .status(verdict: Verdict(verdict))
            case .queryFailed(let error): .queryFailed(error: PaymentError(error))
            }
    }
}
