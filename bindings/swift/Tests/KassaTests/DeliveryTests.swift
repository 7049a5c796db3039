import Foundation
import KassaSandbox
import KassaStage
import Testing

@testable import Kassa

/// What a program relies on that leaves its deliveries to a worker.
@Suite struct DeliveryTests {
    private let home = JournalFolder()
    private let often = DeliveryPolicy(interval: .milliseconds(10), firstPause: .milliseconds(2), longestPause: .milliseconds(20))
    /// Longer than any test.
    private let seldom = DeliveryPolicy(
        interval: .milliseconds(10), firstPause: .seconds(10 * patience), longestPause: .seconds(10 * patience))
    private let aDay = Duration.seconds(24 * 60 * 60)

    @Test func whatIsPaidIsDeliveredUntilItsHandlerReturns() async throws {
        try await withSandbox { sandbox in
            let gateway = try gateway(at: sandbox)
            try await sell("order-1", by: gateway)
            let (deliveries, others) = (Record<String>(), Record<Recovered>())
            let worker = Task { [often] in
                try await gateway.deliverForever(often, otherwise: others.add) { entry in
                    deliveries.add(entry.payment.orderNumber!)
                    // The first order fails twice; it keeps no other one waiting.
                    if deliveries.all.filter({ $0 == "order-1" }).count < 3 { throw Failed() }
                }
            }
            try await until { try await listed(gateway.unfinished()).isEmpty }
            // Sold meanwhile.
            try await sell("order-2", by: gateway)
            try await until { try await gateway.journal?.entry(.mbank("order-2", amountSom: 250))?.isFinished == true }
            try await sell("declined", by: gateway, phone: .mbankDeclined)
            try await until { !others.all.isEmpty }
            try await sell("open", by: gateway, phone: .mbankStuckPending)
            worker.cancel()
            let summary = try await worker.value
            #expect(deliveries.all == ["order-1", "order-1", "order-1", "order-2"])
            guard case .payment(let declined)? = others.all.first, others.all.count == 1 else { throw Problem("\(others.all)") }
            #expect(declined.payment.orderNumber == "declined" && declined.state == .rejected)
            #expect(summary.delivered == 2 && summary.undecided.map(\.payment.orderNumber) == ["open"])
            #expect("\(summary)" == "2 delivered; left open: 0 charged and not delivered, 1 undecided, 0 for a person")
        }
    }

    @Test func deliveryThatNeverSucceedsIsLeftOpen() async throws {
        let fake = try FakeGateway()
        let gateway = try fake.gateway.withJournal(home.open())
        try await sell("order-1", to: fake, by: gateway)
        fake.stopClock()
        let attempts = Record<String>()
        let worker = Task { [often] in
            try await gateway.deliverForever(often) { entry in
                attempts.add(entry.id)
                // A time limit of the handler's own is no cancellation of the worker.
                throw CancellationError()
            }
        }
        try await until { attempts.all.count >= 3 }
        worker.cancel()
        let summary = try await worker.value
        #expect(summary.undelivered.map(\.id) == [attempts.all[0]] && Set(attempts.all).count == 1)
        #expect("\(summary)" == "0 delivered; left open: 1 charged and not delivered, 0 undecided, 0 for a person")
    }

    @Test func handlerThatRunsIsWaitedFor() async throws {
        let fake = try FakeGateway()
        let gateway = try fake.gateway.withJournal(home.open())
        try await sell("order-1", to: fake, by: gateway)
        let (hasBegun, mayEnd) = (Record<Bool>(), Record<Bool>())
        let worker = Task {
            try await gateway.deliverForever { _ in
                hasBegun.add(true)
                // It does not heed the cancellation.
                try await Task { try await until { !mayEnd.all.isEmpty } }.value
            }
        }
        try await until { !hasBegun.all.isEmpty }
        worker.cancel()
        mayEnd.add(true)
        let summary = try await worker.value
        #expect(summary == DeliverySummary(delivered: 1, leftOpen: []), "it is finished, though the task is cancelled")
        #expect("\(summary)" == "1 delivered; left open: nothing")
    }

