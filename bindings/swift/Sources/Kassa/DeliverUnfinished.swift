internal import KassaGenerated

extension Gateway {
    /// Delivers what is paid and not delivered yet, once: for a script, a scheduled job, or a first program. It recovers what is unfinished
    /// in the journal (``recover(_:)``), calls the handler for each charged payment, and marks the entry as finished after the handler has
    /// returned. It ends when everything is final, or at the policy's deadline.
    ///
    /// ```swift
    /// let summary = try await gateway.deliverUnfinished(RecoveryPolicy(deadline: .seconds(15))) { entry in
    ///     try await ship(entry.note)  // once for each order
    /// }
    /// print(summary)
    /// ```
    ///
    /// **A long-running program**, such as a back end, uses ``deliverForever(_:otherwise:handler:)``, which repeats what failed. All of
    /// them, and a plain ``recover(_:)``, share the journal's lock: of the processes that use a folder, one delivers at a time. The others
    /// wait, this one until its deadline.
    ///
    /// - **The handler is called for a charged payment alone**, one payment at a time, and at most once for each. If it throws, this is
    ///   logged (``KassaLog``), the payment stays unfinished (``DeliverySummary/undelivered``), and the others are delivered. The next
    ///   delivery brings it again, as after a crash. So **delivering twice must do no harm**: deliver by a step that does nothing when it
    ///   is repeated, such as a row that is inserted once for each order.
    /// - A payment that is still pending at the deadline stays unfinished, too (``DeliverySummary/undecided``).
    /// - If the entry of a delivered payment cannot be finished, this is logged and repeated once, at the end.
    ///
    /// - Parameters:
    ///   - policy: How it polls, and for how long: by default every 10 seconds, for 20 minutes at most.
    ///   - otherwise: Gets any other result, once: a payment that was not paid (``JournalState/rejected``; release what was
    ///     reserved), and what a person should look at: a payment of another amount (``JournalState/mismatch``), one that the gateway does
    ///     not answer about, an entry that cannot be read. Each is logged before. If it throws, this is logged. **A rejected payment may
    ///     still be delivered later**, as a gateway may correct its report. The journal does not record this call, so it can be missed
    ///     where the process ends or the task is cancelled.
    ///   - handler: Delivers the payment of an entry, by its ``JournalEntry/note``.
    /// - Returns: What it delivered, and what it left open.
    /// - Throws: Everything that ``recover(_:)`` and its iteration throw, after the payments delivered so far are finished:
    ///   ``PaymentError/misconfigured(detail:httpStatus:code:body:)`` if the gateway has no journal or was closed,
    ///   ``PaymentError/invalid(violations:)`` for a policy of zeros, ``PaymentError/unauthorized(detail:httpStatus:code:body:)`` for wrong
    ///   credentials, and ``PaymentError/unavailable(detail:retryAfter:httpStatus:code:body:)`` if the journal cannot be read. Nothing is
    ///   retried, and none of them says anything about a payment. `CancellationError` if the task is cancelled: a handler that runs then is
    ///   waited for, and its payment is finished if it returns.
    @discardableResult
    public func deliverUnfinished(
        _ policy: RecoveryPolicy = RecoveryPolicy(), otherwise: @escaping @Sendable (Recovered) async throws -> Void = { _ in },
        handler: @escaping @Sendable (JournalEntry) async throws -> Void
    ) async throws -> DeliverySummary {
        let recovery = try translated { try core.recover(policy: policy.core) }
        let steps = DeliverySteps(try requiredJournal(), otherwise: otherwise, deliver: handler)
        return try await OneTimeDelivery(recovery, steps).run()
    }
}

/// Delivers what is charged, one payment after the other, in one recovery.
private final class OneTimeDelivery {
    private let recovery: KassaGenerated.Recovery
    private let steps: DeliverySteps
    /// The charged payments so far, by the entry's id. A recovery reports one again if its file was away for a while.
    private var charged: Set<String> = []
    /// Delivered payments with entries that could not be finished.
    private var unfinished: [DeliveryResult] = []

    init(_ recovery: KassaGenerated.Recovery, _ steps: DeliverySteps) {
        self.recovery = recovery
        self.steps = steps
    }

    func run() async throws -> DeliverySummary {
        log(.info, "a delivery of what is unfinished begins")
        // Until what was delivered is finished, though the recovery may have ended.
        recovery.holdLock()
        do {
            while let recovered = try await recovery.nextResult() { await handle(DeliveryResult(recovered)) }
        } catch {
            _ = await end()
            throw error
        }
        return await end()
    }

    private func handle(_ result: DeliveryResult) async {
        if result.isCharged, !charged.insert(result.id).inserted { return }
        await perform(result)
        if result.isCharged, result.isHandled, !result.isFinished { unfinished.append(result) }
    }

    private func end() async -> DeliverySummary {
        for result in unfinished { await perform(result) }
        recovery.cancel()
        return await steps.summary(of: "delivery")
    }

    private func perform(_ result: DeliveryResult, isLastCall: Bool = false) async {
        do {
            _ = try await steps.perform(result, isLastCall: isLastCall)
        } catch where !isLastCall && result.heededCancellation(error) {
            if !result.isCharged { await perform(result, isLastCall: true) }
        } catch {
            log(.error, "\(problem(of: result)) entry=\"\(result.id)\" error=\"\(error)\"")
        }
    }

    private func problem(of result: DeliveryResult) -> String {
        if result.isHandled { return "a delivered payment could not be finished" }
        guard result.isCharged else { return "a result of the recovery could not be handled" }
        return "a payment was not delivered: it stays unfinished, and the next delivery brings it again"
    }
}
