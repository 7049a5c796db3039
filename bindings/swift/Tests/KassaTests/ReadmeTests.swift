import Foundation
import Kassa
import Testing

// The README's program, which is shown there as it is here.

func takePayment(password: String, store: (String) throws -> Void, askForCode: () async -> String) async throws {
    let credentials = Credentials(login: "shop", password: password)
    let gateway = try Gateway(GatewayConfig(baseURL: "https://pay.example.kg", credentials: credentials))

    let payment = MbankPayment(
        orderNumber: newOrderNumber(), phone: "996700000001", amountSom: 250, comment: "Two tickets")
    try store(payment.paymentRef().description)  // before anything is sent
    do {
        let created = try await gateway.createMbankPayment(payment)
        _ = try await gateway.confirmMbankPayment(
            payment.orderNumber, otp: await askForCode(), identifier: created.identifier)
    } catch let error as PaymentError where error.paymentMayExist {
        print(error)  // it may have been charged; never send it again, ask
    }

    for try await report in try gateway.watch(payment.paymentRef()) {
        if case .status(let report) = report, report.status.isFinal {
            print(report.status == .charged ? "paid" : "not paid")
        }
    }
}

@Test func theReadmeShowsWhatCompiles() throws {
    let here = URL(filePath: #filePath)
    let readme = try String(contentsOf: here.appending(path: "../../../README.md").standardized, encoding: .utf8)
    let source = try String(contentsOf: here, encoding: .utf8)
    let shown = try #require(readme.firstMatch(of: #/```swift\nimport Kassa\n\n(.+?)```/#.dotMatchesNewlines()))
    #expect(source.contains(shown.1))
}