    @Test func oneOfTwoWorkersDelivers() async throws {
        let fake = try FakeGateway()
        let gateways = try (1...2).map { _ in try fake.gateway.withJournal(home.open()) }
        fake.stopClock()
        let deliveries = gateways.map { _ in Record<String>() }
        let workers = zip(gateways, deliveries).map { gateway, deliveries in
            Task { try await gateway.deliverForever { deliveries.add($0.payment.orderNumber!) } }
        }
        try await sell("order-1", to: fake, by: gateways[0])
        try await until { fake.advance(by: .seconds(10)); return try await listed(gateways[0].unfinished()).isEmpty }
        let first = deliveries[0].all.isEmpty ? 1 : 0
        #expect(deliveries[first].all == ["order-1"] && deliveries[1 - first].all == [])
        workers[first].cancel()
        _ = try await workers[first].value
        // The other one takes over.
        try await sell("order-2", to: fake, by: gateways[0])
        try await until { fake.advance(by: .seconds(10)); return deliveries[1 - first].all == ["order-2"] }
        workers[1 - first].cancel()
        #expect(try await workers[1 - first].value.leftOpen == [] && deliveries[first].all == ["order-1"])
    }

    /// Another process would deliver it again.
    @Test func nobodyElseDeliversWhileAHandlerRunsThoughTheGatewayIsClosed() async throws {
        let it = try Loopback(Responses.envelope("0", [:]), Responses.charged)
        let gateway = try it.gateway.withJournal(home.open())
        try await create("order-1", by: gateway)
        let (hasBegun, mayEnd) = (Record<Bool>(), Record<Bool>())
        let worker = Task { [often] in
            try await gateway.deliverForever(often) { _ in
                hasBegun.add(true)
                try await until { !mayEnd.all.isEmpty }
            }
        }
        try await until { !hasBegun.all.isEmpty }
        await gateway.close()
        let other = try another(than: it)
        #expect(try await recoveredNow(by: other) == [], "somebody else gets what is being delivered")
        mayEnd.add(true)
        #expect(try await worker.value == DeliverySummary(delivered: 1, leftOpen: []))
        await other.close()
    }

    /// As above, at the time limit of the recovery, a day.
    @Test func nobodyElseDeliversWhileAHandlerRunsThoughTheRecoveryIsOver() async throws {
        let fake = try FakeGateway()
        let gateway = try fake.gateway.withJournal(home.open())
        try await sell("order-1", to: fake, by: gateway)
        fake.stopClock()
        let (hasBegun, mayEnd) = (Record<Bool>(), Record<Bool>())
        let worker = Task { [often] in
            try await gateway.deliverForever(often) { _ in
                hasBegun.add(true)
                try await until { !mayEnd.all.isEmpty }
            }
        }
        try await until { !hasBegun.all.isEmpty }
        fake.advance(by: aDay)
        let other = try fake.gateway.withJournal(home.open()).recover(RecoveryPolicy(deadline: .seconds(60)))
        // With a clock that runs it waits for nothing but the lock, until its deadline.
        fake.startClock()
        #expect(try await other.reduce(into: []) { $0.append($1) } == [])
        mayEnd.add(true)
        try await until { try await listed(gateway.unfinished()).isEmpty }
        worker.cancel()
        #expect(try await worker.value.delivered == 1)
    }

    /// The recovery fails all the time, as the credentials are wrong, and others may recover in the pauses.
    @Test func failedDeliveryIsRepeatedOnlyWhileThisWorkerRecovers() async throws {
        let it = try Loopback(
            [Responses.envelope("0", [:]), Responses.charged, Responses.envelope("0", [:]), Responses.response(401, "{}")])
        let gateway = try it.gateway.withJournal(home.open())
        try await create("order-1", by: gateway)
        #expect(try await gateway.check(.mbank("order-1", amountSom: 250)).isCharged)
        try await create("order-2", by: gateway)
        let other = try another(than: it)
        let (attempts, atRisk) = (Record<Bool>(), Record<Recovered>())
        let worker = Task { [often] in
            try await gateway.deliverForever(often) { entry in
                attempts.add(true)
                for recovered in try await recoveredNow(by: other) { atRisk.add(recovered) }
                throw Failed()
            }
        }
        // Each recovery ends after three queries.
        try await until { it.server.received.count > 30 && attempts.all.count > 10 }
        worker.cancel()
        #expect(try await worker.value.undelivered.count == 1)
        #expect(atRisk.all == [], "another one could deliver it, too")
        await gateway.close()
        await other.close()
    }

