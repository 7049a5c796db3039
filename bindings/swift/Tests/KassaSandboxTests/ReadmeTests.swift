import Foundation
import Kassa
import KassaSandbox
import Testing

// The README's test, which is shown there as it is here.

@Test func lostResponseNeverChargesTwice() async throws {
    let sandbox = try await Sandbox.start()
    var config = GatewayConfig(
        baseURL: sandbox.baseURL, credentials: Credentials(login: sandbox.login, password: sandbox.password))
    config.dialect = try Dialect(json: Sandbox.DialectName.interface.json)
    let gateway = try Gateway(config)
    let card = Card(
        pan: Sandbox.TestCard.without3DSApproved.pan, expiryMonth: "12", expiryYear: 2099, cvc: "123", holderName: "Aibek Asanov")
    let payment = CardPayment(
        orderNumber: "order-17", description: "Two coffees", amount: 250, currency: "KGS", card: card, language: "en",
        callbackURL: "http://127.0.0.1:9000/callback", ip: "203.0.113.7")

    let fault = try await sandbox.faults.add(.responseLost, orderNumber: "order-17", times: 1)
    await #expect(throws: PaymentError.self) { try await gateway.createCardPayment(payment) }
    #expect(try await fault.struck == 1)

    let verdict = try await gateway.watch(payment.paymentRef()).outcome()
    #expect(verdict?.isCharged == true)
    #expect(try await sandbox.payment(orderNumber: "order-17").timesCharged == 1)
    await sandbox.stop()
}

@Test func readmeShowsATestThatPasses() throws {
    let here = URL(filePath: #filePath)
    let readme = try String(contentsOf: here.appending(path: "../../../README.md").standardized, encoding: .utf8)
    let source = try String(contentsOf: here, encoding: .utf8)
    let shown = try #require(readme.firstMatch(of: #/import KassaSandbox\nimport Testing\n\n(.+?)```/#.dotMatchesNewlines()))
    #expect(source.contains(shown.1))
}
