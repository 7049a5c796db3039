import CheckoutApp
import Foundation
import Kassa
import KassaCheckout
import KassaSandbox
import Observation
import Testing

/// The app, its shop's back end, the merchant's server, and a gateway.
@MainActor @Suite struct PaymentTests {
    @Test func payerPaysAndTheShopDelivers() async throws {
        let shop = try await TinyShop()
        let payment = try await openPayment(of: "order-1", at: shop.backend, language: .russian)
        try await until(payment, is: "ready")
        #expect(payment.payText == "Оплатить 390\u{a0}сом" && payment.returnScheme == "honey-shop")
        payment.choose(.mbank)
        payment.phone = Sandbox.TestPhone.mbankApproved.phone
        payment.pay()
        try await until(payment, is: "enter_otp")
        payment.code = Sandbox.TestPhone.mbankApproved.otp
        payment.confirm()
        try await until(payment, is: "paid")
        #expect(thanks(for: payment.close()).hasPrefix("Thank you"))
        _ = try await shop.server.waitFor("checkout.paid", reference: "order-1", timeout: .seconds(patience))
        #expect(try await shop.delivered() == ["order-1"])
        #expect(try await shop.server.sandbox.ledger().map(\.timesCharged) == [1])
        await shop.close()
    }

    @Test func appThatWasKilledOnThePageGoesOn() async throws {
        let shop = try await TinyShop()
        var payment: CheckoutModel? = try await openPayment(of: "order-1", at: shop.backend)
        try await until(#require(payment), is: "ready")
        payment?.choose(.payForm)
        payment?.pay()
        try await until(#require(payment), is: "open_page")
        let page = try #require(payment?.pageToOpen)
        payment = nil
        try await shop.server.payByForm(page.absoluteString)  // the payer goes on in the browser
        let again = try await openPayment(of: "order-1", at: shop.backend)
        again.cameBack()
        try await until(again, is: "paid")
        #expect(try await shop.server.sandbox.ledger().map(\.timesCharged) == [1])
        await shop.close()
    }

    @Test func tokenThatRanOutIsReplacedByTheShop() async throws {
        let shop = try await TinyShop()
        let payment = try await openPayment(of: "order-1", at: shop.backend)
        try await until(payment, is: "ready")
        try await shop.revokeTokens(of: "order-1")
        payment.choose(.qr)
        payment.pay()
        try await until(payment, is: "show_qr")
        #expect(thanks(for: payment.close()).contains("Do not order again"))
        await shop.close()
    }

    @Test func withoutTheShopNothingIsOpened() async throws {
        let shop = try await TinyShop()
        await #expect(throws: URLError.self) { try await openPayment(of: "no/order", at: shop.backend) }
        await shop.close()
        await #expect(throws: URLError.self) { try await openPayment(of: "order-1", at: shop.backend) }
    }

    @Test func whatTheAppSaysFitsTheMoney() {
        let message = CheckoutMessage(topic: .mismatch)
        let said = [CheckoutResult.paid(amount: 1, currency: "KGS"), .notPaid(nil), .stillOpen, .personNeeded(message)].map(thanks)
        #expect(Set(said).count == 4 && said[2].contains("Do not order again") && said[3].contains("Do not pay again"))
    }

    /// Waits until the screen shows a state of this kind, watching it as a view does.
    private func until(_ payment: CheckoutModel, is kind: String) async throws {
        let limit = ContinuousClock.now + .seconds(patience)
        while true {
            let (changes, change) = AsyncStream.makeStream(of: Void.self)
            if withObservationTracking({ payment.state.kind == kind }, onChange: { change.finish() }) { return }
            try #require(ContinuousClock.now < limit, "\(payment.state) and not \(kind)")
            let clock = Task {
                try await Task.sleep(until: limit)
                change.finish()
            }
            for await _ in changes {}
            clock.cancel()
        }
    }
}
