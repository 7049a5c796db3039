import Foundation
import Kassa
import Testing

/// A user's own code, and a user's own stub behind it.
@Suite struct PaymentGatewayTests {
    @Test func codeTakesAGatewayAndAStub() async throws {
        let fake = try FakeGateway()
        fake.plan(.charge(after: .seconds(30)))
        let counted = Counting(behind: fake.gateway)
        #expect(try await sell(250, by: counted) == "paid")
        #expect(try await sell(250, by: fake.gateway) == "paid")
        #expect(counted.calls == ["createCardPayment", "watch"] && fake.payments.count == 2)

        fake.plan(.reject(after: .seconds(30)))
        let any: any PaymentGateway = counted
        #expect(try await sell(100, by: any) == "not paid")
        await #expect(throws: PaymentError.self) { try await any.paymentStatus("no-such") }
        #expect(counted.calls.last == "paymentStatus")
        await any.close()
        await #expect(throws: PaymentError.self) { try await sell(5, by: fake.gateway) }
    }

    @Test func wrapperPassesAWalletOnAndAnOlderTypeRefuses() async throws {
        let fake = try FakeGateway()
        let counted = Counting(behind: fake.gateway)
        let payment = MegapayPayment(orderNumber: "order-1", amount: 250, phone: "996700000001", account: "17")
        let any: any PaymentGateway = counted
        _ = try await any.checkMegapay(payment)
        _ = try await any.payByMegapay(payment, pin: fake.otp)
        #expect(counted.calls == ["checkMegapay", "payByMegapay"] && fake.payments.map(\.status) == [.charged])

        let older: any PaymentGateway = WithoutWallets()
        for act in [
            { _ = try await older.checkMegapay(payment) }, { _ = try await older.payByMegapay(payment, pin: fake.otp) },
        ] as [() async throws -> Void] {
            await #expect { try await act() } throws: { ($0 as? PaymentError)?.kind == "Misconfigured" }
        }
    }

    @Test func exampleIsAsDocumented() async throws {
        let fake = try FakeGateway()
        try expectDocumented("PaymentGateway.swift", in: #filePath, indentation: 0)
        fake.stopClock()
        let order = MbankPayment(orderNumber: "order-1", phone: "996555000101", amountSom: 100, comment: "tea")
        let selling = Task { try await sell(order, by: fake.gateway) }
        while fake.payments.isEmpty { await Task.yield() }
        try fake.charge("order-1")
        fake.startClock()
        #expect(try await selling.value?.isCharged == true)
    }
}

/// As it stands in the documentation of ``PaymentGateway``.
func sell(_ order: MbankPayment, by gateway: some PaymentGateway) async throws -> Verdict? {
    let created = try await gateway.createMbankPayment(order)
    return try await gateway.watch(created.payment).outcome()
}

/// A user's code, which knows the contract alone.
private func sell(_ amount: Decimal, by gateway: any PaymentGateway) async throws -> String {
    let created = try await gateway.createCardPayment(cardPayment(amount: amount))
    return try await gateway.watch(created.payment).outcome()?.isCharged == true ? "paid" : "not paid"
}

/// Counts what it hands on.
private final class Counting: PaymentGateway {
    private let behind: any PaymentGateway
    private let names = Names()

    init(behind: any PaymentGateway) {
        self.behind = behind
    }

    var calls: [String] { names.all }

    private func counted(_ name: String = #function) -> any PaymentGateway {
        names.append(String(name.prefix { $0 != "(" }))
        return behind
    }

    func createCardPayment(_ payment: CardPayment) async throws -> CardPaymentCreated {
        try await counted().createCardPayment(payment)
    }

    func paymentStatus(_ gatewayNumber: String, language: String?) async throws -> StatusReport {
        try await counted().paymentStatus(gatewayNumber, language: language)
    }

    func createMbankPayment(_ payment: MbankPayment) async throws -> MbankPaymentCreated {
        try await counted().createMbankPayment(payment)
    }

    func confirmMbankPayment(_ payment: PaymentRef, otp: String) async throws -> MbankConfirmed {
        try await counted().confirmMbankPayment(payment, otp: otp)
    }

    func checkMegapay(_ payment: MegapayPayment) async throws -> MegapayChecked { try await counted().checkMegapay(payment) }

    func payByMegapay(_ payment: MegapayPayment, pin: String) async throws -> MegapayAccepted {
        try await counted().payByMegapay(payment, pin: pin)
    }

    func createPayForm(_ form: PayForm) async throws -> PayFormCreated { try await counted().createPayForm(form) }

    func providerStatus(_ orderNumber: String, provider: Provider) async throws -> StatusReport {
        try await counted().providerStatus(orderNumber, provider: provider)
    }

    func createQrImage(_ payment: QrPayment) async throws -> QrImage { try await counted().createQrImage(payment) }

    func createQrData(_ payment: QrPayment) async throws -> QrData { try await counted().createQrData(payment) }

    func qrStatus(_ transactionID: String) async throws -> StatusReport { try await counted().qrStatus(transactionID) }

    func check(_ payment: PaymentRef) async throws -> Verdict { try await counted().check(payment) }

    func verifyCallback(_ callback: Callback, payment: PaymentRef) async throws -> Verdict {
        try await counted().verifyCallback(callback, payment: payment)
    }

    func verifyReturn(_ redirect: ReturnRedirect, payment: PaymentRef) async throws -> Verdict {
        try await counted().verifyReturn(redirect, payment: payment)
    }

    func watch(_ payment: PaymentRef, policy: PollPolicy) throws -> StatusWatch {
        try counted().watch(payment, policy: policy)
    }

    func close() async { await counted().close() }
}

/// A user's type that does not implement the MegaPay methods. The other ones are never called.
private struct WithoutWallets: PaymentGateway {
    func createCardPayment(_: CardPayment) async throws -> CardPaymentCreated { fatalError() }
    func paymentStatus(_: String, language _: String?) async throws -> StatusReport { fatalError() }
    func createMbankPayment(_: MbankPayment) async throws -> MbankPaymentCreated { fatalError() }
    func confirmMbankPayment(_: PaymentRef, otp _: String) async throws -> MbankConfirmed { fatalError() }
    func createPayForm(_: PayForm) async throws -> PayFormCreated { fatalError() }
    func providerStatus(_: String, provider _: Provider) async throws -> StatusReport { fatalError() }
    func createQrImage(_: QrPayment) async throws -> QrImage { fatalError() }
    func createQrData(_: QrPayment) async throws -> QrData { fatalError() }
    func qrStatus(_: String) async throws -> StatusReport { fatalError() }
    func check(_: PaymentRef) async throws -> Verdict { fatalError() }
    func verifyCallback(_: Callback, payment _: PaymentRef) async throws -> Verdict { fatalError() }
    func verifyReturn(_: ReturnRedirect, payment _: PaymentRef) async throws -> Verdict { fatalError() }
    func watch(_: PaymentRef, policy _: PollPolicy) throws -> StatusWatch { fatalError() }
    func close() async { fatalError() }
}

/// Unchecked, because the compiler does not see that all that changes is behind the lock.
private final class Names: @unchecked Sendable {
    private let lock = NSLock()
    private var names: [String] = []

    var all: [String] { lock.withLock { names } }

    func append(_ name: String) { lock.withLock { names.append(name) } }
}
