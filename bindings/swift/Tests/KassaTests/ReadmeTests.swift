import Foundation
import Kassa
import KassaSandbox
import KassaStage
import Testing

// The README's programs, which are shown there as they are here.

func takePayment(from phone: String, journal: Journal, askForCode: () async -> String) async throws {
    let gateway = try Gateway(.fromEnvironment(), journal: journal)  // KASSA_URL, KASSA_LOGIN, KASSA_PASSWORD
    let payment = MbankPayment(orderNumber: newOrderNumber(), phone: phone, amountSom: 250, comment: "Two tickets")
    do {
        let created = try await gateway.withNote("cart 17").createMbankPayment(payment)  // the journal has it before it is sent
        for _ in 1...3 {
            do {
                _ = try await gateway.confirmMbankPayment(created.payment, otp: await askForCode())
                break
            } catch PaymentError.refused(_, _, let reason, _) {
                print(reason ?? "refused")  // such as a mistyped code: nothing was paid, and it can be typed again
            }
        }
    } catch let error as PaymentError {
        print(error)  // it says whether money may have moved; if so, deliverUnfinished() queries the gateway
    }
    // Everything unfinished, including payments of a crashed process. Here it waits for 15 seconds at most.
    let summary = try await gateway.deliverUnfinished(
        RecoveryPolicy(deadline: .seconds(15)), otherwise: { print("not paid, or for a person:", $0) }
    ) { entry in
        print("paid: deliver", entry.note ?? "")  // the only reason to ship
    }
    print(summary)  // what is left open is for the next run, or for a person
}

func takeCallback(_ body: Data, stored: PaymentRef, gateway: Gateway, ship: (PaymentRef) throws -> Void) async throws {
    switch try await gateway.verifyCallback(Callback(body), payment: stored) {
    case .charged(let payment, _, _): try ship(payment)  // the only reason to ship
    case .rejected: print("tell the payer")
    case .pending(let payment, _): print("watch \(payment)")
    case .mismatch, .unverifiable: print("let a person look")
    }
}

func deliverWhatIsPaid(_ config: GatewayConfig, deliver: (JournalEntry) async throws -> Void) async throws {
    let gateway = try Gateway(config, journal: .standard())
    for try await recovered in try gateway.recover() {  // everything unfinished, including payments of a crashed process
        switch recovered {
        case .payment(let entry) where entry.state == .charged:
            try await deliver(entry)  // what entry.note says; it may come twice
            try await gateway.finish(entry)
        default: print("nothing was taken, or a person should look: \(recovered)")
        }
    }
}

func payFromWallet(_ payment: MegapayPayment, by gateway: Gateway, askForPin: (Decimal?) async -> String) async throws -> Verdict? {
    let checked = try await gateway.checkMegapay(payment)  // the payer gets a PIN
    let accepted = try await gateway.payByMegapay(payment, pin: await askForPin(checked.total))  // nil: the commission is unknown
    return try await gateway.watch(accepted.payment).outcome()
}

func showPayment(
    _ clientToken: String, serverURL: String, typed: (String) async -> String,
    newTokenFromTheShop: @escaping @Sendable () async throws -> String
) async throws {
    let checkout = try Checkout(serverURL: serverURL, clientToken: clientToken, renewToken: newTokenFromTheShop)
    for await state in checkout.states {
        switch state {
        case .ready(_, let message, _):  // here the payer chooses the mobile bank
            print(message?.textIn(.russian) ?? "How do you want to pay?")
            try checkout.payByMbank(phone: await typed("phone"))
        case .enterOtp(let entry):
            print(entry.message?.textIn(.russian) ?? "The bank has sent you a code.")
            let texts = CheckoutTexts.of(state, mayHavePaid: false, in: .russian)
            if let cost = texts.cost { print(cost) }  // what a MegaPay wallet pays in all: the payer accepts it by entering the code
            try checkout.confirm(otp: await typed("code"))
        case .paid(let amount, let currency): print("Thank you: \(amount) \(currency)")
        default: continue  // every state has its picture
        }
        if state.isPaid { break }
    }
}

@Test func payerWhoTakesTheirTimeIsWaitedFor() async throws {
    let fake = try FakeGateway()
    let gateway = fake.gateway  // hand this to the code under test
    let order = MbankPayment(orderNumber: "order-17", phone: "996555000101", amountSom: 250, comment: "Two coffees")

    fake.failNext(.responseLost)
    await #expect(throws: PaymentError.self) { try await gateway.createMbankPayment(order) }
    #expect(fake.payments.count == 1)  // it was made all the same

    fake.stopClock()
    let watching = Task { try await gateway.watch(order.paymentRef()).outcome() }
    fake.advance(by: .seconds(60))
    try fake.charge("order-17")  // the payer pays
    fake.startClock()
    #expect(try await watching.value?.isCharged == true)
}

/// Goes to the test that runs the program, and nothing of it to the screen.
private func print(_ items: Any...) { Printed.here.add(items.map { "\($0)" }.joined(separator: " ")) }

/// What a program prints.
private final class Printed: @unchecked Sendable {
    /// Of the test that runs the program: others may run at the same time.
    @TaskLocal static var here = Printed()

    private let lock = NSLock()
    private var lines: [String] = []

    func add(_ line: String) { lock.withLock { lines.append(line) } }

    static func lines(of program: () async throws -> Void) async throws -> [String] {
        let printed = Printed()
        try await $here.withValue(printed, operation: program)
        return printed.lock.withLock { printed.lines }
    }
}

