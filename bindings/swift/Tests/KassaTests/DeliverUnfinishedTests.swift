import Foundation
import KassaStage
import Testing

@testable import Kassa

/// What a script relies on that delivers once what is unfinished.
@Suite struct DeliverUnfinishedTests {
    private let home = JournalFolder()

    @Test func whatIsPaidIsDeliveredAndFinishedOnce() async throws {
        let fake = try FakeGateway()
        let gateway = try fake.gateway.withJournal(home.open())
        for number in ["order-1", "order-2"] { try await sell(number, to: fake, by: gateway) }
        fake.stopClock()
        let deliveries = Record<String>()
        let first = try await gateway.deliverUnfinished { deliveries.add($0.payment.orderNumber!) }
        #expect(deliveries.all.sorted() == ["order-1", "order-2"])
        #expect(first == DeliverySummary(delivered: 2, leftOpen: []) && "\(first)" == "2 delivered; left open: nothing")
        let second = try await gateway.deliverUnfinished { deliveries.add($0.payment.orderNumber!) }
        #expect(second == DeliverySummary(delivered: 0, leftOpen: []) && deliveries.all.count == 2)
    }

    @Test func whatAHandlerCouldNotDeliverIsTheNextDeliverys() async throws {
        let fake = try FakeGateway()
        let gateway = try fake.gateway.withJournal(home.open())
        for number in ["order-1", "order-2"] { try await sell(number, to: fake, by: gateway) }
        fake.stopClock()
        let calls = Record<String>()
        let first = try await gateway.deliverUnfinished { entry in
            calls.add(entry.payment.orderNumber!)
            // A time limit of the handler's own is no cancellation of the caller.
            if calls.all.count == 1 { throw CancellationError() }
        }
        #expect(calls.all.sorted() == ["order-1", "order-2"], "the other one is delivered nevertheless")
        #expect(first.delivered == 1 && first.leftOpen?.count == 1)
        #expect(first.undelivered.map(\.payment.orderNumber) == [calls.all[0]])
        let second = try await gateway.deliverUnfinished { calls.add($0.payment.orderNumber!) }
        #expect(second == DeliverySummary(delivered: 1, leftOpen: []) && calls.all.last == calls.all[0])
    }

    @Test func everythingElseGoesToTheOtherHandler() async throws {
        let fake = try FakeGateway()
        let gateway = try fake.gateway.withJournal(home.open())
        try home.write("hello", to: "open/2026-01-01/torn")
        try await create("declined", by: gateway)
        try fake.reject("declined")
        try await sell("order-1", to: fake, by: gateway)
        let (deliveries, others) = (Record<String>(), Record<String>())
        let otherwise: @Sendable (Recovered) throws -> Void = { recovered in
            switch recovered {
            case .payment(let entry): others.add("\(entry.payment.orderNumber!) \(entry.state)")
            case .unreadable(let id, _): others.add(id)
            }
            throw Failed()
        }
        let summary = try await gateway.deliverUnfinished(otherwise: otherwise) { deliveries.add($0.payment.orderNumber!) }
        #expect(others.all.sorted() == ["declined rejected", "torn"] && deliveries.all == ["order-1"])
        #expect("\(summary)" == "1 delivered; left open: 0 charged and not delivered, 0 undecided, 1 for a person")
    }

    @Test func whatIsStillOpenAtTheDeadlineIsLeft() async throws {
        let fake = try FakeGateway()
        let gateway = try fake.gateway.withJournal(home.open())
        try await create("order-1", by: gateway)
        let policy = RecoveryPolicy(deadline: .seconds(15))
        let summary = try await gateway.deliverUnfinished(policy, otherwise: { Issue.record("\($0)") }) { Issue.record("\($0)") }
        #expect(summary.undecided.map(\.payment.orderNumber) == ["order-1"] && summary.delivered == 0)
        #expect(fake.now >= .seconds(15) && fake.now < .seconds(60))
        try fake.charge("order-1")
        #expect(try await gateway.deliverUnfinished(policy) { _ in } == DeliverySummary(delivered: 1, leftOpen: []))
    }

