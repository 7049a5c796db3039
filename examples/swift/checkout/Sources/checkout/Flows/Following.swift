import Foundation
import Kassa

/// How many callbacks wait for a gateway that cannot be asked.
private let mostUnchecked = 64

extension Flow {
    /// Follows the payment to its end: asks for its status, takes its callbacks, sees its payer come back; and waits a little for its
    /// callback at the end.
    mutating func follow() async throws -> Report {
        do {
            try await watchToTheEnd()
        } catch let error as PaymentError {
            narrator.warn("watch", error.describe())
            if case .deadlineExpired(let last?) = error {
                report.status = last
                report.outcome = .open
            }
            report.watchError = error
        }
        // The gateway has reported an open status before, or nobody has said that the payment is in doubt.
        if report.outcome == .unknown, report.error == nil { report.outcome = .open }
        await awaitCallback()
        return finish()
    }

    private mutating func watchToTheEnd() async throws {
        let policy = shop.policy
        if !report.payment.canBeAskedAbout { try await awaitNumber(until: .now + policy.deadline) }
        guard report.payment.canBeAskedAbout else { return }
        narrator.step("waiting", "for the final status, asking every \(policy.interval.inSeconds) s")
        let watch = try shop.gateway.watch(report.payment, policy: policy)
        let asking = Task { [inbox] in
            do {
                for try await report in watch { inbox.add(.report(report)) }
                inbox.add(.watchEnded(nil))
            } catch {
                inbox.add(.watchEnded(error))
            }
        }
        defer { asking.cancel() }
        var told = ""
        while true {
            switch await inbox.next() {
            case .report(let report): tell(report, &told)
            case .watchEnded(nil), .interrupted: return
            case .watchEnded(let error?): throw error
            case let arrival:
                await take(arrival)
                watch.checkNow()
            }
        }
    }

    /// A pay-form and a QR picture tell no number: the callback or the payer's return does. The gateway was told that its callback has
    /// arrived, and sends it no more: where it could not be asked, it is asked again.
    private mutating func awaitNumber(until deadline: ContinuousClock.Instant) async throws {
        narrator.step("waiting", "for the callback, which names the order")
        while !report.payment.canBeAskedAbout, report.outcome != .rejected {
            let nextQuestion = min(.now + shop.policy.interval, deadline)
            if let arrival = await inbox.next(until: nextQuestion) {
                await take(arrival)
            } else if nextQuestion < deadline {
                await askAgain()
            } else {
                throw PaymentError.deadlineExpired(last: nil)
            }
        }
    }

    private mutating func askAgain() async {
        let callbacks = unchecked
        unchecked = []
        for callback in callbacks {
            report.callbacks.removeAll { $0.verdict == .notAsked && $0.orderNumber == callback.orderNumber }
            await weigh(callback)
        }
    }

    /// Waits for a callback that the gateway confirms, no longer than asked for.
    private mutating func awaitCallback() async {
        while let arrival = await inbox.next(until: .now) { await take(arrival) }
        let isOver = report.outcome == .charged || report.outcome == .rejected
        guard isOver, awaitsCallback, !report.hasGoodCallback else { return }
        narrator.step("waiting", "for its callback")
        let deadline = ContinuousClock.now + shop.callbackWait
        while !report.hasGoodCallback {
            guard let arrival = await inbox.next(until: deadline) else {
                let text = "none that the gateway confirms came within \(shop.callbackWait.inSeconds) s"
                return narrator.warn("callback", text)
            }
            await take(arrival)
        }
    }

    private mutating func take(_ arrival: Event) async {
        switch arrival {
        case .payerReturned(let redirect):
            let code = redirect.statusCode ?? "none"
            narrator.step("return", "the payer is back, order \(redirect.orderNumber), statusCode \(code): a hint, so we ask")
            await weigh(redirect)
        case .callback(let callback, isDuplicate: true):
            narrator.step("callback", "the same once more: nothing to do")
            report.callbacks.append(SeenCallback(callback, .duplicate))
        case .callback(let callback, isDuplicate: false):
            await weigh(callback)
        case .report, .watchEnded, .interrupted, .alarm: break
        }
    }

