import Foundation
import Kassa
import Testing

/// What users' own tests rely on: each flow, each fault, and the clock.
@Suite struct FakeGatewayTests {
    @Test func cardPaymentIsChargedWhenItsPayerConfirms() async throws {
        let fake = try FakeGateway()
        let created = try await fake.gateway.createCardPayment(cardPayment())
        let page = try #require(created.entry().pageURL)
        #expect(fake.payments.map(\.pageURL) == [page])
        #expect(try await fake.gateway.check(created.payment).report?.status.isFinal == false)
        let callback = try Callback(fake.charge(page).callback)
        #expect(try await fake.gateway.verifyCallback(callback, payment: created.payment).isCharged)
        #expect(try await fake.gateway.paymentStatus(#require(created.payment.gatewayNumber)).status == .charged)
        #expect(throws: PaymentError.self) { try fake.reject(page) }
        #expect(fake.payments.map(\.status) == [.charged] && "\(fake)".contains("charged"))
        #expect(!everyForm(of: fake).contains("4111111111111111"))
    }

    @Test func mobileBankPaymentIsChargedByTheRightCodeAlone() async throws {
        let fake = try FakeGateway()
        let payment = try await fake.gateway.createMbankPayment(tea("order-1")).payment
        await #expect {
            try await fake.gateway.confirmMbankPayment(payment, otp: "000000")
        } throws: { ($0 as? PaymentError)?.kind == "Refused" }
        #expect(try await fake.gateway.providerStatus("order-1", provider: .mbank).status.isFinal == false)
        _ = try await fake.gateway.confirmMbankPayment(payment, otp: fake.otp)
        #expect(try await fake.gateway.check(payment).isCharged)
    }

    @Test func onlyTheRightPinChargesAWalletAndOnce() async throws {
        let fake = try FakeGateway()
        let payment = MegapayPayment(
            orderNumber: "order-1", amount: try Decimal(exactly: "250.55"), phone: "0700 000 001", account: "17",
            callbackURL: "https://shop.example.kg/cb")
        let checked = try await fake.gateway.checkMegapay(payment)
        #expect(try checked.commission == Decimal(exactly: "5.01") && checked.total == Decimal(exactly: "255.56"))
        #expect(try checked.pinLifetime == .seconds(180) && checked.payment == payment.paymentRef())
        await #expect {
            try await fake.gateway.payByMegapay(payment, pin: "000000")
        } throws: { ($0 as? PaymentError)?.kind == "Refused" }
        #expect(try await fake.gateway.check(checked.payment).report?.status.isFinal == false)

        fake.failNext(.responseLost)
        await #expect {
            try await fake.gateway.payByMegapay(payment, pin: "123-456")
        } throws: { ($0 as? PaymentError)?.paymentMayExist == true }
        #expect(try await fake.gateway.check(checked.payment).isCharged)
        await #expect {
            try await fake.gateway.payByMegapay(payment, pin: fake.otp)
        } throws: { ($0 as? PaymentError)?.kind == "Refused" }
        await #expect {
            try await fake.gateway.checkMegapay(payment)
        } throws: { ($0 as? PaymentError)?.kind == "OutcomeUnknown" }
        #expect(fake.payments.map(\.status) == [.charged] && fake.payments.first?.kind == .megapay)
        #expect(fake.payments.first?.amount == payment.amount, "the commission is not the merchant's")
    }

    @Test func acceptedPaymentHasItsReference() async throws {
        let fake = try FakeGateway()
        let payment = MegapayPayment(orderNumber: "order-1", amount: 250, phone: "996700000001", account: "17")
        _ = try await fake.gateway.checkMegapay(payment)
        let accepted = try await fake.gateway.payByMegapay(payment, pin: fake.otp)
        #expect(try accepted.payment == .megapay("order-1", amount: 250) && accepted.payment.provider == .megaPay)
        #expect(try await fake.gateway.watch(accepted.payment).outcome()?.isCharged == true)
    }

    @Test func payFormIsVerifiedByItsCallbackAndItsReturn() async throws {
        let fake = try FakeGateway()
        let form = PayForm(
            amount: 250, serviceName: "Honey", callbackURL: "https://shop.example.kg/cb?ref=1", returnURL: "shop://back?ref=1")
        let created = try await fake.gateway.createPayForm(form)
        let notice = try fake.charge(created.payFormURL.absoluteString)
        let (callback, back) = (try Callback(notice.callback), try ReturnRedirect(#require(notice.returnURL)))
        #expect(try await fake.gateway.verifyCallback(callback, payment: created.payment).isCharged)
        #expect(try await fake.gateway.verifyReturn(back, payment: created.payment).isCharged)
        #expect(try await !fake.gateway.verifyCallback(callback, payment: .payForm(amount: 251)).isCharged)
    }

    @Test func qrPaymentIsChargedWhetherAsDataOrAsAPicture() async throws {
        let fake = try FakeGateway()
        let payment = QrPayment(sumTyiyn: 12_050, callbackURL: "https://shop.example.kg/cb?ref=1")
        let data = try await fake.gateway.createQrData(payment)
        try fake.charge(#require(data.entry().qrText))
        #expect(try await fake.gateway.qrStatus(#require(data.transactionID)).status == .charged)

        let picture = try await fake.gateway.createQrImage(payment)
        let made = try #require(fake.payments.last)
        #expect(picture.png.starts(with: [0x89, 0x50]) && made.callbackURL == payment.callbackURL)
        #expect(try made.amount == Decimal(exactly: "120.50") && made.kind == .qr)
        let callback = try Callback(fake.charge(#require(made.transactionID)).callback)
        #expect(try await fake.gateway.verifyCallback(callback, payment: picture.payment).isCharged)
    }

    /// Each fault: whether the payment is in the books, and what its caller is told.
    static let faults: [(fault: FakeFault, made: Int, kind: String)] = [
        (.noConnection, 0, "Unavailable"), (.requestLost, 0, "OutcomeUnknown"), (.responseLost, 1, "OutcomeUnknown"),
        (.noResponse, 1, "OutcomeUnknown"), (.refused(code: "51", reason: "NO_MONEY"), 0, "Refused"),
        (.unauthorized, 0, "Unauthorized"), (.serverError, 0, "OutcomeUnknown"),
        (.tooManyRequests(retryAfter: .seconds(3600)), 0, "Unavailable"),
    ]

    @Test(arguments: faults) func faultStrikesOneCall(_ fault: FakeFault, made: Int, kind: String) async throws {
        let fake = try FakeGateway()
        fake.failNext(fault)
        do {
            _ = try await fake.gateway.createMbankPayment(tea("order-1"))
            Issue.record("nothing failed")
        } catch let error as PaymentError {
            #expect(error.kind == kind && error.paymentMayExist == (kind == "OutcomeUnknown"))
            if case .refused(_, let code, let reason, _) = error { #expect((code, reason) == ("51", "NO_MONEY")) }
            if case .unavailable(_, let retryAfter, 429?, _, _) = error { #expect(retryAfter == .seconds(3600)) }
        }
        #expect(fake.payments.count == made)
        _ = try await fake.gateway.createMbankPayment(tea("order-2"))
    }

    @Test func watchOnARunningClockWaitsForNobody() async throws {
        let fake = try FakeGateway()
        fake.plan(.charge(after: .seconds(45)))
        let paid = try await fake.gateway.createCardPayment(cardPayment()).payment
        #expect(try await fake.gateway.watch(paid).outcome()?.isCharged == true)
        #expect(fake.now == .seconds(50), "the first query after it was paid")

        fake.plan(.stayPending)
        let left = try await fake.gateway.createCardPayment(cardPayment()).payment
        await #expect {
            try await fake.gateway.watch(left).outcome()
        } throws: { ($0 as? PaymentError)?.kind == "DeadlineExpired" }
    }

    @Test func watchOnAStoppedClockGoesAsFarAsTheTestGoes() async throws {
        let fake = try FakeGateway()
        fake.stopClock()
        fake.plan(.reject(after: .seconds(15)))
        let payment = try await fake.gateway.createCardPayment(cardPayment()).payment
        let watch = try fake.gateway.watch(payment)
        let (reports, came) = AsyncStream.makeStream(of: WatchReport.self)
        let watching = Task {
            defer { came.finish() }
            for try await report in watch { came.yield(report) }
        }
        var seen: [(at: Duration, isOpen: Bool)] = []
        for await case .status(let verdict) in reports {
            seen.append((fake.now, verdict.report?.status.isFinal == false))
            for seconds in [9, 1] { fake.advance(by: .seconds(seconds)) }
        }
        try await watching.value
        #expect(seen.map(\.at) == [.zero, .seconds(10), .seconds(20)] && seen.map(\.isOpen) == [true, true, false], "\(seen)")

        // A call that hears nothing waits for a clock that stands, and is given up all the same.
        fake.failNext(.noResponse)
        let waiting = Task { try await fake.gateway.createMbankPayment(tea("order-1")) }
        while fake.payments.count < 2 { await Task.yield() }
        #expect(fake.now == .seconds(30))
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        fake.startClock()
        await fake.gateway.close()
        #expect(fake.now == .seconds(90), "closing waits for the payment's deadline, which is 60 s")
    }

    @Test func fakesKnowNothingOfEachOther() async throws {
        let (one, other) = (try FakeGateway(), try FakeGateway())
        one.failNext(.noConnection)
        other.advance(by: .seconds(5))
        let payment = try await other.gateway.createMbankPayment(tea("order-1")).payment
        #expect(one.payments.isEmpty && one.now == .zero)
        await #expect(throws: PaymentError.self) { try await one.gateway.check(payment) }
        #expect(throws: PaymentError.self) { try one.charge("order-1") }
        try other.charge("order-1")
        #expect(try await other.gateway.check(payment).isCharged)
    }

    @Test func clockIsExact() throws {
        let fake = try FakeGateway()
        var passed = Duration.zero
        for milliseconds in [1, 290, 1300, 2300, 8191, 65_537] {
            fake.advance(by: .milliseconds(milliseconds))
            passed += .milliseconds(milliseconds)
            #expect(fake.now == passed)
        }
    }

    /// As it stands in the documentation of ``FakeGateway``.
    @Test func exampleIsAsDocumented() async throws {
        let fake = try FakeGateway()
        let gateway = fake.gateway  // hand this to the code under test

        // The answer is lost, so nobody knows whether the payment was made.
        fake.failNext(.responseLost)
        let tea = MbankPayment(orderNumber: "order-1", phone: "996555000101", amountSom: 100, comment: "tea")
        await #expect(throws: PaymentError.self) { try await gateway.createMbankPayment(tea) }

        // It was. The payer pays, and the watch finds it out.
        try fake.charge("order-1")
        #expect(try await gateway.watch(tea.paymentRef()).outcome()?.isCharged == true)

        try expectDocumented("FakeGateway.swift", in: #filePath, indentation: 8)
    }
}

private func tea(_ orderNumber: String) -> MbankPayment {
    MbankPayment(orderNumber: orderNumber, phone: "996555000101", amountSom: 100, comment: "tea")
}
