import Foundation
import Kassa
import KassaSandbox
import Testing

/// Asks a sandbox through the SDK, and never twice.
struct Shop {
    let gateway: Gateway

    init(_ sandbox: Sandbox, dialect: Sandbox.DialectName = .interface) throws {
        var config = GatewayConfig(
            baseURL: sandbox.baseURL, credentials: Credentials(login: sandbox.login, password: sandbox.password))
        config.dialect = try Dialect(json: dialect.json)
        config.queryRetries = 0
        config.queryDeadline = .seconds(patience)
        gateway = try Gateway(config)
    }

    @discardableResult
    func pay(
        _ orderNumber: String, by card: Sandbox.TestCard = .without3DSApproved, callbackURL: String = "http://127.0.0.1:9/c"
    ) async throws -> CardPaymentCreated {
        try await gateway.createCardPayment(
            CardPayment(
                orderNumber: orderNumber, description: "Two tickets", amount: try Decimal(exactly: "100.10"), currency: "KGS",
                card: Card(pan: card.pan, expiryMonth: "08", expiryYear: 2099, cvc: "123", holderName: "Aibek Usenov"),
                language: "en", callbackURL: callbackURL, ip: "203.0.113.7"))
    }

    @discardableResult
    func askForCode(_ orderNumber: String) async throws -> MbankPaymentCreated {
        try await gateway.createMbankPayment(
            MbankPayment(
                orderNumber: orderNumber, phone: Sandbox.TestPhone.mbankApproved.phone, amountSom: 250, comment: "Lunch"))
    }

    func status(_ orderNumber: String, provider: Provider = .cards) async throws -> PaymentStatus {
        try await gateway.providerStatus(orderNumber, provider: provider).status
    }
}

/// Polls until a condition holds.
func until(_ isThere: () async throws -> Bool) async throws {
    let limit = ContinuousClock.now + .seconds(patience)
    while try await !isThere() {
        try #require(ContinuousClock.now < limit, "it does not come")
        try await Task.sleep(for: .milliseconds(10))
    }
}

/// What a call threw, where it is one of this package's errors.
func refusal<Answer>(_ call: () async throws -> Answer) async -> SandboxError? {
    do {
        _ = try await call()
        return nil
    } catch {
        return error as? SandboxError
    }
}
