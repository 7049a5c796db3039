import Foundation
import Kassa
import Testing

// The README's programs, which are shown there as they are here.

func takePayment(password: String, store: (String) throws -> Void, askForCode: () async -> String) async throws {
    let credentials = Credentials(login: "shop", password: password)
    let gateway = try Gateway(GatewayConfig(baseURL: "https://pay.example.kg", credentials: credentials))

    let payment = MbankPayment(
        orderNumber: newOrderNumber(), phone: "996700000001", amountSom: 250, comment: "Two tickets")
    try store(payment.paymentRef().description)  // before anything is sent
    do {
        let created = try await gateway.createMbankPayment(payment)
        try store(created.payment.description)  // it may know more
        _ = try await gateway.confirmMbankPayment(created.payment, otp: await askForCode())
    } catch let error as PaymentError where error.paymentMayExist {
        print(error)  // it may have been charged; never send it again, ask
    }

    switch try await gateway.watch(payment.paymentRef()).outcome() {
    case .charged: print("paid")  // the only reason to ship
    case .rejected: print("not paid")
    case .open, .contradicted, .unverifiable: print("a person has to look")
    case nil: print("stopped asking")
    }
}

func takeCallback(_ body: Data, stored: PaymentRef, gateway: Gateway, ship: (PaymentRef) throws -> Void) async throws {
    switch try await gateway.verifyCallback(Callback(body), payment: stored) {
    case .charged(let payment, _, _): try ship(payment)  // the only reason to ship
    case .rejected: print("tell the payer")
    case .open(let payment, _): print("watch \(payment)")
    case .contradicted, .unverifiable: print("let a person look")
    }
}

func deliverWhatIsPaid(_ config: GatewayConfig, deliver: (JournalEntry) async throws -> Void) async throws {
    let gateway = try Gateway(config, journal: .standard())
    for try await settled in try gateway.settle() {  // whatever was on its way when the program died
        switch settled {
        case .payment(let entry) where entry.state == .charged:
            try await deliver(entry)  // what entry.note says; it may come twice
            try await gateway.finish(entry)
        default: print("nothing was taken, or a person should look: \(settled)")
        }
    }
}

@Test func aPayerWhoTakesTheirTimeIsWaitedFor() async throws {
    let fake = try FakeGateway()
    let gateway = fake.gateway  // hand this to the code under test
    let order = MbankPayment(orderNumber: "order-17", phone: "996555000101", amountSom: 250, comment: "Two coffees")

    fake.failNext(.answerLost)
    await #expect(throws: PaymentError.self) { try await gateway.createMbankPayment(order) }
    #expect(fake.payments.count == 1)  // it was made all the same

    fake.stopClock()
    let watching = Task { try await gateway.watch(order.paymentRef()).outcome() }
    fake.advance(by: .seconds(60))
    try fake.charge("order-17")  // the payer pays
    fake.startClock()
    #expect(try await watching.value?.isCharged == true)
}

@Test func theReadmeShowsWhatCompiles() throws {
    let here = URL(filePath: #filePath)
    let readme = try String(contentsOf: here.appending(path: "../../../README.md").standardized, encoding: .utf8)
    let source = try String(contentsOf: here, encoding: .utf8)
    let shown = readme.matches(of: #/```swift\n(?:import Kassa\n\n)?(func .+?)```/#.dotMatchesNewlines())
    #expect(shown.count == 3)
    for program in shown { #expect(source.contains(program.1)) }
    let test = try #require(readme.firstMatch(of: #/```swift\nimport Kassa\nimport Testing\n\n(.+?)```/#.dotMatchesNewlines()))
    #expect(source.contains(test.1))
}
