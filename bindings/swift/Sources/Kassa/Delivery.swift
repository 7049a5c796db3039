import Foundation
internal import KassaGenerated

extension Gateway {
    /// Delivers what is paid, for as long as the program runs: it recovers what is unfinished in the journal (``recover(_:)``), polls it
    /// and whatever is begun meanwhile until it is decided, calls the handler, and marks the entry as finished after the handler has
    /// returned.
    ///
    /// ```swift
    /// let worker = Task {
    ///     try await gateway.deliverForever { entry in
    ///         try await ship(entry.note)  // once for each order
    ///     }
    /// }
    /// // … the program runs …
    /// worker.cancel()
    /// print(try await worker.value)
    /// ```
    ///
    /// - **The handler is called for a charged payment alone**, one payment at a time. If it throws, it is called again after a pause that
    ///   grows (``DeliveryPolicy``); other payments go on. Nothing is lost: until it is finished, the payment comes again, also after a
    ///   crash. So **delivering twice must do no harm**: deliver by a step that does nothing when it is repeated, such as a row that is
    ///   inserted once for each order.
    /// - **One process at a time delivers** from a journal's folder; others wait until it ends or dies. Only this worker should deliver:
    ///   request handlers of the program just create payments.
    /// - Errors of the gateway, the network or the disk end nothing: they are logged (``KassaLog``), and it goes on after a pause.
    /// - **It ends**, without an error, when its task is cancelled or the gateway is closed. A handler that runs then is waited for: it
    ///   ends early if it heeds the cancellation. What is charged and not delivered is left to the next worker.
    ///
    /// - Parameters:
    ///   - policy: How it polls and repeats.
    ///   - otherwise: Gets any other result: a payment of which nothing was taken (``JournalState/rejected``; release what was reserved),
    ///     and what a person should look at: a payment of another amount (``JournalState/mismatch``), one that the gateway does not answer
    ///     about, an entry that cannot be read. Each is logged before. If it throws, it is called again, later. **A rejected payment may
    ///     still be delivered later**, as a gateway may correct its report. The journal does not record this call, so it can be missed
    ///     where the process ends.
    ///   - handler: Delivers the payment of an entry, by its ``JournalEntry/note``.
    /// - Returns: What it delivered, and what it left open.
    /// - Throws: ``PaymentError/misconfigured(detail:httpStatus:code:body:)`` if the gateway has no journal, and
    ///   ``PaymentError/invalid(violations:)`` for a policy of zeros. Both are thrown at once.
    @discardableResult
    public func deliverForever(
        _ policy: DeliveryPolicy = DeliveryPolicy(), otherwise: @escaping @Sendable (Recovered) async throws -> Void = { _ in },
        handler: @escaping @Sendable (JournalEntry) async throws -> Void
    ) async throws -> DeliverySummary {
        try policy.check()
        let recovery = policy.recovery.core
        let begin = { [core] in try translated { try core.recover(policy: recovery) } }
        _ = try begin()  // what is wrong is said at once
        let steps = DeliverySteps(try requiredJournal(), otherwise: otherwise, deliver: handler)
        return await DeliveryWorker(begin, policy, closing, steps).run()
    }

    func requiredJournal() throws -> Journal {
        guard let journal else {
            throw PaymentError.misconfigured(detail: "the gateway has no journal")
        }
        return journal
    }
}

/// How a worker polls and repeats: see ``Gateway/deliverForever(_:otherwise:handler:)``.
public struct DeliveryPolicy: Hashable, Sendable, CustomStringConvertible {
    /// The time from one query of a young payment to the next; ``RecoveryPolicy/interval`` says how older ones are polled.
    public var interval: Duration
    /// How many payments are queried concurrently.
    public var atOnce: Int
    /// The time until the handler is called again after it threw, and until a failed recovery is restarted. It is doubled after each
    /// failure in a row.
    public var firstPause: Duration
    /// The longest of these times; a recovery is restarted after a minute at most.
    public var longestPause: Duration

    /// By default: a query every 10 seconds, 8 payments concurrently, and pauses from a second to 5 minutes.
    public init(
        interval: Duration = .seconds(10), atOnce: Int = 8, firstPause: Duration = .seconds(1), longestPause: Duration = .seconds(300)
    ) {
        self.interval = interval
        self.atOnce = atOnce
        self.firstPause = firstPause
        self.longestPause = longestPause
    }

    /// All of it.
    public var description: String { described(self) }
}

extension DeliveryPolicy {
    /// After a day, the journal is recovered anew: a recovery has a time limit.
    var recovery: RecoveryPolicy {
        RecoveryPolicy(interval: interval, deadline: .seconds(24 * 60 * 60), atOnce: atOnce, followNew: true)
    }

    /// A recovery has its own rules, which it checks itself.
    func check() throws {
        var fields: [String] = []
        if firstPause <= .zero { fields.append("firstPause") }
        if longestPause < firstPause { fields.append("longestPause") }
        guard fields.isEmpty else {
            throw PaymentError.invalid(
                violations: fields.map {
                    Violation(field: $0, rule: .minimum, text: "\($0) is too short: 0 < firstPause <= longestPause")
                })
        }
    }

    /// After so many failures in a row.
    func pause(afterFailures failures: Int) -> Duration {
        // No clock can wait for every duration.
        let longest = min(longestPause, .seconds(366 * 24 * 60 * 60))
        var (pause, doubled) = (min(firstPause, longest), 1)
        while doubled < failures, pause < longest {
            pause = min(pause * 2, longest)
            doubled += 1
        }
        return pause
    }
}

/// What a worker or a one-time delivery delivered, and what it left open when it ended.
public struct DeliverySummary: Hashable, Sendable, CustomStringConvertible {
    /// How many payments the handler delivered and the journal has as finished.
    public let delivered: Int
    /// The journal's unfinished entries, the oldest first: the next delivery continues with them. Nil if the journal could not be read.
    public let leftOpen: [Unfinished]?

    /// For tests of your own code.
    public init(delivered: Int, leftOpen: [Unfinished]?) {
        self.delivered = delivered
        self.leftOpen = leftOpen
    }

    /// Charged, and not delivered yet.
    public var undelivered: [JournalEntry] { payments(.charged) }

    /// Pending or unknown: money may have moved, or may still move.
    public var undecided: [JournalEntry] { payments(.pending, .unknown) }

    /// Payments of another amount, and entries that cannot be read.
    public var forAPerson: [Unfinished] {
        (leftOpen ?? []).filter {
            guard case .payment(let entry) = $0 else { return true }
            return entry.state == .mismatch
        }
    }

    /// The counts: the address of a page in an entry is not to be logged.
    public var description: String {
        guard let leftOpen else { return "\(delivered) delivered; the journal could not be read" }
        let counts =
            "\(undelivered.count) charged and not delivered, \(undecided.count) undecided, \(forAPerson.count) for a person"
        return "\(delivered) delivered; left open: \(leftOpen.isEmpty ? "nothing" : counts)"
    }

    private func payments(_ states: JournalState...) -> [JournalEntry] {
        (leftOpen ?? []).compactMap {
            guard case .payment(let entry) = $0, states.contains(entry.state) else { return nil }
            return entry
        }
    }
}