    @Test func errorOfTheRecoveryReachesTheCaller() async throws {
        let it = try wrongCredentials()
        let gateway = try it.gateway.withJournal(home.open())
        try await sellTwo(by: gateway)
        let deliveries = Record<String>()
        await #expect {
            try await gateway.deliverUnfinished(often) { deliveries.add($0.payment.orderNumber!) }
        } throws: {
            ($0 as? PaymentError)?.kind == "Unauthorized"
        }
        #expect(deliveries.all == ["order-1"])
        #expect(try await gateway.journal?.entry(.mbank("order-1", amountSom: 250))?.isFinished == true)
        #expect(try await numbers(gateway.unfinished()) == ["order-2"])
        #expect(it.server.received.count == 3 + 3, "nothing is retried")
        await gateway.close()
    }

    @Test func whatCannotWorkIsSaidAtOnce() async throws {
        let fake = try FakeGateway()
        await #expect {
            try await fake.gateway.deliverUnfinished { _ in }
        } throws: {
            ($0 as? PaymentError)?.kind == "Misconfigured"
        }
        let gateway = try fake.gateway.withJournal(home.open())
        await #expect {
            try await gateway.deliverUnfinished(RecoveryPolicy(interval: .zero, deadline: .zero, atOnce: 0)) { _ in }
        } throws: {
            guard case .invalid(let violations)? = $0 as? PaymentError else { return false }
            return violations.map(\.field) == ["interval", "deadline", "at_once"]
        }
    }

    /// Such as a person, who has delivered it, too.
    @Test func whatSomebodyElseHasFinishedIsNotDelivered() async throws {
        let fake = try FakeGateway()
        let gateway = try fake.gateway.withJournal(home.open())
        for number in ["order-1", "order-2"] { try await sell(number, to: fake, by: gateway) }
        for number in ["order-1", "order-2"] { _ = try await gateway.check(.mbank(number, amountSom: 250)) }
        fake.stopClock()
        let calls = Record<String>()
        let summary = try await gateway.deliverUnfinished { entry in
            calls.add(entry.payment.orderNumber!)
            for try await left in gateway.unfinished() {
                if case .payment(let other) = left, other.id != entry.id { try await gateway.finish(other) }
            }
        }
        #expect(summary == DeliverySummary(delivered: 1, leftOpen: []) && calls.all.count == 1)
    }

    /// Its file goes away for a while, so that the recovery reports it again.
    @Test func handlerIsCalledOnceForEachPayment() async throws {
        let fake = try FakeGateway()
        let gateway = try fake.gateway.withJournal(home.open())
        try await sell("order-1", to: fake, by: gateway)
        fake.stopClock()
        let (calls, policy) = (Record<String>(), RecoveryPolicy(followNew: true))
        let script = Task {
            try await gateway.deliverUnfinished(policy) { entry in
                calls.add(entry.payment.orderNumber!)
                if entry.payment.orderNumber == "order-1" { throw Failed() }
            }
        }
        try await until { !calls.all.isEmpty }
        let away = home.folder.appending(path: "away")
        let file = try home.file(of: "order-1")
        try FileManager.default.moveItem(at: file, to: away)
        // Each is delivered by a later reading of the journal, which no longer lists, and then lists, the first one.
        for number in ["order-2", "order-3"] {
            try await sell(number, to: fake, by: gateway)
            try await until { fake.advance(by: policy.interval); return calls.all.contains(number) }
            if number == "order-2" { try FileManager.default.moveItem(at: away, to: file) }
        }
        fake.advance(by: policy.deadline)
        let summary = try await script.value
        #expect(calls.all == ["order-1", "order-2", "order-3"])
        #expect(summary.delivered == 2 && summary.undelivered.map(\.payment.orderNumber) == ["order-1"])
    }

    /// Another process would deliver it again.
    @Test func nobodyElseDeliversWhileAHandlerRunsThoughTheGatewayIsClosed() async throws {
        let it = try Loopback(Responses.envelope("0", [:]), Responses.charged)
        let gateway = try it.gateway.withJournal(home.open())
        try await create("order-1", by: gateway)
        let (hasBegun, mayEnd) = (Record<Bool>(), Record<Bool>())
        let script = Task {
            try await gateway.deliverUnfinished(often) { _ in
                hasBegun.add(true)
                try await until { !mayEnd.all.isEmpty }
            }
        }
        try await until { !hasBegun.all.isEmpty }
        await gateway.close()
        let other = try another(than: it)
        #expect(try await recoveredNow(by: other) == [], "somebody else gets what is being delivered")
        mayEnd.add(true)
        await #expect {
            try await script.value
        } throws: {
            ($0 as? PaymentError)?.kind == "Misconfigured"
        }
        #expect(try await numbers(other.unfinished()) == [], "it is finished, though the gateway is closed")
        await other.close()
    }

    /// The recovery has ended, and its delivered payment is still to be finished, which a pipe in place of its file delays.
    @Test func nobodyElseDeliversBeforeWhatWasDeliveredIsFinished() async throws {
        let it = try wrongCredentials(onceReleased: true)
        let gateway = try it.gateway.withJournal(home.open())
        try await sellTwo(by: gateway)
        try home.write("hello", to: "open/2026-01-01/torn")
        let (file, away) = (try home.file(of: "order-1"), home.folder.appending(path: "away"))
        let isDelivered = Record<Bool>()
        let script = Task {
            try await gateway.deliverUnfinished(often) { _ in
                try FileManager.default.moveItem(at: file, to: away)
                isDelivered.add(true)
            }
        }
        // The next query comes after the first try to finish it.
        try await until { !isDelivered.all.isEmpty && it.server.received.count == 4 }
        try #require(mkfifo(file.path(percentEncoded: false), 0o600) == 0)
        it.server.release()
        try await until { it.server.answered == 6 }
        let other = try another(than: it)
        #expect(try await recoveredNow(by: other) == [], "another one could deliver it, too")
        // By both ends, so that nobody waits for the other one.
        let pipe = try #require(FileHandle(forUpdatingAtPath: file.path(percentEncoded: false)))
        try FileManager.default.removeItem(at: file)
        try FileManager.default.moveItem(at: away, to: file)
        try pipe.close()
        await #expect(throws: PaymentError.self) { try await script.value }
        await gateway.close()
        await other.close()
    }

    @Test(arguments: [true, false]) func handlerThatRunsIsWaitedForWhenTheTaskIsCancelled(itHeedsThat: Bool) async throws {
        let fake = try FakeGateway()
        let gateway = try fake.gateway.withJournal(home.open())
        for number in ["order-1", "order-2"] { try await sell(number, to: fake, by: gateway) }
        for number in ["order-1", "order-2"] { _ = try await gateway.check(.mbank(number, amountSom: 250)) }
        fake.stopClock()
        let (calls, mayEnd) = (Record<String>(), Record<Bool>())
        let script = Task {
            try await gateway.deliverUnfinished { entry in
                calls.add(entry.payment.orderNumber!)
                try await Task { try await until { !mayEnd.all.isEmpty } }.value
                if itHeedsThat { try Task.checkCancellation() }
            }
        }
        try await until { !calls.all.isEmpty }
        script.cancel()
        mayEnd.add(true)
        await #expect(throws: CancellationError.self) { try await script.value }
        #expect(calls.all.count == 1, "nothing more is delivered")
        let left = try await numbers(gateway.unfinished())
        #expect(itHeedsThat ? left.count == 2 : left.count == 1 && !left.contains(calls.all[0]), "\(left)")
    }

    /// It would not come again.
    @Test func anotherResultIsHandledThoughTheTaskIsCancelled() async throws {
        let fake = try FakeGateway()
        let gateway = try fake.gateway.withJournal(home.open())
        try await create("order-1", by: gateway)
        try fake.reject("order-1")
        fake.stopClock()
        let calls = Record<Bool>()
        let script = Task {
            let otherwise: @Sendable (Recovered) async throws -> Void = { _ in
                if calls.all.isEmpty { withUnsafeCurrentTask { $0?.cancel() } }
                calls.add(Task.isCancelled)
                // As most calls do.
                try Task.checkCancellation()
            }
            return try await gateway.deliverUnfinished(otherwise: otherwise) { _ in }
        }
        await #expect(throws: CancellationError.self) { try await script.value }
        #expect(calls.all == [true, false])
    }

    @Test func cancelledTaskEndsAtOnceAndLetsTheNextDeliver() async throws {
        let it = try Loopback(Responses.envelope("0", [:]), Responses.silence, Responses.charged)
        let gateway = try it.gateway.withJournal(home.open())
        try await create("order-1", by: gateway)
        let script = Task { try await gateway.deliverUnfinished { _ in } }
        #expect(await it.server.waitForRequests(2))
        script.cancel()
        await #expect(throws: CancellationError.self) { try await script.value }
        #expect(try await gateway.deliverUnfinished { _ in } == DeliverySummary(delivered: 1, leftOpen: []))
        await gateway.close()
    }

    @Test func exampleIsAsDocumented() throws {
        try expectDocumented("DeliverUnfinished.swift", in: #filePath, indentation: 4)
    }

    /// As another process has it.
    private func another(than it: Loopback) throws -> Gateway {
        try Gateway(
            baseURL: it.server.url, credentials: Credentials(login: "shop", password: "swordfish-77"), journal: home.open())
    }
}

