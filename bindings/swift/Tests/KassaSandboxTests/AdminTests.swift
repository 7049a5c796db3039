import Foundation
import Kassa
import KassaSandbox
import Testing

@Suite struct AdminTests {
    @Test func ledgerTellsWhatHappened() async throws {
        let sandbox = try await Sandbox.start()
        let shop = try Shop(sandbox)
        let before = Date(timeIntervalSinceNow: -2)
        try await shop.pay("order-1")
        let created = try await shop.pay("order-2", by: .approved)
        let ledger = try await sandbox.ledger()
        let (charged, open) = (try #require(ledger.first), try #require(ledger.last))
        #expect((charged.kind, charged.provider, charged.currency) == (.card, .cards, "KGS"))
        #expect(charged.amount == Decimal(string: "100.10"))
        #expect((charged.status, charged.code, charged.timesCharged) == (.charged, "200", 1))
        #expect(charged.isCharged)
        #expect(before < charged.createdAt && charged.createdAt < Date(timeIntervalSinceNow: 2))
        #expect((open.orderNumber, open.status, open.timesCharged) == ("order-2", .created, 0))
        #expect(open.gatewayNumber == created.payment.gatewayNumber)
        #expect(try await sandbox.payment(orderNumber: "order-2") == open)
        #expect(try await sandbox.ledger(orderNumber: "nobody") == [])
        let unknown = await refusal { try await sandbox.payment(orderNumber: "nobody") }
        #expect(unknown == .unknownPayment(number: "nobody"))
        await sandbox.stop()
    }

    @Test func amountsOfEveryKindAreExact() async throws {
        let sandbox = try await Sandbox.start()
        let shop = try Shop(sandbox)
        try await shop.askForCode("order-1")
        _ = try await shop.gateway.createQrData(QrPayment(sumTyiyn: 9990))
        _ = try await shop.gateway.createQrData(QrPayment())
        // A float that was on the way would show in 28 digits.
        for amount in ["3.13", "12345678901234567890123456.78"] {
            _ = try await shop.gateway.createPayForm(
                PayForm(
                    amount: try Decimal(exactly: amount), serviceName: "Tea", callbackURL: "http://127.0.0.1:9/c",
                    returnURL: "https://shop.example.kg/back"))
        }
        let ledger = try await sandbox.ledger()
        #expect(ledger.map(\.kind) == [.mbank, .qr, .qr, .payForm, .payForm])
        let exact = [250, 9990, nil, Decimal(string: "3.13"), Decimal(string: "12345678901234567890123456.78")]
        #expect(ledger.map(\.amount) == exact)
        #expect(ledger.last?.provider == nil)
        await sandbox.stop()
    }

    @Test func everyRequestIsTold() async throws {
        let sandbox = try await Sandbox.start()
        let shop = try Shop(sandbox)
        try await shop.pay("order-1")
        _ = try await shop.status("order-1")
        try await sandbox.faults.add(.responseLost, times: 1)
        await #expect(throws: PaymentError.self) { try await shop.pay("order-2") }
        let requests = try await sandbox.requests()
        #expect(requests.map(\.endpoint) == [.payment, .getStatus, .payment])
        #expect(requests.map(\.orderNumber) == ["order-1", "order-1", "order-2"])
        #expect(requests.map(\.fault) == [nil, nil, .responseLost])
        #expect(requests.map(\.httpStatus) == [200, 200, nil])
        #expect(try await sandbox.requests(orderNumber: "order-1") == Array(requests.prefix(2)))
        await sandbox.stop()
    }

    @Test func everyCallbackIsTold() async throws {
        let sandbox = try await Sandbox.start()
        let nobody = try ClosedPort()
        defer { nobody.letGo() }
        let url = "http://127.0.0.1:\(nobody.port)/callback"
        try await sandbox.faults.add(.callbackForged, orderNumber: "order-1", times: 1)
        try await Shop(sandbox).pay("order-1", callbackURL: url)
        var attempts: [Sandbox.CallbackAttempt] = []
        // One is told of only after its receiver has answered, or has not.
        try await until {
            attempts = try await sandbox.callbacks(orderNumber: "order-1")
            return Set(attempts.map(\.fault)).count == 2
        }
        #expect(attempts.allSatisfy { $0.url == url && $0.status == .charged && $0.httpStatus == nil && $0.error != nil })
        #expect(attempts.contains { $0.attempt == 1 && $0.fault == nil && $0.body.contains("100.1,") })
        #expect(attempts.contains { $0.fault == .callbackForged && !$0.body.contains("100.1,") })
        #expect(try await sandbox.callbacks(orderNumber: "order-2") == [])
        await sandbox.stop()
    }

    @Test func payersArePlayed() async throws {
        let sandbox = try await Sandbox.start()
        let shop = try Shop(sandbox)
        let created = try await shop.pay("order-1", by: .approved)
        let number = try #require(created.payment.gatewayNumber)
        #expect(try await sandbox.approve(number).status == .charged)
        #expect(try await shop.status("order-1") == .charged)
        guard case .refused(httpStatus: 409, _, _) = await refusal({ try await sandbox.decline("order-1") }) else {
            Issue.record("what is decided was decided again")
            return
        }
        try await shop.askForCode("order/2 ?")
        #expect(try await sandbox.decline("order/2 ?").status == .rejected)
        let unknown = await refusal { try await sandbox.approve("nobody") }
        #expect(unknown == .unknownPayment(number: "nobody"))
        await sandbox.stop()
    }

    @Test func codeWithoutASumIsPaidWithOne() async throws {
        let sandbox = try await Sandbox.start()
        let code = try await Shop(sandbox).gateway.createQrData(QrPayment())
        let id = try #require(code.transactionID)
        #expect(await refusal { try await sandbox.approve(id) }?.description.contains("tyiyn") == true)
        let paid = try await sandbox.approve(id, sumTyiyn: 12_550)
        #expect((paid.transactionID, paid.amount, paid.isCharged) == (id, 12_550, true))
        await sandbox.stop()
    }

    @Test func switchesAreReadAndChanged() async throws {
        let sandbox = try await Sandbox.start()
        let shop = try Shop(sandbox)
        let before = try await sandbox.switches.read()
        #expect(before == Sandbox.SwitchValues())
        let after = try await sandbox.switches.change {
            $0.reusedOrderNumber = .chargeTwice
            $0.language = .russian
        }
        #expect(after == Sandbox.SwitchValues(reusedOrderNumber: .chargeTwice, language: .russian))
        try await shop.pay("order-1")
        try await shop.pay("order-1")
        #expect(try await sandbox.payment(orderNumber: "order-1").timesCharged == 2)
        try await sandbox.reset()
        #expect(try await sandbox.switches.read() == before)
        #expect(try await sandbox.ledger() == [])
        await sandbox.stop()
    }

    @Test func clockStepsForwardAndResolvesWhatIsPending() async throws {
        let sandbox = try await Sandbox.start()
        #expect(try await sandbox.clock.read().ahead == .zero)
        try await Shop(sandbox).pay("order-1", by: .without3DSStuckPending)
        try await sandbox.clock.forward(by: .seconds(24 * 3600))
        #expect(try await sandbox.payment(orderNumber: "order-1").status == .pending)
        let values = try await sandbox.clock.resolvePending(afterQueries: 9, after: .seconds(3600))
        #expect((values.resolveAfterQueries, values.resolveAfter, values.ahead) == (9, .seconds(3600), .seconds(24 * 3600)))
        #expect(values.now > Date(timeIntervalSinceNow: 23 * 3600))
        try await until { try await sandbox.payment(orderNumber: "order-1").isCharged }

        let off = try await sandbox.clock.resolvePending()
        #expect((off.resolveAfterQueries, off.resolveAfter, off.ahead) == (nil, nil, .seconds(24 * 3600)))
        let inParts = await refusal { try await sandbox.clock.forward(by: .microseconds(1)) }
        #expect(inParts == .invalid(field: "step", rule: "must be a whole number of milliseconds"))
        for tried in [
            await refusal { try await sandbox.clock.forward(by: .seconds(-1)) },
            await refusal { try await sandbox.clock.resolvePending(afterQueries: 0) },
        ] {
            guard case .refused(httpStatus: 400, _, _) = tried else {
                Issue.record("\(String(describing: tried))")
                return
            }
        }
        try await sandbox.reset()
        #expect(try await sandbox.clock.read().ahead == .zero)
        await sandbox.stop()
    }

    @Test func pendingPaymentIsFinalAfterSoManyQuestions() async throws {
        let sandbox = try await Sandbox.start()
        let shop = try Shop(sandbox)
        try await sandbox.clock.resolvePending(afterQueries: 2)
        try await shop.pay("order-1", by: .without3DSStuckPending)
        #expect(try await [shop.status("order-1"), shop.status("order-1")] == [.other("PENDING"), .other("PENDING")])
        #expect(try await shop.status("order-1") == .charged)
        await sandbox.stop()
    }

    @Test(arguments: Sandbox.DialectName.allCases)
    func eachDialectComesWithWhatTheSDKHasToKnow(dialect: Sandbox.DialectName) async throws {
        let name = dialect == .interface ? "sandbox" : "sandbox-\(dialect.rawValue)"
        #expect(try dialect.json == text(of: "examples/\(name)-dialect.json").trimmingCharacters(in: .newlines))
        let sandbox = try await Sandbox.start(.init(switches: .init(actsAs: dialect)))
        let shop = try Shop(sandbox, dialect: dialect)
        let created = try await shop.askForCode("order-1")
        let otp = Sandbox.TestPhone.mbankApproved.otp
        _ = try await shop.gateway.confirmMbankPayment(created.payment, otp: otp)
        #expect(try await shop.status("order-1", provider: .mbank) == .charged)
        let code = try await shop.gateway.createQrData(QrPayment(sumTyiyn: 9990))
        let transaction = try #require(try await sandbox.ledger().last?.transactionID)
        #expect(code.payload?.contains(transaction) == true, "the code says it")
        #expect(code.transactionID == transaction)
        await sandbox.stop()
    }

    @Test func testDataIsWhatTheSandboxPublishes() throws {
        let published = try text(of: "sandbox/README.md").matches(of: #/\| `(\d{8,20})` \| ([^|]+) \| ([^|]+) \| `?(\w+)`? \|/#)
            .map { [$0.1, $0.2, $0.3, $0.4].map(String.init) }
        let cards = Sandbox.TestCard.all.map { [$0.pan, $0.threeDS.rawValue, $0.outcome.rawValue, $0.otp ?? "none"] }
        let phones = Sandbox.TestPhone.all.map { [$0.phone, $0.provider.rawValue, $0.outcome.rawValue, $0.otp] }
        #expect(cards + phones == published)
    }
}

/// A file of this project.
private func text(of path: String) throws -> String {
    let project = URL(filePath: #filePath).appending(path: "../../../../../").standardized
    return try String(contentsOf: project.appending(path: path), encoding: .utf8)
}
