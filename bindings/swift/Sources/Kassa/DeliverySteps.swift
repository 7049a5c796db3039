/// The rules for one result of a recovery, which ``Gateway/deliverForever(_:otherwise:handler:)`` and
/// ``Gateway/deliverUnfinished(_:otherwise:handler:)`` share: look it up, call its handler, finish its entry.
final class DeliverySteps {
    private let journal: Journal
    private let otherwise: @Sendable (Recovered) async throws -> Void
    private let deliver: @Sendable (JournalEntry) async throws -> Void
    private var delivered = 0

    init(
        _ journal: Journal, otherwise: @escaping @Sendable (Recovered) async throws -> Void,
        deliver: @escaping @Sendable (JournalEntry) async throws -> Void
    ) {
        self.journal = journal
        self.otherwise = otherwise
        self.deliver = deliver
    }

    /// Does what is missing: a payment that was delivered is only finished.
    ///
    /// - Parameter isLastCall: Whether the handler of another result is called though the task was cancelled.
    /// - Returns: False if the result is not true any more, so that no handler was called.
    /// - Throws: The handler's error, or the journal's.
    func perform(_ result: DeliveryResult, isLastCall: Bool) async throws -> Bool {
        if !result.isHandled {
            guard try await isStillTrue(result) else {
                log(.info, "a payment was finished elsewhere entry=\"\(result.id)\"")
                return false
            }
            try await handle(result, isLastCall: isLastCall)
            result.isHandled = true
        }
        if result.isCharged { try await finish(result) }
        return true
    }

    /// Reads the journal for the summary, and logs it.
    func summary(of program: String) async -> DeliverySummary {
        // In a task of its own, because this one may be cancelled.
        let reading = Task { [journal] in try await journal.unfinished().reduce(into: []) { $0.append($1) } }
        var leftOpen: [Unfinished]?
        do {
            leftOpen = try await reading.value
        } catch {
            log(.error, "the journal could not be read error=\"\(error)\"")
        }
        let summary = DeliverySummary(delivered: delivered, leftOpen: leftOpen)
        log(.info, "the \(program) ends: \(summary)")
        return summary
    }

    /// False if a person or another program has finished the payment, or it was charged after all.
    private func isStillTrue(_ result: DeliveryResult) async throws -> Bool {
        guard case .payment(let entry) = result.recovered else { return true }
        guard let now = try await journal.entry(entry.payment) else { return false }
        return !now.isFinished && (result.isCharged || now.state != .charged)
    }

    private func handle(_ result: DeliveryResult, isLastCall: Bool) async throws {
        let recovered = result.recovered
        switch recovered {
        case .payment(let entry) where result.isCharged: return try await deliver(entry)
        case .payment(let entry):
            let reason = entry.reason.map { ": \($0)" } ?? ""
            if entry.state == .rejected {
                log(.info, "not paid\(reason) entry=\"\(result.id)\"")
            } else {
                log(.warning, "a person should look at a payment: it is \(entry.state)\(reason) entry=\"\(result.id)\"")
            }
        case .unreadable(_, let why): log(.warning, "a person should look at an entry: it \(why) entry=\"\(result.id)\"")
        }
        guard isLastCall else { return try await otherwise(recovered) }
        // In a task of its own: this one may be cancelled, and then most calls of a handler would fail.
        try await Task { [otherwise] in try await otherwise(recovered) }.value
    }

    /// By the journal itself, which heeds no cancellation and is not closed: a delivered payment is finished also at the end.
    private func finish(_ result: DeliveryResult) async throws {
        try await journal.finish(result.id)
        result.isFinished = true
        delivered += 1
        log(.info, "a payment was delivered and finished entry=\"\(result.id)\"")
    }
}

/// One result of a recovery, and how far its handling is.
final class DeliveryResult {
    let recovered: Recovered
    let id: String
    let state: String
    let isCharged: Bool
    var failures = 0
    var due = ContinuousClock.now
    /// The handler has returned: only the end of the entry is missing.
    var isHandled = false
    /// The journal has it as finished.
    var isFinished = false
    /// By the recovery that runs.
    var isReported = true

    var mayBeHandled: Bool { isReported || isHandled || !isCharged }

    init(_ recovered: Recovered) {
        self.recovered = recovered
        switch recovered {
        case .payment(let entry): (id, state, isCharged) = (entry.id, entry.state.rawValue, entry.state == .charged)
        case .unreadable(let id, _): (self.id, state, isCharged) = (id, "unreadable", false)
        }
    }

    /// Whether its handler heeded the cancellation of this task: then it has not failed. For another result, whatever the error is.
    func heededCancellation(_ error: any Error) -> Bool {
        Task.isCancelled && (!isCharged || error is CancellationError)
    }
}

func log(_ level: LogEvent.Level, _ text: String) {
    KassaLog.write(LogEvent(level: level, text: text))
}
