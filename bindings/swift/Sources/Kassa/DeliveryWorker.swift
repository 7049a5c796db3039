import Foundation
internal import KassaGenerated

/// A recovery is restarted after this time at most.
private let longestPauseOfRecovery = Duration.seconds(60)

/// Delivers what is charged, one payment after the other: a recovery that follows new payments, restarted as often as it ends.
///
/// The handler is only called while a recovery of this worker has the journal's lock, because another process may deliver as soon as none
/// has. So a payment that could not be delivered waits for its next call within the same recovery, or is reported by the next one.
final class DeliveryWorker {
    private let begin: () throws -> KassaGenerated.Recovery
    private let policy: DeliveryPolicy
    private let closing: Closing
    private let steps: DeliverySteps
    private let wake = Wake()
    private var phase = Phase.pausing(until: .now)
    /// By the entry's id. They outlive a recovery, so that a restart calls no handler sooner or twice.
    private var results: [String: DeliveryResult] = [:]
    /// What a person should look at stays in the journal, and each recovery reports it: the state that the handler has had, by the id.
    private var handledOtherwise: [String: String] = [:]
    private var failedRecoveries = 0

    private enum Phase {
        case recovering(DeliverySession)
        /// Until the next recovery begins.
        case pausing(until: ContinuousClock.Instant)
    }

    private var isStopped: Bool { closing.isClosed || Task.isCancelled }

    init(_ begin: @escaping () throws -> KassaGenerated.Recovery, _ policy: DeliveryPolicy, _ closing: Closing, _ steps: DeliverySteps) {
        self.begin = begin
        self.policy = policy
        self.closing = closing
        self.steps = steps
    }

    func run() async -> DeliverySummary {
        log(.info, "a worker begins to deliver")
        closing.add(wake)
        defer { closing.remove(wake) }
        await deliverUntilStopped()
        await end()
        return await steps.summary(of: "worker")
    }

    private func deliverUntilStopped() async {
        while !isStopped {
            await step()
            if isStopped { return }
            // One at a time: handlers that fail, each for a while, must not keep what is new waiting.
            if let next = nextDue() { await perform(next) } else { await wait() }
        }
    }

    /// Adds the result that has come, or begins the next recovery when the pause is over.
    private func step() async {
        switch phase {
        case .recovering(let session):
            switch session.take() {
            case nil: break
            case .success(nil)?: await pause(after: nil)
            case .success(let recovered?)?:
                add(recovered)
                session.startNext()
            case .failure(_)? where closing.isClosed: break
            case .failure(let error)?: await pause(after: error)
            }
        case .pausing(let until) where until <= .now:
            do {
                phase = .recovering(DeliverySession(try begin(), wake))
            } catch {
                await pause(after: error)
            }
        case .pausing: break
        }
    }

    /// The recovery has ended: at its time limit, or by an error, which says nothing about a payment. No handler runs, so others may
    /// deliver now. What is charged comes again; what this recovery has not reported was finished elsewhere.
    private func pause(after error: (any Error)?) async {
        await finishDelivered()
        var hasWorked = error == nil
        if case .recovering(let session) = phase {
            session.cancel()
            // A recovery that worked for a while has nothing to do with the failures before.
            hasWorked = hasWorked || session.begun.duration(to: .now) > longestPauseOfRecovery
        }
        failedRecoveries = hasWorked ? 1 : failedRecoveries + 1
        let pause = min(policy.pause(afterFailures: failedRecoveries), longestPauseOfRecovery)
        if let error {
            log(.error, "recovery failed, and is restarted error=\"\(error)\" pause=\(pause.secondsText)s")
        }
        results = results.filter(\.value.mayBeHandled)
        for result in results.values { result.isReported = false }
        phase = .pausing(until: .now + pause)
    }

    /// Adds a result. One that waits for its repetition may come again, from the next recovery.
    private func add(_ recovered: Recovered) {
        let new = DeliveryResult(recovered)
        if !new.isCharged, handledOtherwise[new.id] == new.state { return }
        let known = results[new.id]
        // Charged is the last word on a payment, also where its file cannot be read just now.
        if let known, known.isCharged, !new.isCharged { return }
        // A payment that was rejected may come again, as charged. That is another result.
        guard let known, known.state == new.state else {
            results[new.id] = new
            return
        }
        known.isReported = true
    }

    /// What has not failed yet goes first.
    private func nextDue() -> DeliveryResult? {
        let now = ContinuousClock.now
        return results.values.filter { $0.mayBeHandled && $0.due <= now }
            .min { ($0.failures > 0 ? 1 : 0, $0.due) < ($1.failures > 0 ? 1 : 0, $1.due) }
    }

