import CheckoutApp
import Foundation
import Kassa
import Testing

@MainActor @Suite struct PaymentModelTests {
    private let fake: FakeGateway
    private let backend: DemoBackend
    private let folder = FileManager.default.temporaryDirectory.appending(path: "app-\(UUID().uuidString)")
    private let order = Order(number: "order-1", amount: 250)
    private let card = Card(pan: "4111111111111111", expiryMonth: "12", expiryYear: 2099, cvc: "123", holderName: "Aibek Asanov")

    init() throws {
        fake = try FakeGateway()
        fake.stopClock()
        backend = DemoBackend(fake.gateway.withJournal(try Journal(folder: folder)))
    }

    @Test func aPaymentIsConfirmedAtTheBankAndPaid() async throws {
        let app = try await start()
        await app.pay(with: card)
        #expect(app.shown.map(isPage) == [false, false, true] && app.shown[1] == .sending, "\(app.shown)")
        app.model.pay(with: card)  // a second tap pays nothing
        app.model.cameBack()  // the payer is back, and has not paid
        #expect(isPage(app.model.screen))
        try fake.charge("order-1")
        app.model.cameBack()
        #expect(await app.next() == .paid)
        #expect(fake.payments.count == 1)
        try end()
    }

    @Test func anAppThatWasKilledOnTheBanksPageGoesOn() async throws {
        var app: App? = try await start()
        await app?.pay(with: card)
        let page = app?.model.screen
        weak var model = app?.model
        app = nil
        #expect(model == nil, "nothing holds it, and it asks no more")

        let again = try await start(expecting: page)
        again.model.pay(with: card)
        try fake.reject("order-1")
        again.model.cameBack()
        #expect(await again.next().map { if case .notPaid = $0 { true } else { false } } == true)
        #expect(fake.payments.count == 1)
        try end()
    }

    @Test func whatIsPaidIsDeliveredThoughTheAppNeverComesBack() async throws {
        var app: App? = try await start()
        await app?.pay(with: card)
        app = nil
        try fake.charge("order-1")
        try await confirmation("it is delivered") { delivered in
            for _ in 1...2 { try await backend.deliverWhatIsPaid { _ in delivered() } }
        }
        try end()
    }

    @Test func aLostAnswerIsAskedAbout() async throws {
        fake.failNext(.answerLost)
        let app = try await start()
        await app.pay(with: card)
        #expect(app.model.screen == .asking)
        try fake.charge("order-1")
        app.model.cameBack()
        #expect(await app.next() == .paid)
        try end()
    }

    @Test func whatTheWayToTheServerLosesIsNotPaidAgain() async throws {
        let app = try await start(backend: LossyBackend(behind: backend))
        await app.pay(with: card)
        guard case .stillOpen(let message) = app.model.screen else { throw CocoaError(.fileReadUnknown) }
        #expect(message.contains("Do not pay again"))
        app.model.pay(with: card)
        try fake.charge("order-1")
        app.model.cameBack()
        while let screen = await app.next(), screen != .paid { #expect(screen == .asking || isPage(screen)) }
        #expect(fake.payments.count == 1)
        try end()
    }

    /// What the gateway calls charged is paid only where it is what was asked for.
    @Test func onlyTheVerdictSaysPaid() async throws {
        fake.startClock()
        fake.plan(.charge(after: .zero))
        let app = try await start(backend: ForgetfulBackend(behind: backend, gateway: fake.gateway))
        await app.pay(with: card)
        while await app.next().map(isPage) == true {}
        guard case .stillOpen(let message) = app.model.screen else { throw CocoaError(.fileReadUnknown) }
        #expect(message.contains("Do not pay again") && !app.shown.contains(.paid))
        try end()
    }

    @Test func whatIsRefusedCanBeTriedAgain() async throws {
        fake.failNext(.refused(code: "115", reason: "card blocked"))
        let app = try await start()
        await app.pay(with: card)
        guard case .ready(let message?) = app.model.screen else { throw CocoaError(.fileReadUnknown) }
        #expect(message.contains("card blocked") && fake.payments.isEmpty)
        await app.pay(with: card)
        #expect(isPage(app.model.screen))
        try end()
    }

    private func start(backend: (any Backend)? = nil, expecting: Screen? = .ready(message: nil)) async throws -> App {
        let app = App(PaymentModel(order, backend: backend ?? self.backend, returnURL: "kassa-shop://paid"))
        app.model.cameBack()
        #expect(await app.next() == expecting)
        return app
    }

    private func end() throws { try FileManager.default.removeItem(at: folder) }

    private func isPage(_ screen: Screen) -> Bool { if case .confirm = screen { true } else { false } }
}

/// What a view does: it shows one screen after the other.
@MainActor private final class App {
    let model: PaymentModel
    private(set) var shown: [Screen] = []
    private var screens: AsyncStream<Screen>.Iterator

    init(_ model: PaymentModel) {
        self.model = model
        let (screens, change) = AsyncStream.makeStream(of: Screen.self)
        self.screens = screens.makeAsyncIterator()
        model.onChange = { change.yield($0) }
    }

    /// The next screen, when it is there.
    func next() async -> Screen? {
        var screens = screens
        let screen = await screens.next(isolation: #isolation)
        if let screen { shown.append(screen) }
        return screen
    }

    /// Pays, until there is something for the payer to do or to read.
    func pay(with card: Card) async {
        model.pay(with: card)
        while await next() == .sending {}
    }
}

/// A server whose answer gets lost on its way back to the app.
private struct LossyBackend: Backend {
    let behind: DemoBackend

    func pay(_ order: Order, card: Card, returnURL: String) async throws -> JournalEntry? {
        _ = try await behind.pay(order, card: card, returnURL: returnURL)
        throw CocoaError(.fileReadUnknown)
    }

    func payment(of order: Order) async throws -> JournalEntry? { try await behind.payment(of: order) }

    func watch(_ payment: PaymentRef) throws -> StatusWatch { try behind.watch(payment) }
}

/// A server that asks about another amount than was sent.
private struct ForgetfulBackend: Backend {
    let behind: DemoBackend
    let gateway: Gateway

    func pay(_ order: Order, card: Card, returnURL: String) async throws -> JournalEntry? {
        try await behind.pay(order, card: card, returnURL: returnURL)
    }

    func payment(of order: Order) async throws -> JournalEntry? { try await behind.payment(of: order) }

    func watch(_ payment: PaymentRef) throws -> StatusWatch {
        try gateway.watch(.card(payment.orderNumber ?? "", amount: 1, currency: "KGS"))
    }
}