    /// Each call takes longer than the longest pause, so one of the failed payments is always due.
    @Test func failingPaymentsDoNotKeepOthersWaiting() async throws {
        let fake = try FakeGateway()
        let gateway = try fake.gateway.withJournal(home.open())
        for number in ["order-1", "order-2"] { try await sell(number, to: fake, by: gateway) }
        fake.stopClock()
        let calls = Record<String>()
        let worker = Task {
            let policy = DeliveryPolicy(firstPause: .milliseconds(1), longestPause: .milliseconds(2))
            return try await gateway.deliverForever(policy) { entry in
                calls.add(entry.payment.orderNumber!)
                try await Task.sleep(for: .milliseconds(5))
                if entry.payment.orderNumber != "order-3" { throw Failed() }
            }
        }
        try await until { calls.all.count >= 4 }
        try await sell("order-3", to: fake, by: gateway)
        try await until { fake.advance(by: .seconds(10)); return calls.all.contains("order-3") }
        let before = calls.all.count
        try await until { calls.all.count >= before + 4 }
        worker.cancel()
        let summary = try await worker.value
        #expect(summary.delivered == 1 && summary.undelivered.count == 2)
        #expect(Set(calls.all.suffix(2)) == ["order-1", "order-2"], "they take turns")
    }

    /// What a person should look at stays in the journal, and each recovery finds it.
    @Test func anotherResultIsHandledOnceAndAgainIfThatFailed() async throws {
        let fake = try FakeGateway()
        let gateway = try fake.gateway.withJournal(home.open())
        try home.write("hello", to: "open/2026-01-01/torn")
        fake.stopClock()
        let others = Record<Recovered>()
        let worker = Task { [often] in
            let otherwise: @Sendable (Recovered) throws -> Void = { recovered in
                others.add(recovered)
                if others.all.count == 1 { throw Failed() }
            }
            return try await gateway.deliverForever(often, otherwise: otherwise) { _ in }
        }
        try await until { others.all.count == 2 }
        for day in 1...2 {
            fake.advance(by: aDay)
            let number = "order-\(day)"
            try await sell(number, to: fake, by: gateway)
            // By the next recovery, which has found the other one first.
            try await until {
                fake.advance(by: .seconds(10))
                return try await gateway.journal?.entry(.mbank(number, amountSom: 250))?.isFinished == true
            }
        }
        worker.cancel()
        let summary = try await worker.value
        #expect(others.all == [Recovered](repeating: .unreadable(id: "torn", why: "is not whole: a line was torn"), count: 2))
        #expect(summary.delivered == 2 && summary.forAPerson.count == 1)
    }

    @Test func whatAPersonHasFinishedIsNotDeliveredAgain() async throws {
        let fake = try FakeGateway()
        let gateway = try fake.gateway.withJournal(home.open())
        try await sell("order-1", to: fake, by: gateway)
        fake.stopClock()
        let calls = Record<String>()
        let worker = Task { [often] in
            try await gateway.deliverForever(often) { entry in
                calls.add(entry.payment.orderNumber!)
                try await gateway.finish(entry)
                if entry.payment.orderNumber == "order-1" { throw Failed() }
            }
        }
        try await until { try await listed(gateway.unfinished()).isEmpty }
        try await sell("order-2", to: fake, by: gateway)
        try await until { fake.advance(by: .seconds(10)); return calls.all.contains("order-2") }
        try await until { try await listed(gateway.unfinished()).isEmpty }
        worker.cancel()
        #expect(try await worker.value.delivered == 1 && calls.all == ["order-1", "order-2"])
    }

