import Foundation
internal import KassaGenerated

extension Gateway {
    /// Delivers what is paid, until its task is cancelled: the worker of a program whose gateway has a journal.
    ///
    /// ```swift
    /// let worker = Task {
    ///     try await gateway.deliverForever { entry in
    ///         try await ship(entry.note)  // once for each order
    ///     }
    /// }
    /// // … the program runs …
    /// worker.cancel()
    /// let leftOpen = try await worker.value
    /// ```
    ///
    /// It recovers what the journal has open (``recover(_:)``), also what a crashed process left behind and what is begun meanwhile, and
    /// calls the handler with each payment that was **charged**, one after the other. When the handler returns, the payment is finished;
    /// when it throws, it is called again, after a pause that doubles each time. So is the whole recovery after an error, such as wrong
    /// credentials. Each is a warning in ``KassaLog``, without the text of the handler's error.
    ///
    /// **The handler can be called again for a payment that it has delivered**: a process may die before the payment is finished. Deliver
    /// by a step that does nothing when it is repeated, such as a row that is inserted once for each order. Nobody else must deliver what
    /// this gateway sells.
    ///
    /// Of all processes that share the journal's folder, one delivers at a time. The others wait, and take over when it ends.
    ///
    /// It ends, without an error, when its task is cancelled or the gateway is closed. A handler that runs then is waited for: it ends
    /// early if it heeds the cancellation.
    ///
    /// - Parameters:
    ///   - policy: How payments are queried. Its ``RecoveryPolicy/followNew`` is always on; after its deadline the recovery begins anew,
    ///     and another process may take over.
    ///   - backoff: The first and the longest pause after an error.
    ///   - others: Gets what is not to be delivered: a payment that was rejected, and what a person has to look at, as ``Recovered`` says.
    ///     After each deadline, and each start, what is still open comes again.
    ///   - handler: Delivers the payment of an entry, by its ``JournalEntry/note``.
    /// - Returns: What is left open in the journal: payments without an outcome, and those whose handler did not return.
    /// - Throws: ``PaymentError/misconfigured(detail:httpStatus:code:body:)`` if the gateway has no journal,
    ///   ``PaymentError/invalid(violations:)`` for a policy or a backoff of zeros, and at the end
    ///   ``PaymentError/unavailable(detail:retryAfter:httpStatus:code:body:)`` if what is left open cannot be read.
    @discardableResult
    public func deliverForever(
        _ policy: RecoveryPolicy = RecoveryPolicy(), backoff: ClosedRange<Duration> = .seconds(1) ... .seconds(300),
        others: @Sendable (Recovered) async -> Void = { _ in }, handler: @Sendable (JournalEntry) async throws -> Void
    ) async throws -> [Unfinished] {
        guard backoff.lowerBound > .zero else {
            throw PaymentError.invalid(violations: [Violation(field: "backoff", rule: .minimum, text: "backoff must be longer than zero")])
        }
        var policy = policy
        policy.followNew = true
        let core = policy.core
        let begin = { try translated { try self.core.recover(policy: core) } }
        _ = try begin()  // what is wrong is said at once
        guard let journal else {
            throw PaymentError.misconfigured(detail: "the gateway has no journal")
        }
        var pause = backoff.lowerBound
        while !Task.isCancelled {
            var delivery = Delivery(recovery: try begin(), gateway: self, journal: journal, backoff: backoff)
            do {
                try await delivery.run(others: others, handler: handler)
                pause = backoff.lowerBound
            } catch PaymentError.misconfigured(detail: "the gateway was closed", httpStatus: _, code: _, body: _) {
                break
            } catch {
                if Task.isCancelled { break }
                if delivery.hasBroughtResults { pause = backoff.lowerBound }
                warn("recovery failed, and begins again pause=\(pause) error=\(error)")
                try? await Task.sleep(for: pause)
                pause = min(pause * 2, backoff.upperBound)
            }
        }
        // In a task of its own, because this one may be cancelled.
        let leftOpen = try await Task {
            try await journal.unfinished().reduce(into: [Unfinished]()) { $0.append($1) }
        }.value
        KassaLog.write(LogEvent(level: .info, text: "delivery has ended left_open=\(leftOpen.count)"))
        return leftOpen
    }
}

