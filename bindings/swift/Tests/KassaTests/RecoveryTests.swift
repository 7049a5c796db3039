import Foundation
import Testing

@testable import Kassa

/// What an app or a server relies on that follows what it left behind.
@Suite struct RecoveryTests {
    private let home = JournalFolder()
    private let charged = JournalState.charged

    @Test func everyPaymentIsFollowedToItsEnd() async throws {
        let fake = try FakeGateway()
        let gateway = try fake.gateway.withJournal(home.open())
        try await sell("paid", by: gateway)
        try fake.charge("paid")
        fake.plan(.charge(after: .seconds(45)))
        let later = try await gateway.createCardPayment(cardPayment()).payment
        fake.plan(.reject(after: .seconds(60)))
        let declined = try await gateway.createCardPayment(cardPayment()).payment
        try home.write("hello", to: "open/2026-01-01/torn")

        var (delivered, rest): ([String?], [Recovered]) = ([], [])
        try await recoverAll(gateway, others: { rest.append($0) }) { delivered.append($0.payment.orderNumber) }
        // Both are queried side by side, and no order between two payments is promised.
        #expect(Set(delivered) == ["paid", later.orderNumber] && delivered.count == 2)
        #expect(rest.map(state) == [nil, .rejected] && rest[0] == .unreadable(id: "torn", why: "is not whole: a line was torn"))
        guard case .payment(let entry)? = rest.last else { throw InternalError(detail: "\(rest)") }
        #expect(entry.payment.orderNumber == declined.orderNumber && fake.now < .seconds(120))
        #expect(try await listed(gateway.unfinished()).count == 1, "what cannot be read")
        #expect(try everyForm(of: gateway.recover()).contains("Recovery"))
    }

    @Test func workerFollowsWhatIsBegunWhileItWorks() async throws {
        let fake = try FakeGateway()
        let gateway = try fake.gateway.withJournal(home.open())
        try await sell("tea", by: gateway)
        try fake.reject("tea")
        fake.stopClock()
        let policy = RecoveryPolicy(followNew: true)
        var recovery = try gateway.recover(policy).makeAsyncIterator()
        let tea = try entry(of: await recovery.next())
        #expect(tea.payment.orderNumber == "tea" && tea.state == .rejected && tea.reason == "STATUS")

        // Nothing else is left. A handler sells, the payer pays, and the gateway tells it more than once.
        try await sell("milk", by: gateway)
        let callback = try Callback(fake.charge("milk").callback)
        #expect(try await !isDelivered(callback, by: gateway))
        fake.advance(by: policy.interval)
        let milk = try entry(of: await recovery.next())
        #expect(milk.payment.orderNumber == "milk" && milk.state == charged && !milk.isFinished)
        try await gateway.finish(milk)
        #expect(try await isDelivered(callback, by: gateway))
        fake.advance(by: policy.deadline)
        #expect(try await recovery.next() == nil)
    }

    @Test func whatIsLeftEarlyIsRecoveredByTheNext() async throws {
        let fake = try FakeGateway()
        let gateway = try fake.gateway.withJournal(home.open())
        for number in ["order-1", "order-2"] {
            try await sell(number, by: gateway)
            try fake.charge(number)
        }
        let recovery = try gateway.recover()
        let another = try fake.gateway.withJournal(home.open()).recover()
        do {
            var one = recovery.makeAsyncIterator()
            #expect(try await one.next().map(state) == charged)
            // The other waits on the fake gateway's clock until its deadline.
            #expect(try await recovered(another).isEmpty, "one recovers at a time")
        }
        for try await _ in recovery { break }
        #expect(try await recovered(another).map(state) == [charged, charged])
        #expect(try await recovered(recovery).count == 2, "each iteration begins anew")
    }

    @Test func cancelledTaskEndsAtOnceAndLetsTheNextRecover() async throws {
        let it = try Loopback(Responses.envelope("0", [:]), Responses.silence, Responses.charged)
        let gateway = try it.gateway.withJournal(home.open())
        try await sell("order-1", by: gateway)
        let recovery = try gateway.recover()
        let working = Task { try await recovered(recovery) }
        #expect(await it.server.waitForRequests(2))
        working.cancel()
        await #expect(throws: CancellationError.self) { try await working.value }
        #expect(try await recovered(recovery).map(state) == [charged])
        await gateway.close()
    }

    @Test func closingTheGatewayEndsItAtOnceAndLetsTheNextRecover() async throws {
        let it = try Loopback(Responses.envelope("0", [:]), Responses.silence, Responses.charged) { $0.queryDeadline = .seconds(3600) }
        let gateway = try it.gateway.withJournal(home.open())
        try await sell("order-1", by: gateway)
        let working = Task { try await recovered(gateway.recover()) }
        #expect(await it.server.waitForRequests(2))
        await gateway.close()
        await #expect(throws: PaymentError.self) { try await working.value }
        let next = try Gateway(
            baseURL: it.server.url, credentials: Credentials(login: "shop", password: "swordfish-77"), journal: home.open())
        #expect(try await recovered(next.recover()).map(state) == [charged])
        await next.close()
    }

    @Test func policyThatIsNoneIsRefused() throws {
        let gateway = try FakeGateway().gateway.withJournal(home.open())
        let none = RecoveryPolicy(interval: .seconds(-1), deadline: .zero, atOnce: -1)
        #expect { try gateway.recover(none) } throws: {
            guard case .invalid(let violations)? = $0 as? PaymentError else { return false }
            return violations.map(\.field) == ["interval", "deadline", "at_once"]
        }
    }

    @Test func exampleIsAsDocumented() throws {
        try expectDocumented("Recovery.swift", in: #filePath, indentation: 4)
    }

    private func sell(_ orderNumber: String, by gateway: Gateway) async throws {
        _ = try await gateway.createMbankPayment(
            MbankPayment(orderNumber: orderNumber, phone: "996555000101", amountSom: 250, comment: "tea"))
    }

    /// What a handler of callbacks looks at.
    private func isDelivered(_ callback: Callback, by gateway: Gateway) async throws -> Bool {
        guard case .charged(let payment, _, _) = try await gateway.verifyCallback(callback, payment: .mbank("milk", amountSom: 250))
        else { throw InternalError(detail: "it is charged") }
        let entry = try await gateway.journal?.entry(payment)
        return try #require(entry).isFinished
    }

    private func entry(of recovered: Recovered?) throws -> JournalEntry {
        guard case .payment(let entry)? = recovered else { throw InternalError(detail: "\(String(describing: recovered))") }
        return entry
    }

    private func state(_ recovered: Recovered) -> JournalState? {
        guard case .payment(let entry) = recovered else { return nil }
        return entry.state
    }
}

/// As it stands in the documentation of ``Recovery``, but for what becomes of the others.
private func recoverAll(
    _ gateway: Gateway, others print: (Recovered) -> Void, deliver: (JournalEntry) async throws -> Void
) async throws {
    for try await recovered in try gateway.recover() {
        switch recovered {
        case .payment(let entry) where entry.state == .charged:
            try await deliver(entry)  // what entry.note says
            try await gateway.finish(entry)
        default: print(recovered)  // nothing was taken, or a person should look
        }
    }
}

/// All that an iteration yields.
private func recovered(_ recovery: Recovery) async throws -> [Recovered] {
    var all: [Recovered] = []
    for try await recovered in recovery { all.append(recovered) }
    return all
}