/// There is one environment for a whole program.
extension OneLog {
    @Test func readmesFirstProgramSaysWhatHappenedAndDeliversOnce() async throws {
        let (home, settings, sandbox) = (JournalFolder(), JournalFolder(), try await Sandbox.start())
        try settings.write(Sandbox.DialectName.interface.json, to: "dialect.json")
        let environment = [
            "KASSA_URL": sandbox.baseURL, "KASSA_LOGIN": sandbox.login, "KASSA_PASSWORD": sandbox.password,
            "KASSA_DIALECT": settings.folder.appending(path: "dialect.json").path(percentEncoded: false),
        ]
        for (name, value) in environment { setenv(name, value, 1) }
        defer { for name in environment.keys { unsetenv(name) } }
        func said(to payer: Sandbox.TestPhone) async throws -> [String] {
            try await Printed.lines { try await takePayment(from: payer.phone, journal: home.open()) { payer.otp } }
        }

        let delivered = ["paid: deliver cart 17", "1 delivered; left open: nothing"]
        #expect(try await said(to: .mbankApproved) == delivered)
        let declined = try await said(to: .mbankInsufficientFunds)
        #expect(declined.count == 2 && declined[0].hasPrefix("not paid") && declined[0].contains("Insufficient funds"))
        #expect(declined.last == "0 delivered; left open: nothing")
        try await sandbox.faults.add(.responseLost, endpoint: .mbankConfirm, times: 1)
        let lost = try await said(to: .mbankApproved)
        #expect(lost.first?.contains("never send it again") == true && lost.dropFirst() == delivered[...])

        // As a program leaves it behind that is killed while it waits for the code. The payer pays in the bank's app.
        let killed = try Gateway(.fromEnvironment(), journal: home.open()).withNote("cart 16")
        let phone = Sandbox.TestPhone.mbankApproved.phone
        _ = try await killed.createMbankPayment(MbankPayment(orderNumber: "order-16", phone: phone, amountSom: 100, comment: "Tea"))
        try await sandbox.approve("order-16")
        let both = try await said(to: .mbankApproved)
        #expect(both.last == "2 delivered; left open: nothing")
        #expect(both.dropLast().sorted() == ["paid: deliver cart 16", "paid: deliver cart 17"])
        #expect(try await sandbox.ledger().map(\.timesCharged) == [1, 0, 1, 1, 1])
        #expect(try await listed(killed.unfinished()) == [])
        await sandbox.stop()
    }
}

@Test func readmesCallbackShipsWhatTheGatewayConfirms() async throws {
    let fake = try FakeGateway()
    let order = MbankPayment(orderNumber: "order-17", phone: "996555000101", amountSom: 250, comment: "Two coffees")
    _ = try await fake.gateway.createMbankPayment(order)
    func told(_ callback: String) async throws -> [String] {
        try await Printed.lines {
            try await takeCallback(Data(callback.utf8), stored: order.paymentRef(), gateway: fake.gateway) { print("ship \($0)") }
        }
    }
    let claimed =
        #"{"orderNumber": "order-17", "amount": 250, "status": "CHARGE", "dateCreated": "2026-11-20T09:05:07", "provider": "MBank"}"#
    #expect(try await told(claimed) == ["watch \(order.paymentRef())"])
    #expect(try await told(fake.charge("order-17").callback) == ["ship \(order.paymentRef())"])
}

@Test func readmesWalletPaysTheTotalThatItsPayerSaw() async throws {
    let fake = try FakeGateway()
    let order = MegapayPayment(orderNumber: "order-17", amount: 250, phone: "996700000001", account: "17")
    let verdict = try await payFromWallet(order, by: fake.gateway) { total in total == 255 ? fake.otp : "000000" }
    #expect(verdict?.isCharged == true)
}

@Test func readmesPaymentScreenPays() async throws {
    let stage = try await Stage.start()
    let scene = try await stage.open([:])
    let printed = try await Printed.lines {
        try await showPayment(scene.clientToken, serverURL: scene.serverURL) { what in
            what == "phone" ? Sandbox.TestPhone.mbankApproved.phone : Sandbox.TestPhone.mbankApproved.otp
        } newTokenFromTheShop: {
            try await scene.newToken()
        }
    }
    #expect(printed == ["How do you want to pay?", "The bank has sent you a code.", "Thank you: 390 KGS"])
    stage.stop()
}

/// The manifest of the example is one that every test run builds.
@Test func readmeNamesThePackageAsSwiftPMDoes() throws {
    let root = URL(filePath: #filePath).appending(path: "../../../../..").standardized
    let read = { (path: String) in try String(contentsOf: root.appending(path: path), encoding: .utf8) }
    let (readme, manifest) = try (read("bindings/swift/README.md"), read("examples/swift/checkout/Package.swift"))
    let path = try #require(readme.firstMatch(of: #/`\.package\(path: "[^"]*/(bindings/swift)"\)`/#)).1
    #expect(manifest.contains(".package(path: \"../../../\(path)\")"))
    let product = #".product(name: "Kassa", package: "swift")"#
    #expect(readme.contains("`\(product)`") && manifest.contains(product))
}

@Test func readmeShowsWhatCompiles() throws {
    let here = URL(filePath: #filePath)
    let readme = try String(contentsOf: here.appending(path: "../../../README.md").standardized, encoding: .utf8)
    let source = try String(contentsOf: here, encoding: .utf8)
    let shown = readme.matches(of: #/```swift\n(?:import Kassa\n\n)?(func .+?)```/#.dotMatchesNewlines())
    #expect(shown.count == 5)
    for program in shown { #expect(source.contains(program.1)) }
    let test = try #require(readme.firstMatch(of: #/```swift\nimport Kassa\nimport Testing\n\n(.+?)```/#.dotMatchesNewlines()))
    #expect(source.contains(test.1))
}