/// One recovery, from its beginning to its deadline, and what is delivered again meanwhile. While it exists, no other process recovers.
private struct Delivery {
    let recovery: KassaGenerated.Recovery
    let gateway: Gateway
    let journal: Journal
    let backoff: ClosedRange<Duration>
    private(set) var hasBroughtResults = false
    /// What the handler, or the journal, did not take yet.
    private var again: [String: Again] = [:]

    private struct Again {
        let entry: JournalEntry
        /// Only the end of the entry is missing.
        var isDelivered = false
        var pause: Duration
        var due: ContinuousClock.Instant
    }

    private enum Step {
        case recovered(Recovered?)
        case isDue
    }

    init(recovery: KassaGenerated.Recovery, gateway: Gateway, journal: Journal, backoff: ClosedRange<Duration>) {
        (self.recovery, self.gateway, self.journal, self.backoff) = (recovery, gateway, journal, backoff)
    }

    mutating func run(
        others: @Sendable (Recovered) async -> Void, handler: @Sendable (JournalEntry) async throws -> Void
    ) async throws {
        while !Task.isCancelled {
            for due in again.values.filter({ $0.due <= .now }).sorted(by: { $0.due < $1.due }) where !Task.isCancelled {
                try await deliver(due, handler)
            }
            switch try await step() {
            case .isDue: continue
            case .recovered(nil): return
            case .recovered(.payment(let entry)?) where entry.state == .charged:
                hasBroughtResults = true
                try await deliver(Again(entry: entry, pause: backoff.lowerBound, due: .now), handler)
            case .recovered(let other?):
                hasBroughtResults = true
                await others(other)
            }
        }
    }

    /// The next result, or that something is due. A cancelled question loses no result.
    private func step() async throws -> Step {
        guard let due = again.values.map(\.due).min() else { return .recovered(try await next(recovery)) }
        return try await withThrowingTaskGroup(of: Step.self) { [recovery] group in
            group.addTask { .recovered(try await next(recovery)) }
            group.addTask {
                try await Task.sleep(until: due)
                return .isDue
            }
            guard let first = try await group.next() else { return .isDue }
            group.cancelAll()
            if case .recovered = first { return first }
            // It may have come at the same moment.
            while let other = await group.nextResult() {
                switch other {
                case .success(.recovered(let result)): return .recovered(result)
                case .failure(let error) where !(error is CancellationError): throw error
                default: continue
                }
            }
            return first
        }
    }

    private mutating func deliver(_ each: Again, _ handler: @Sendable (JournalEntry) async throws -> Void) async throws {
        var each = each
        let id = each.entry.id
        do {
            // A handler of callbacks may have delivered it, and finished its entry.
            if !each.isDelivered, try await journal.entry(each.entry.payment)?.isFinished != true {
                try await handler(each.entry)
            }
            each.isDelivered = true
            try await gateway.finish(each.entry)
            again[id] = nil
        } catch {
            if Task.isCancelled { return }
            let what = each.isDelivered ? "a delivered payment could not be finished" : "the handler failed"
            warn("\(what), again after a pause entry=\(id) pause=\(each.pause) error=\(type(of: error))")
            each.due = .now + each.pause
            each.pause = min(each.pause * 2, backoff.upperBound)
            again[id] = each
        }
    }
}

private func next(_ recovery: KassaGenerated.Recovery) async throws -> Recovered? {
    try await answer(to: .recoveryNext(recovery: recovery), optional(FfiConverterTypeRecovered.read)).map(Recovered.init)
}

private func warn(_ text: String) {
    KassaLog.write(LogEvent(level: .warning, text: text))
}