/// There is one log for a whole program.
extension OneLog {
    @Test func paymentThatAScriptCouldNotDeliverIsLogged() async throws {
        let home = JournalFolder()
        let fake = try FakeGateway()
        let gateway = try fake.gateway.withJournal(home.open())
        try home.write("hello", to: "open/2026-01-01/torn")
        try await sell("unfinished-1", to: fake, by: gateway)
        let log = Log()
        KassaLog.send { log.append($0) }
        let summary = try await gateway.deliverUnfinished(otherwise: { _ in throw Failed() }) { _ in throw Failed() }
        let end = try await log.line("the delivery ends")
        KassaLog.send(to: nil)
        #expect(end.contains("info: the delivery ends: \(summary)"))
        #expect("\(summary)" == "0 delivered; left open: 1 charged and not delivered, 0 undecided, 1 for a person")
        let failed = try #require(log.first(holding: "a payment was not delivered"))
        #expect(failed.contains("error: a payment was not delivered: it stays unfinished, and the next delivery brings it again"))
        #expect(failed.contains(" entry=\"\(summary.undelivered[0].id)\" error=\"Failed()\""))
        let other = try #require(log.first(holding: "could not be handled"))
        #expect(other.contains("error: a result of the recovery could not be handled entry=\"torn\" error=\"Failed()\""))
    }