    /// What is charged is the next worker's; everything else would not come again.
    @Test func whatHasComeIsHandledAtTheEndUnlessItIsCharged() async throws {
        for next in ["order-2", "torn"] {
            let home = JournalFolder()
            let fake = try FakeGateway()
            let gateway = try fake.gateway.withJournal(home.open())
            try await sell("order-1", to: fake, by: gateway)
            next == "torn" ? try home.write("hello", to: "open/2099-01-01/torn") : try await sell(next, to: fake, by: gateway)
            for number in ["order-1", "order-2"] { _ = try? await gateway.check(.mbank(number, amountSom: 250)) }
            fake.stopClock()
            let (deliveries, others, mayEnd) = (Record<String>(), Record<Bool>(), Record<Bool>())
            let worker = Task {
                try await gateway.deliverForever(otherwise: { _ in others.add(Task.isCancelled) }) { entry in
                    deliveries.add(entry.payment.orderNumber!)
                    try await Task { try await until { !mayEnd.all.isEmpty } }.value
                }
            }
            try await until { !deliveries.all.isEmpty }
            worker.cancel()
            mayEnd.add(true)
            let summary = try await worker.value
            #expect(summary.delivered == 1 && deliveries.all.count == 1)
            #expect(others.all == (next == "torn" ? [false] : []), "its handler is in no cancelled task")
            #expect(summary.undelivered.count == (next == "torn" ? 0 : 1))
        }
    }

    /// Such as after a change of the password at the gateway, until it has arrived.
    @Test func wrongCredentialsEndNothing() async throws {
        let refused = Responses.response(401, "{}")
        let it = try Loopback([Responses.envelope("0", [:])] + [JSON](repeating: refused, count: 4) + [Responses.charged])
        let gateway = try it.gateway.withJournal(home.open())
        try await create("order-2", by: gateway)
        let deliveries = Record<String>()
        let worker = Task { [often] in
            try await gateway.deliverForever(often) { deliveries.add($0.payment.orderNumber!) }
        }
        try await until { try await listed(gateway.unfinished()).isEmpty }
        #expect(deliveries.all == ["order-2"])
        await gateway.close()
        #expect(try await worker.value.leftOpen == [], "a closed gateway ends it")
    }

    @Test(arguments: [false, true]) func pauseEndsAtOnce(byClosing: Bool) async throws {
        let it = try Loopback(
            [Responses.envelope("0", [:]), Responses.charged, Responses.envelope("0", [:]), Responses.response(401, "{}")])
        let gateway = try it.gateway.withJournal(home.open())
        try await create("order-1", by: gateway)
        #expect(try await gateway.check(.mbank("order-1", amountSom: 250)).isCharged)
        try await create("order-2", by: gateway)
        let other = try another(than: it)
        let worker = Task { [seldom] in try await gateway.deliverForever(seldom) { _ in throw Failed() } }
        #expect(await it.server.waitForRequests(6), "the recovery fails after three queries")
        // Others may recover only in the pause.
        try await until { try await !recoveredNow(by: other).isEmpty }
        let begun = ContinuousClock.now
        if byClosing { await gateway.close() } else { worker.cancel() }
        let summary = try await worker.value
        #expect(summary.undelivered.count == 1 && summary.undecided.count == 1)
        #expect(begun.duration(to: .now) < .seconds(patience / 2))
        await gateway.close()
        await other.close()
    }

    /// What is charged is left to the next worker, though more of it has come.
    @Test func closingTheGatewayEndsItAfterTheHandlerThatRuns() async throws {
        let fake = try FakeGateway()
        let gateway = try fake.gateway.withJournal(home.open())
        for number in 1...3 {
            try await sell("order-\(number)", to: fake, by: gateway)
            _ = try await gateway.check(.mbank("order-\(number)", amountSom: 250))
        }
        let (hasBegun, mayEnd) = (Record<Bool>(), Record<Bool>())
        let worker = Task {
            try await gateway.withNote("cart 17").deliverForever { _ in
                hasBegun.add(true)
                try await until { !mayEnd.all.isEmpty }
            }
        }
        try await until { !hasBegun.all.isEmpty }
        await gateway.close()
        mayEnd.add(true)
        let summary = try await worker.value
        #expect(summary.delivered == 1 && summary.undelivered.count == 2 && hasBegun.all == [true])
    }