    /// Asks the gateway about a callback, and keeps what it says.
    private mutating func weigh(_ callback: Callback) async {
        var (seen, verdict) = await shop.check(callback, report.payment, narrator)
        if case .success(let verdict) = verdict, !learn(from: verdict) {
            seen.verdict = .contradicted
            seen.fields = ["orderNumber"]
        }
        report.callbacks.append(seen)
        if case .failure(let error as PaymentError) = verdict, error.isRetryable, unchecked.count < mostUnchecked {
            unchecked.append(callback)
        }
    }

    /// Asks the gateway about a return that tells the number of a pay-form. Every other payment is being asked about.
    private mutating func weigh(_ redirect: ReturnRedirect) async {
        guard report.payment.kind == .payForm, !report.payment.canBeAskedAbout else { return }
        do {
            let verdict = try await shop.gateway.verifyReturn(redirect, payment: report.payment)
            narrator.step("return", "asked, the gateway says: \(verdict.inWords)")
            _ = learn(from: verdict)
        } catch {
            // Its callback will be asked about as well, and again.
            narrator.warn("return", "the gateway could not be asked (\(error.kind): \(error.localizedDescription))")
        }
    }

    /// A verdict that the gateway stands by tells the number of a pay-form or a QR picture. False where that number is another
    /// payment's: whoever paid once could claim it for every cart of the same amount (replay).
    private mutating func learn(from verdict: Verdict) -> Bool {
        guard !report.payment.canBeAskedAbout else { return true }
        switch verdict {
        case .charged(let payment, _, _), .open(let payment, _): return claim(payment)
        case .rejected: heard(verdict)
        case .contradicted, .unverifiable: break
        }
        return true
    }

    private mutating func claim(_ payment: PaymentRef) -> Bool {
        do {
            if try shop.store.claim(payment, for: report.reference, gateway: shop.gatewayName) {
                learned(payment)
                return true
            }
            let number = payment.orderNumber ?? payment.transactionID ?? ""
            narrator.warn("claim", "NOT OURS, order \(number) pays for another payment already")
        } catch {
            // Without the state file nobody knows what was paid with it.
            narrator.warn("state", error.localizedDescription)
        }
        return false
    }

    /// Tells a report of the watch, unless it says what the one before said.
    private mutating func tell(_ report: WatchReport, _ told: inout String) {
        let text: String
        switch report {
        case .status(let verdict):
            text = verdict.inWords
            heard(verdict)
        case .queryFailed(let error): text = "asking failed, we go on (\(error.kind): \(error))"
        }
        if told != text { narrator.step("status", text) }
        told = text
    }
}

extension Shop {
    /// Asks the gateway about a callback, and tells what it says; an error where it could not be asked.
    func check(
        _ callback: Callback, _ payment: PaymentRef, _ narrator: Narrator
    ) async -> (SeenCallback, Result<Verdict, any Error>) {
        // The unit of a QR callback's amount is not shown by the interface, so none is named.
        let unit = callback.requisite == nil ? callback.currency.map { " \($0)" } ?? "" : ""
        let said = "order \(callback.orderNumber) \(callback.status), amount \(unit.isEmpty ? "\(callback.amount)" : callback.amount.shown)\(unit)"
        let verdict: Verdict
        do {
            verdict = try await gateway.verifyCallback(callback, payment: payment)
        } catch {
            narrator.warn("callback", "\(said); the gateway could not be asked (\(error.kind): \(error.localizedDescription))")
            return (SeenCallback(callback, .notAsked), .failure(error))
        }
        let text = "\(said); asked, the gateway says: \(verdict.inWords)"
        switch verdict {
        case .charged, .rejected, .open: narrator.step("callback", text)
        case .contradicted, .unverifiable: narrator.warn("callback", text)
        }
        return (SeenCallback(callback, verdict), .success(verdict))
    }
}
