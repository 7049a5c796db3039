internal import KassaGenerated

/// How a watch polls.
///
/// It is `Codable`: both times are their seconds as texts, `{"interval": "10", "deadline": "1200"}`.
public struct PollPolicy: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The time from the start of one query to the start of the next.
    public var interval: Duration
    /// The time limit while the payment is pending, from the first query.
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
    /// The gateway answered: its report, compared with the request. The verdict that ends the watch is the last report.
    case status(verdict: Verdict)
    /// The query failed, or the gateway does not know the payment (yet). The watch continues.
    case queryFailed(error: PaymentError)
}

/// Polls one payment: a query at once, then one per interval, one at a time, until there is a final ``Verdict``.
///
/// ```swift
/// for try await report in try gateway.watch(payment) {
///     print(report)
/// }
/// ```
///
/// Failed queries and "not found" are reported and do not end the watch. Wrong credentials, a wrong configuration or a report that
/// contradicts the request end it after three in a row; a single odd response does not. If a query takes longer than the interval, the
/// missed ones are skipped. The gateway's `Retry-After` delays the next query.
///
/// Iterate over the reports, or wait for the end with ``outcome()``. Between calls, no query is sent. A report goes to one iterator only.
/// Cancelling the waiting task throws `CancellationError` at once and loses no report: a running query continues, and its report comes
/// next.
///
/// The iteration ends after the final verdict. It throws ``PaymentError/deadlineExpired(last:)`` if the payment was still pending at the
/// deadline, and ``PaymentError/unauthorized(detail:httpStatus:code:body:)`` or
/// ``PaymentError/misconfigured(detail:httpStatus:code:body:)`` if further queries are useless. None of these means that the payment
/// failed.
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
        try await answer(to: .watchNext(watch: core), optional(FfiConverterTypeWatchReport.read)).map(WatchReport.init)
    }

    /// The verdict at the end of the watch; nil if the watch was cancelled, which says nothing about the payment. It polls until then,
    /// and can be called again afterwards.
    ///
    /// - Throws: As the iteration does.
    public func outcome() async throws -> Verdict? {
        try await answer(to: .watchOutcome(watch: core), optional(FfiConverterTypeVerdict.read)).map(Verdict.init)
    }

    /// Makes the next query due at once: for an app that has just returned to the foreground.
    public func checkNow() { core.checkNow() }

    /// Stops polling: there is no next report and no outcome, unless the watch had ended before.
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

    /// A mask: nothing of the content.
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