    @Test func closingTheGatewayEndsItWhileAFailedDeliveryWaits() async throws {
        let fake = try FakeGateway()
        let gateway = try fake.gateway.withJournal(home.open())
        try await sell("order-1", to: fake, by: gateway)
        fake.stopClock()
        let calls = Record<Bool>()
        let worker = Task { [seldom] in
            try await gateway.deliverForever(seldom) { _ in
                calls.add(true)
                throw Failed()
            }
        }
        try await until { !calls.all.isEmpty }
        await gateway.close()
        #expect(try await worker.value.undelivered.count == 1 && calls.all.count == 1)
    }

    @Test func whatCannotWorkIsSaidAtOnce() async throws {
        let fake = try FakeGateway()
        await #expect {
            try await fake.gateway.deliverForever { _ in }
        } throws: {
            ($0 as? PaymentError)?.kind == "Misconfigured"
        }
        let gateway = try fake.gateway.withJournal(home.open())
        for (policy, fields) in [
            (DeliveryPolicy(interval: .zero, atOnce: 0), ["interval", "at_once"]),
            (DeliveryPolicy(firstPause: .zero, longestPause: .seconds(-1)), ["firstPause", "longestPause"]),
            (DeliveryPolicy(firstPause: .seconds(2), longestPause: .seconds(1)), ["longestPause"]),
        ] {
            await #expect {
                try await gateway.deliverForever(policy) { _ in }
            } throws: {
                guard case .invalid(let violations)? = $0 as? PaymentError else { return false }
                return violations.map(\.field) == fields
            }
        }
    }

    @Test func pausesAreDoubledUpToTheLongest() {
        let policy = DeliveryPolicy()
        #expect([1, 2, 3, 9, 10, Int.max].map(policy.pause) == [1, 2, 4, 256, 300, 300].map { .seconds($0) })
        #expect(policy.recovery == RecoveryPolicy(deadline: aDay, followNew: true))
        let endless = DeliveryPolicy(firstPause: .seconds(Int64.max), longestPause: .seconds(Int64.max))
        #expect(ContinuousClock.now + endless.pause(afterFailures: 9) > .now)
    }

    @Test func exampleIsAsDocumented() throws {
        try expectDocumented("Delivery.swift", in: #filePath, indentation: 4)
    }

    private func gateway(at sandbox: Sandbox) throws -> Gateway {
        var config = GatewayConfig(
            baseURL: sandbox.baseURL, credentials: Credentials(login: sandbox.login, password: sandbox.password))
        config.dialect = try Dialect(json: Sandbox.DialectName.interface.json)
        return try Gateway(config, journal: home.open())
    }

    /// As another process has it.
    private func another(than it: Loopback) throws -> Gateway {
        try Gateway(
            baseURL: it.server.url, credentials: Credentials(login: "shop", password: "swordfish-77"), journal: home.open())
    }
}

/// There is one log for a whole program.
extension OneLog {
    @Test func whatNobodyHandlesIsLogged() async throws {
        let home = JournalFolder()
        let fake = try FakeGateway()
        let gateway = try fake.gateway.withJournal(home.open())
        try home.write("hello", to: "open/2026-01-01/torn")
        try await create("delivery-1", by: gateway)
        _ = try fake.reject("delivery-1")
        let log = Log()
        KassaLog.send { log.append($0) }
        let worker = Task { try await gateway.deliverForever { _ in } }
        await log.holds("not paid")
        await log.holds("a person should look")
        worker.cancel()
        #expect(try await worker.value.forAPerson.count == 1)
        await log.holds("the worker ends: 0 delivered; left open: 0 charged and not delivered, 0 undecided, 1 for a person")
        KassaLog.send(to: nil)
        #expect(log.first(holding: "not paid")?.contains("info: not paid: STATUS entry=\"delivery-1-") == true)
        let expected = "warning: a person should look at an entry: it is not whole: a line was torn entry=\"torn\""
        #expect(log.first(holding: "a person should look")?.contains(expected) == true)
    }

