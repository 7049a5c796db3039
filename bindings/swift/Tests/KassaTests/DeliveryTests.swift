import Foundation
import KassaSandbox
import KassaStage
import Testing

@testable import Kassa

/// What a program relies on that leaves its deliveries to a worker.
@Suite struct DeliveryTests {
    private let home = JournalFolder()
    private let policy = RecoveryPolicy(interval: .milliseconds(50))
    private let backoff = Duration.milliseconds(20) ... .milliseconds(100)

    @Test func whatIsPaidIsDeliveredUntilItsHandlerReturns() async throws {
        try await withSandbox { sandbox in
            let gateway = try gateway(at: sandbox)
            try await sell("order-1", by: gateway)
            let (deliveries, others) = (Record<String>(), Record<Recovered>())
            let worker = Task { [policy, backoff] in
                try await gateway.deliverForever(policy, backoff: backoff, others: others.add) { entry in
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
            let leftOpen = try await worker.value
            #expect(deliveries.all == ["order-1", "order-1", "order-1", "order-2"])
            guard case .payment(let declined)? = others.all.first, others.all.count == 1 else { throw Problem("\(others.all)") }
            #expect(declined.payment.orderNumber == "declined" && declined.state == .rejected)
            guard case .payment(let open)? = leftOpen.first, leftOpen.count == 1 else { throw Problem("\(leftOpen)") }
            #expect(open.payment.orderNumber == "open" && open.state == .pending)
        }
    }

    @Test func aDeliveryThatNeverSucceedsIsLeftOpen() async throws {
        let fake = try FakeGateway()
        let gateway = try fake.gateway.withJournal(home.open())
        try await sell("order-1", to: fake, by: gateway)
        fake.stopClock()
        let attempts = Record<String>()
        let worker = Task { [backoff] in
            try await gateway.deliverForever(backoff: backoff) { entry in
                attempts.add(entry.id)
                throw Failed()
            }
        }
        try await until { attempts.all.count >= 3 }
        worker.cancel()
        guard case .payment(let entry)? = try await worker.value.first else { throw Problem("it is not left open") }
        #expect(entry.state == .charged && !entry.isFinished && Set(attempts.all) == [entry.id])
    }

    @Test func aHandlerThatRunsIsWaitedFor() async throws {
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
        #expect(try await worker.value == [], "what was delivered is finished, though the task is cancelled")
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
        #expect(try await workers[1 - first].value == [] && deliveries[first].all == ["order-1"])
    }

    /// Such as after a change of the password at the gateway, until it has arrived.
    @Test func wrongCredentialsEndNothing() async throws {
        let refused = Responses.response(401, "{}")
        let it = try Loopback([Responses.envelope("0", [:])] + [JSON](repeating: refused, count: 4) + [Responses.charged])
        let gateway = try it.gateway.withJournal(home.open())
        try await sell("order-2", by: gateway)
        let deliveries = Record<String>()
        let worker = Task { [policy, backoff] in
            try await gateway.deliverForever(policy, backoff: backoff) { deliveries.add($0.payment.orderNumber!) }
        }
        try await until { try await listed(gateway.unfinished()).isEmpty }
        #expect(deliveries.all == ["order-2"])
        await gateway.close()
        #expect(try await worker.value == [], "a closed gateway ends it")
    }

    @Test func whatCannotWorkIsSaidAtOnce() async throws {
        let fake = try FakeGateway()
        await #expect {
            try await fake.gateway.deliverForever { _ in }
        } throws: {
            ($0 as? PaymentError)?.kind == "Misconfigured"
        }
        let gateway = try fake.gateway.withJournal(home.open())
        await #expect {
            try await gateway.deliverForever(RecoveryPolicy(atOnce: 0)) { _ in }
        } throws: {
            ($0 as? PaymentError)?.kind == "Invalid"
        }
        await #expect {
            try await gateway.deliverForever(backoff: .zero ... .seconds(1)) { _ in }
        } throws: {
            ($0 as? PaymentError)?.kind == "Invalid"
        }
    }

    private struct Failed: Error {}

    private func gateway(at sandbox: Sandbox) throws -> Gateway {
        var config = GatewayConfig(
            baseURL: sandbox.baseURL, credentials: Credentials(login: sandbox.login, password: sandbox.password))
        config.dialect = try Dialect(json: Sandbox.DialectName.interface.json)
        return try Gateway(config, journal: home.open())
    }

    /// A payment that its payer confirms.
    private func sell(_ number: String, by gateway: Gateway, phone: Sandbox.TestPhone = .mbankApproved) async throws {
        let created = try await gateway.createMbankPayment(
            MbankPayment(orderNumber: number, phone: phone.phone, amountSom: 250, comment: "tea"))
        _ = try? await gateway.confirmMbankPayment(created.payment, otp: phone.otp)
    }

    private func sell(_ number: String, to fake: FakeGateway, by gateway: Gateway) async throws {
        _ = try await gateway.createMbankPayment(
            MbankPayment(orderNumber: number, phone: "996555000101", amountSom: 250, comment: "tea"))
        _ = try fake.charge(number)
    }
}

/// What happened, in order.
private final class Record<Value: Sendable>: @unchecked Sendable {
    private let lock = NSLock()
    private var values: [Value] = []

    var all: [Value] { lock.withLock { values } }

    @Sendable func add(_ value: Value) { lock.withLock { values.append(value) } }
}

/// Polls until a condition holds.
private func until(_ isThere: () async throws -> Bool) async throws {
    let limit = ContinuousClock.now + .seconds(patience)
    while try await !isThere() {
        try #require(ContinuousClock.now < limit, "it does not come")
        try await Task.sleep(for: .milliseconds(10))
    }
}
