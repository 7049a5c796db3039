import Foundation
import Kassa
import KassaCheckout
import KassaStage
import Testing

/// A payment from a wallet on the screen, over a shop's server that knows this one checkout.
@MainActor @Suite struct MegapayTests {
    @Test func totalIsShownBeforeTheCodeAndChargedOnce() async throws {
        let shop = WalletShop(commission: "7.80")
        defer { shop.server.stop() }
        let model = try shop.screen()
        defer { model.close() }
        var events: [CheckoutEvent] = []
        model.onEvent = { events.append($0) }
        try await model.until("a choice") { $0.state.kind == "ready" }
        #expect(model.methods == [.mbank, .megapay])
        model.choose(.megapay)
        #expect(model.method?.asksForPhone == true && model.labels.name(of: .megapay) == "MegaPay")
        model.phone = "0755 000 20"
        model.pay()
        #expect(model.error(of: .phone) == model.labels.phoneWrong && shop.posts("payments").isEmpty)
        model.phone = "0755 000 201"
        #expect(model.phoneHint == "The code goes to +996\u{a0}755\u{a0}000\u{a0}201")
        model.pay()
        try await model.until("a code") { $0.state.kind == "enter_otp" }
        guard case .enterOtp(let entry) = model.state else { throw Problem("\(model.state)") }
        #expect((entry.method, entry.attemptsLeft, entry.phoneLast2) == (.megapay, 3, "01"))
        #expect(try entry.commission == Decimal(exactly: "7.80") && entry.total == Decimal(exactly: "397.80"))
        #expect(entry.codeExpiresAt == Date(timeIntervalSince1970: 4_000_000_000) && entry.canChangeMethod && model.canChangeMethod)
        let cost = "You pay 397.80\u{a0}som (amount 390\u{a0}som, commission 7.80\u{a0}som)."
        #expect(model.texts.cost == cost && model.texts.spoken.contains(cost))
        #expect(model.texts.explanation == "MegaPay has sent a code by SMS to the number that ends in 01. Attempts left: 3")
        for language in Language.allCases {
            model.language = language
            #expect(model.texts.cost?.contains(amountText(entry.total ?? 0, currency: "KGS", in: language)) == true, "\(language)")
        }
        model.language = .english
        model.code = "000000"
        model.confirm()
        try await model.until("word of the wrong code") { $0.texts.message == "This code was not accepted. Enter it again." }
        #expect(model.texts.cost == cost && model.texts.explanation?.hasSuffix("Attempts left: 2") == true)
        model.code = "201 201"
        model.confirm()
        #expect(model.code == "")
        try await model.until("paid") { $0.state.isPaid }
        #expect(model.close() == .paid(amount: 390, currency: "KGS"))
        #expect(shop.posts("payments") == [["method": "megapay", "phone": "996755000201"]])
        #expect(shop.posts("confirm") == [["otp": "000000"], ["otp": "201201"]])
        #expect(events.prefix(2) == [.opened, .methodChosen(.megapay)])
    }

    @Test func unknownCommissionIsShownAsUnknown() async throws {
        let shop = WalletShop(commission: nil)
        defer { shop.server.stop() }
        let model = try shop.screen()
        defer { model.close() }
        try await model.until("a choice") { $0.state.kind == "ready" }
        model.choose(.megapay)
        model.phone = "0755 000 201"
        model.pay()
        try await model.until("a code") { $0.state.kind == "enter_otp" }
        #expect(model.texts.cost == "MegaPay may charge a commission. The amount is not known.")
    }
}

/// The view runs on no machine that runs this, so its text is read.
@Test func screenShowsTheCostAboveTheFieldForTheCode() throws {
    let file = URL(filePath: #filePath).appending(path: "../../../Sources/KassaCheckout/View/CheckoutControls.swift").standardized
    let view = try String(contentsOf: file, encoding: .utf8)
    let cost = try #require(view.firstRange(of: "if let cost = model.texts.cost { Text(cost)"))
    let field = try #require(view.firstRange(of: "field: .code"))
    #expect(cost.upperBound < field.lowerBound)
}

/// Unchecked, because the compiler does not see that all that changes is behind the lock.
private final class Payment: @unchecked Sendable {
    private let lock = NSLock()
    private var state: String?

    var now: String? { lock.withLock { state } }

    func become(_ next: String) { lock.withLock { state = next } }
}

/// The shop's server, as far as a payment from a wallet needs it.
private struct WalletShop {
    let server: Server

    init(commission: String?) {
        let payment = Payment()
        server = Server { request, _ in
            let path = request.target.prefix { $0 != "?" }
            switch (request.method, path) {
            case ("GET", "/v1/checkout"): return Self.answer(Self.checkout(payment.now, commission))
            case ("POST", "/v1/checkout/payments"): payment.become("awaiting")
            case ("POST", "/v1/checkout/payments/pay_1/confirm"): payment.become(request.body.contains("201201") ? "charged" : "refused")
            default: return nil
            }
            return Self.answer(Self.payment(payment.now, commission))
        }
    }

    @MainActor func screen() throws -> CheckoutModel {
        try CheckoutModel(serverURL: server.url, clientToken: "ct_wallet", language: .english)
    }

    /// The bodies of the requests to an address that ends like this.
    func posts(_ end: String) -> [JSON] {
        server.received.filter { $0.method == "POST" && $0.target.hasSuffix(end) }.compactMap { try? JSON(parsing: Data($0.body.utf8)) }
    }

    private static func answer(_ body: JSON) -> JSON { ["status": JSON(200), "body": .string(body.description)] }

    /// One whose code was refused awaits another one.
    private static func payment(_ state: String?, _ commission: String?) -> JSON {
        let isRefused = state == "refused"
        return [
            "id": "pay_1", "method": "megapay", "state": JSON(isRefused ? "awaiting" : state), "attempts_left": JSON(isRefused ? 2 : 3),
            "failure": isRefused ? ["kind": "Refused"] : .null, "phone_last2": "01",
            "commission": JSON(commission), "total": commission == nil ? .null : "397.80",
            "code_expires_at_ms": JSON(4_000_000_000_000), "can_be_replaced": .bool(true),
        ]
    }

    private static func checkout(_ state: String?, _ commission: String?) -> JSON {
        let version = [nil: 1, "awaiting": 2, "refused": 3][state] ?? 4
        return [
            "id": "co_1", "reference": "order-17", "amount": "390", "currency": "KGS", "description": "A jar of honey",
            "methods": ["mbank", "megapay"], "return_url": "shop://back", "state": state == "charged" ? "paid" : "open",
            "version": JSON(version), "expires_at_ms": JSON(4_000_000_000_000),
            "payments": state == nil ? [] : [payment(state, commission)],
        ]
    }
}