    /// The disk is full, say, when the entry is to be finished.
    @Test func deliveredPaymentIsOnlyFinishedAgain() async throws {
        let home = JournalFolder()
        let fake = try FakeGateway()
        let gateway = try fake.gateway.withJournal(home.open())
        try await sell("delivery-2", to: fake, by: gateway)
        fake.stopClock()
        let log = Log()
        KassaLog.send { log.append($0) }
        let (done, away) = (home.folder.appending(path: "done"), home.folder.appending(path: "away"))
        let calls = Record<Bool>()
        let worker = Task {
            let policy = DeliveryPolicy(firstPause: .milliseconds(2), longestPause: .milliseconds(20))
            return try await gateway.deliverForever(policy) { _ in
                calls.add(true)
                try FileManager.default.moveItem(at: done, to: away)
                try home.write("no folder", to: "done")
            }
        }
        await log.holds("a delivered payment could not be finished")
        try FileManager.default.removeItem(at: done)
        try FileManager.default.moveItem(at: away, to: done)
        try await until { try await listed(gateway.unfinished()).isEmpty }
        worker.cancel()
        #expect(try await worker.value == DeliverySummary(delivered: 1, leftOpen: []) && calls.all == [true])
        KassaLog.send(to: nil)
    }

    @Test func journalThatCannotBeReadAtTheEndIsLogged() async throws {
        let home = JournalFolder()
        let fake = try FakeGateway()
        let gateway = try fake.gateway.withJournal(home.open())
        try await sell("delivery-3", to: fake, by: gateway)
        fake.stopClock()
        let log = Log()
        KassaLog.send { log.append($0) }
        let worker = Task {
            try await gateway.deliverForever { _ in
                let open = home.folder.appending(path: "open")
                try FileManager.default.removeItem(at: open)
                try home.write("no folder", to: "open")
                withUnsafeCurrentTask { $0?.cancel() }
                throw Failed()
            }
        }
        let summary = try await worker.value
        #expect(summary == DeliverySummary(delivered: 0, leftOpen: nil) && summary.undelivered == [] && summary.forAPerson == [])
        #expect("\(summary)" == "0 delivered; the journal could not be read")
        await log.holds("the worker ends: 0 delivered; the journal could not be read")
        KassaLog.send(to: nil)
        #expect(log.first(holding: "the journal could not be read error=")?.contains("error: ") == true)
    }
}

/// A payment that nobody has paid yet.
func create(_ number: String, by gateway: Gateway) async throws {
    _ = try await gateway.createMbankPayment(
        MbankPayment(orderNumber: number, phone: "996555000101", amountSom: 250, comment: "tea"))
}

func sell(_ number: String, to fake: FakeGateway, by gateway: Gateway) async throws {
    try await create(number, by: gateway)
    _ = try fake.charge(number)
}

/// A payment that its payer confirms at a sandbox.
func sell(_ number: String, by gateway: Gateway, phone: Sandbox.TestPhone = .mbankApproved) async throws {
    let created = try await gateway.createMbankPayment(
        MbankPayment(orderNumber: number, phone: phone.phone, amountSom: 250, comment: "tea"))
    _ = try? await gateway.confirmMbankPayment(created.payment, otp: phone.otp)
}

/// As it stands in the documentation of ``Gateway/deliverForever(_:otherwise:handler:)``.
private func work(_ gateway: Gateway, ship: @escaping @Sendable (String?) async throws -> Void) async throws {
    let worker = Task {
        try await gateway.deliverForever { entry in
            try await ship(entry.note)  // once for each order
        }
    }
    // … the program runs …
    worker.cancel()
    print(try await worker.value)
}

struct Failed: Error {}

/// What another process would deliver now: nothing while the journal's lock is held.
func recoveredNow(by other: Gateway) async throws -> [Recovered] {
    let policy = RecoveryPolicy(interval: .milliseconds(1), deadline: .milliseconds(50))
    for try await recovered in try other.recover(policy) { return [recovered] }
    return []
}

/// What happened, in order.
final class Record<Value: Sendable>: @unchecked Sendable {
    private let lock = NSLock()
    private var values: [Value] = []

    var all: [Value] { lock.withLock { values } }

    @Sendable func add(_ value: Value) { lock.withLock { values.append(value) } }
}

/// Polls until a condition holds.
func until(_ isThere: () async throws -> Bool) async throws {
    let limit = ContinuousClock.now + .seconds(patience)
    while try await !isThere() {
        try #require(ContinuousClock.now < limit, "it does not come")
        try await Task.sleep(for: .milliseconds(10))
    }
}