    /// Until a result comes, something is due, or the worker is stopped.
    private func wait() async {
        var moments = results.values.filter(\.mayBeHandled).map(\.due)
        if case .pausing(let until) = phase { moments.append(until) }
        let timer = moments.min().map { moment in
            Task { [wake] in
                try await Task.sleep(until: moment)
                wake.up()
            }
        }
        await withTaskCancellationHandler { [wake] in
            await wake.wait()
        } onCancel: { [wake] in
            wake.up()
        }
        timer?.cancel()
    }

    private func perform(_ result: DeliveryResult, isLastCall: Bool = false) async {
        do {
            let wasTrue = try await steps.perform(result, isLastCall: isLastCall)
            if wasTrue, !result.isCharged, result.state != JournalState.rejected.rawValue {
                handledOtherwise[result.id] = result.state
            }
            results[result.id] = nil
        } catch {
            failed(result, error, isLastCall: isLastCall)
        }
    }

    private func failed(_ result: DeliveryResult, _ error: any Error, isLastCall: Bool) {
        // Another result is handled once more at the end.
        if !isLastCall, result.heededCancellation(error) { return }
        result.failures += 1
        let pause = policy.pause(afterFailures: result.failures)
        result.due = .now + pause
        let what = result.isHandled ? "a delivered payment could not be finished" : "the handler failed, and is called again"
        let next = isStopped ? "" : " pause=\(pause.secondsText)s"
        log(.error, "\(what) entry=\"\(result.id)\" failures=\(result.failures) error=\"\(error)\"\(next)")
    }

    /// What is charged and was not delivered is the next worker's. Everything else would not come again, and is handled now; not what has
    /// failed, as nobody knows how long that takes.
    private func end() async {
        await finishDelivered()
        if case .recovering(let session) = phase, let last = await session.end() { add(last) }
        let rest = results.values.filter { !$0.isCharged && $0.failures == 0 }
        for result in rest.sorted(by: { $0.due < $1.due }) { await perform(result, isLastCall: true) }
    }

    /// While the lock is held, so that nobody delivers them again.
    private func finishDelivered() async {
        for result in results.values.filter(\.isHandled) { await perform(result) }
    }
}

/// One recovery, from its beginning to its end. It has the journal's lock until it is cancelled. Its next result is under way all the time.
///
/// Unchecked, because the compiler does not see that all that changes is behind the lock.
private final class DeliverySession: @unchecked Sendable {
    let begun = ContinuousClock.now
    private let recovery: KassaGenerated.Recovery
    private let wake: Wake
    private let lock = NSLock()
    private var arrived: Result<Recovered?, any Error>?
    private var waiting: Task<Void, Never>?

    init(_ recovery: KassaGenerated.Recovery, _ wake: Wake) {
        self.recovery = recovery
        self.wake = wake
        recovery.holdLock()
        startNext()
    }

    /// The next result, if it has come.
    func take() -> Result<Recovered?, any Error>? {
        lock.withLock {
            defer { arrived = nil }
            return arrived
        }
    }

    /// Begins to wait for the next result.
    func startNext() {
        let waiting = Task {
            let result: Result<Recovered?, any Error>
            do {
                result = .success(try await recovery.nextResult())
            } catch {
                result = .failure(error)
            }
            lock.withLock { arrived = result }
            wake.up()
        }
        lock.withLock { self.waiting = waiting }
    }

    /// Lets others recover. No handler may run any more.
    func cancel() { recovery.cancel() }

    /// The same, and gives what had come already.
    func end() async -> Recovered? {
        cancel()
        await lock.withLock { waiting }?.value
        guard case .success(let last)? = take() else { return nil }
        return last
    }
}

/// Whether a gateway was closed, and who is to hear of it.
///
/// Unchecked, because the compiler does not see that all that changes is behind the lock.
final class Closing: @unchecked Sendable {
    private let lock = NSLock()
    private var hasBegun = false
    private var waiting: [Wake] = []

    var isClosed: Bool { lock.withLock { hasBegun } }

    func close() {
        let waiting = lock.withLock {
            hasBegun = true
            return self.waiting
        }
        for wake in waiting { wake.up() }
    }

    func add(_ wake: Wake) { lock.withLock { waiting.append(wake) } }

    func remove(_ wake: Wake) { lock.withLock { waiting.removeAll { $0 === wake } } }
}

/// Wakes the worker.
///
/// Unchecked, because the compiler does not see that all that changes is behind the lock.
final class Wake: @unchecked Sendable {
    private let lock = NSLock()
    private var isUp = false
    private var waiting: CheckedContinuation<Void, Never>?

    /// From anywhere. If nobody waits, the next wait ends at once.
    func up() {
        let waiting = lock.withLock {
            defer { self.waiting = nil }
            isUp = self.waiting == nil
            return self.waiting
        }
        waiting?.resume()
    }

    func wait() async {
        await withCheckedContinuation { continuation in
            let wasUp = lock.withLock {
                let wasUp = isUp
                isUp = false
                if !wasUp { waiting = continuation }
                return wasUp
            }
            if wasUp { continuation.resume() }
        }
    }
}
