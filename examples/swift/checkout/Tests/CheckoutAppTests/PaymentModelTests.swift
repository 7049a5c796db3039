import CheckoutApp
import Foundation
import Kassa
import KassaSandbox
import Testing

private let returnURL = "kassa-shop://paid"

@MainActor @Suite struct PaymentModelTests {
    @Test func aPaymentIsConfirmedAtTheBankAndPaid() async throws {
        let app = try await App()
        let model = try app.start()
        #expect(model.screen == .ready(message: nil))
        var shown: [Screen] = []
        model.onChange = { shown.append($0) }
        model.payByCard(amount: try Decimal(exactly: "250.50"), card: card(.approved))
        #expect(model.screen == .sending)
        let order = try await app.orderOnTheBanksPage(model)
        #expect(try app.store.read()?.payment.orderNumber == order)
        model.payByCard(amount: 1, card: card(.approved))  // a second tap pays nothing
        // Its own first question is answered before the payer has confirmed.
        try await app.wait { try await app.questions() == 1 }

        try await app.sandbox.approve(order)
        model.cameBack(by: link(order))
        let paid = Screen.paid(amount: Decimal(string: "250.50"))
        try await app.wait { model.screen == paid }
        #expect(shown.count == 4 && shown.first == .sending && shown.last == paid, "\(shown)")
        #expect(try app.store.read() == nil)
        #expect(try await app.sandbox.ledger().map(\.timesCharged) == [1])
        await app.end()
    }