    @Test func endOfADeliveryIsLoggedAlsoIfItThrows() async throws {
        let home = JournalFolder()
        let it = try wrongCredentials()
        let gateway = try it.gateway.withJournal(home.open())
        try await sellTwo(by: gateway)
        let log = Log()
        KassaLog.send { log.append($0) }
        await #expect(throws: PaymentError.self) { try await gateway.deliverUnfinished(often) { _ in } }
        let end = try await log.line("the delivery ends")
        KassaLog.send(to: nil)
        #expect(end.contains(": 1 delivered; left open: 0 charged and not delivered, 1 undecided, 0 for a person"))
        await gateway.close()
    }

    /// The disk is full, say, when the entry is to be finished; then there may be room again.
    @Test(arguments: [true, false]) func deliveredPaymentIsFinishedAtTheEnd(thereIsRoom: Bool) async throws {
        let home = JournalFolder()
        let it = try wrongCredentials(onceReleased: true)
        let gateway = try it.gateway.withJournal(home.open())
        try await sellTwo(by: gateway)
        let log = Log()
        KassaLog.send { log.append($0) }
        let (file, away) = (try home.file(of: "order-1"), home.folder.appending(path: "away"))
        let calls = Record<String>()
        let script = Task {
            try await gateway.deliverUnfinished(often) { entry in
                calls.add(entry.payment.orderNumber!)
                try FileManager.default.moveItem(at: file, to: away)
            }
        }
        _ = try await log.line("a delivered payment could not be finished")
        if thereIsRoom { try FileManager.default.moveItem(at: away, to: file) }
        // The recovery ends by an error.
        it.server.release()
        await #expect(throws: PaymentError.self) { try await script.value }
        let end = try await log.line("the delivery ends")
        KassaLog.send(to: nil)
        #expect(end.contains(": \(thereIsRoom ? 1 : 0) delivered"))
        if !thereIsRoom { try FileManager.default.moveItem(at: away, to: file) }
        #expect(try await numbers(gateway.unfinished()).contains("order-1") == !thereIsRoom && calls.all == ["order-1"])
        await gateway.close()
    }
}

private let often = RecoveryPolicy(interval: .milliseconds(10))

/// A gateway that refuses the credentials after it has reported that the first payment of ``sellTwo(by:)`` is charged.
private func wrongCredentials(onceReleased: Bool = false) throws -> Loopback {
    let refused = Responses.response(401, "{}")
    return try Loopback(
        Responses.envelope("0", [:]), Responses.charged, Responses.envelope("0", [:]), onceReleased ? Responses.held(refused) : refused)
}

private func sellTwo(by gateway: Gateway) async throws {
    try await create("order-1", by: gateway)
    #expect(try await gateway.check(.mbank("order-1", amountSom: 250)).isCharged)
    try await create("order-2", by: gateway)
}

extension Log {
    /// The first line with a text, once it is there.
    fileprivate func line(_ text: String) async throws -> String {
        try await until { first(holding: text) != nil }
        return first(holding: text)!
    }
}

extension JournalFolder {
    /// The file of an unfinished entry.
    fileprivate func file(of orderNumber: String) throws -> URL {
        let open = folder.appending(path: "open")
        let paths = try FileManager.default.subpathsOfDirectory(atPath: open.path(percentEncoded: false))
        return open.appending(path: try #require(paths.first { $0.contains("/\(orderNumber)-") }))
    }
}

private func numbers(_ unfinished: UnfinishedEntries) async throws -> [String] {
    try await listed(unfinished).compactMap {
        guard case .payment(let entry) = $0 else { return nil }
        return entry.payment.orderNumber
    }
}

/// As it stands in the documentation of ``Gateway/deliverUnfinished(_:otherwise:handler:)``.
private func deliverOnce(_ gateway: Gateway, ship: @escaping @Sendable (String?) async throws -> Void) async throws {
    let summary = try await gateway.deliverUnfinished(RecoveryPolicy(deadline: .seconds(15))) { entry in
        try await ship(entry.note)  // once for each order
    }
    print(summary)
}