    @Test func anAppThatWasKilledOnTheBanksPageGoesOn() async throws {
        let app = try await App()
        var killed: PaymentModel? = try app.start()
        killed?.payByCard(amount: 250, card: card(.approved))
        let order = try await app.orderOnTheBanksPage(try #require(killed))
        let page = killed?.screen
        killed = nil

        let model = try app.start()
        #expect(model.screen == page, "the payer can go on where they were")
        model.payByCard(amount: 1, card: card(.approved))
        try await app.sandbox.approve(order)
        model.cameBack(by: link(order))
        try await app.wait { model.screen == .paid(amount: 250) }
        #expect(try await app.sandbox.ledger().map(\.timesCharged) == [1])
        #expect(try app.start().screen == .ready(message: nil), "what is over is not asked about again")
        await app.end()
    }

    @Test func aModelThatIsGoneAsksNoMore() async throws {
        let app = try await App()
        var model: PaymentModel? = try app.start(interval: .milliseconds(1))
        model?.payByCard(amount: 250, card: card(.approved))
        _ = try await app.orderOnTheBanksPage(try #require(model))
        weak var seen = model
        model = nil
        try await app.wait { seen == nil }
        // A query under way may still arrive, and then no more.
        try await app.wait {
            let asked = try await app.questions()
            try await Task.sleep(for: .milliseconds(50))
            return try await app.questions() == asked
        }
        #expect(try app.store.read() != nil)
        await app.end()
    }

    @Test func theReturnIsAHintAndTheStatusDecides() async throws {
        let app = try await App()
        let model = try app.start()
        model.payByCard(amount: 250, card: card(.approved))
        let order = try await app.orderOnTheBanksPage(model)
        try await app.wait { try await app.questions() == 1 }

        // Neither another payment's link nor what is no link at all.
        model.cameBack(by: link("another"))
        model.cameBack(by: URL(string: "kassa-shop://paid?statusCode=200")!)
        guard case .confirm = model.screen else {
            Issue.record("\(model.screen)")
            return
        }
        // It says 200, and nobody has paid: the next question comes at once, and the payment is open.
        model.cameBack(by: link(order))
        #expect(model.screen == .waiting(message: "Asking about your payment"))
        try await app.wait { try await app.questions() == 2 }
        #expect(model.screen == .waiting(message: "Asking about your payment"))

        // Back in some other way.
        try await app.sandbox.decline(order)
        model.cameBack()
        try await app.wait { if case .notPaid = model.screen { true } else { false } }
        #expect(try await app.questions() == 3)
        #expect(try app.store.read() == nil)
        await app.end()
    }

    @Test func aLostAnswerIsAskedAbout() async throws {
        let app = try await App()
        try await app.sandbox.faults.add(.replyLost, endpoint: .payment)
        let busy = try await app.sandbox.faults.add(.unavailable, endpoint: .getStatus)
        let model = try app.start()
        model.payByCard(amount: 250, card: card(.without3DSApproved))
        try await app.wait { if case .waiting(let message) = model.screen { message.contains("Do not pay again") } else { false } }
        try await busy.remove()
        model.cameBack()
        try await app.wait { model.screen == .paid(amount: 250) }
        #expect(try await app.sandbox.requests().count { $0.endpoint == .payment } == 1)
        await app.end()
    }

    @Test func whatTheWayToTheServerLosesIsAskedAbout() async throws {
        let app = try await App()
        let backend = LossyBackend(behind: try DemoBackend(sandbox: app.sandbox.baseURL))
        let model = try PaymentModel(backend: backend, store: app.store, returnURL: returnURL)
        model.payByCard(amount: 250, card: card(.without3DSApproved))
        try await app.wait { model.screen == .paid(amount: 250) }
        #expect(try await app.sandbox.ledger().map(\.timesCharged) == [1])
        await app.end()
    }

    /// What the gateway calls charged is paid only where it is what was asked for.
    @Test func onlyTheVerdictSaysPaid() async throws {
        let app = try await App()
        let charged = StatusReport(status: .charged, amount: 1, currency: "KGS")
        for verdict in [
            Verdict.contradicted(fields: ["amount"], report: charged), .unverifiable(why: "no amount", report: charged),
        ] {
            let backend = FixedBackend(verdict: verdict)
            let model = try PaymentModel(backend: backend, store: app.store, returnURL: returnURL)
            var shown: [Screen] = []
            model.onChange = { shown.append($0) }
            model.payByCard(amount: 250, card: card(.approved))
            let doubtful = Screen.stillOpen(message: "Your payment is being looked at. Do not pay again")
            try await app.wait { model.screen == doubtful }
            #expect(!shown.contains { if case .paid = $0 { true } else { false } }, "\(shown)")
            #expect(try app.store.read() != nil, "what is in doubt is remembered")
            try app.store.write(nil)
        }
        await app.end()
    }

    @Test func whatIsRefusedIsNotPaidAndNotRemembered() async throws {
        let app = try await App()
        let model = try app.start()
        model.payByCard(amount: 0, card: card(.approved))
        try await app.wait { if case .ready(let message?) = model.screen { message.contains("amount") } else { false } }
        #expect(try app.store.read() == nil)
        #expect(try await app.sandbox.requests() == [])
        model.payByCard(amount: 250, card: card(.without3DSDeclined))
        try await app.wait { if case .notPaid = model.screen { true } else { false } }
        await app.end()
    }

    @Test func withoutAPlaceToRememberNothingIsSent() async throws {
        let app = try await App()
        let nowhere = StoredPayment(in: app.folder.appending(path: "no/such/folder"))
        let model = try PaymentModel(
            backend: try DemoBackend(sandbox: app.sandbox.baseURL), store: nowhere, returnURL: returnURL)
        model.payByCard(amount: 250, card: card(.without3DSApproved))
        guard case .ready(_?) = model.screen else {
            Issue.record("\(model.screen)")
            return
        }
        // What cannot be read could be a payment.
        try Data("kassa9:new".utf8).write(to: app.file)
        #expect(throws: (any Error).self) { try app.start() }
        #expect(try await app.sandbox.requests() == [])
        await app.end()
    }

    @Test func aPaymentThatStaysOpenIsAskedAboutAgain() async throws {
        let app = try await App()
        let model = try app.start(interval: .milliseconds(20), deadline: .seconds(10))
        model.payByCard(amount: 250, card: card(.stuckPending))
        try await app.wait { if case .stillOpen = model.screen { true } else { false } }
        let order = try #require(try app.store.read()?.payment.orderNumber)
        model.payByCard(amount: 1, card: card(.approved))
        try await app.sandbox.approve(order)  // the payer confirms it, and the bank thinks about it
        try await app.sandbox.approve(order)
        model.cameBack()
        try await app.wait { model.screen == .paid(amount: 250) }
        #expect(try await app.sandbox.ledger().count == 1)
        await app.end()
    }
}

/// An app on a device: what outlives its models.
@MainActor private struct App {
    let sandbox: Sandbox
    let folder = FileManager.default.temporaryDirectory.appending(path: "app-\(UUID().uuidString)")
    var file: URL { folder.appending(path: "open payment") }
    var store: StoredPayment { StoredPayment(in: file) }

    init() async throws {
        sandbox = try await Sandbox.start()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    /// One that asks at once, and then only where it has a reason to, unless told otherwise.
    func start(interval: Duration = .seconds(3600), deadline: Duration = .seconds(7200)) throws -> PaymentModel {
        let policy = PollPolicy(interval: interval, deadline: deadline)
        return try PaymentModel(
            backend: try DemoBackend(sandbox: sandbox.baseURL, policy: policy), store: store, returnURL: returnURL)
    }

    func orderOnTheBanksPage(_ model: PaymentModel) async throws -> String {
        try await wait { if case .confirm = model.screen { true } else { false } }
        return try #require(try await sandbox.ledger().last?.orderNumber)
    }

    /// How often a status was asked for.
    func questions() async throws -> Int {
        try await sandbox.requests().count { $0.endpoint == .getStatus || $0.endpoint == .status }
    }

    func wait(_ isThere: () async throws -> Bool) async throws {
        let limit = ContinuousClock.now + .seconds(60)
        while try await !isThere() {
            try #require(ContinuousClock.now < limit)
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    func end() async {
        await sandbox.stop()
        try? FileManager.default.removeItem(at: folder)
    }
}

/// A server whose answer gets lost on its way back to the app.
private struct LossyBackend: Backend {
    let behind: DemoBackend

    init(behind: DemoBackend) {
        self.behind = behind
    }

    func payByCard(orderNumber: String, amount: Decimal, card: Card, returnURL: String) async throws -> PaymentEntry {
        _ = try await behind.payByCard(orderNumber: orderNumber, amount: amount, card: card, returnURL: returnURL)
        throw CocoaError(.fileReadUnknown)
    }

    func watch(_ payment: PaymentRef) throws -> any PaymentWatch { try behind.watch(payment) }
}

/// A server that takes every payment, and then has always the same to say.
private struct FixedBackend: Backend {
    let verdict: Verdict

    func payByCard(orderNumber: String, amount: Decimal, card: Card, returnURL: String) async throws -> PaymentEntry {
        PaymentEntry(payment: try .card(orderNumber, amount: amount, currency: "KGS"))
    }

    func watch(_ payment: PaymentRef) throws -> any PaymentWatch { OneReport(verdict) }
}

private actor OneReport: PaymentWatch {
    private var verdict: Verdict?

    init(_ verdict: Verdict) {
        self.verdict = verdict
    }

    func next() async throws -> WatchReport? {
        defer { verdict = nil }
        return verdict.map { .status(verdict: $0) }
    }

    nonisolated func checkNow() {}
}

private func card(_ card: Sandbox.TestCard) -> Card {
    Card(pan: card.pan, expiryMonth: "12", expiryYear: 2099, cvc: "123", holderName: "Aibek Asanov")
}

private func link(_ order: String) -> URL {
    URL(string: "\(returnURL)?OrderNumber=\(order)&statusCode=200")!
}
