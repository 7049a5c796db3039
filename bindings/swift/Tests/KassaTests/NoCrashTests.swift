import Foundation
import Testing

@testable import Kassa

/// The generated code ends the process where a value cannot be handed over. No value from outside may get there.
@Suite struct NoCrashTests {
    /// Decimals that Swift has and the core has not.
    static let amounts: [Decimal] = [
        .nan, .greatestFiniteMagnitude, -.greatestFiniteMagnitude, .leastNonzeroMagnitude,
        Decimal(string: "1.00000000000000000000000000001")!, Decimal(string: "79228162514264337593543950336")!,
        Decimal(sign: .plus, exponent: 127, significand: 1), Decimal(sign: .minus, exponent: -128, significand: 1),
    ]

    @Test(arguments: amounts) func amountThatIsNoneIsAnError(_ amount: Decimal) async throws {
        let it = try Loopback(Responses.charged)
        let form = PayForm(
            amount: amount, serviceName: "Shop", callbackURL: "https://shop.example.kg/cb", returnURL: "shop://back")
        let wallet = MegapayPayment(orderNumber: "order-1", amount: amount, phone: "996700000001", account: "17")
        let payment = PaymentRef(kind: .card, orderNumber: "order-1", provider: .cards, amount: amount, currency: "KGS")
        let order = PaymentRef.mbank("order-1", amountSom: 1)
        let received = try callback(amount: amount)
        let back = ReturnRedirect(orderNumber: "order-1")
        await #expect(throws: PaymentError.self) { try await it.gateway.createCardPayment(cardPayment(amount: amount)) }
        await #expect(throws: PaymentError.self) { try await it.gateway.createPayForm(form) }
        await #expect(throws: PaymentError.self) { try await it.gateway.checkMegapay(wallet) }
        await #expect(throws: PaymentError.self) { try await it.gateway.payByMegapay(wallet, pin: "1234") }
        await #expect(throws: PaymentError.self) { try await it.gateway.verifyCallback(received, payment: order) }
        await #expect(throws: PaymentError.self) { try await it.gateway.verifyCallback(callback(amount: 1), payment: payment) }
        await #expect(throws: PaymentError.self) { try await it.gateway.verifyReturn(back, payment: payment) }
        await #expect(throws: PaymentError.self) { try await it.gateway.check(payment) }
        await #expect(throws: PaymentError.self) { try await it.gateway.confirmMbankPayment(payment, otp: "123456") }
        #expect(throws: PaymentError.self) { try it.gateway.watch(payment) }
        for act in [
            { try cardPayment(amount: amount).paymentRef() }, { try form.paymentRef() }, { try wallet.paymentRef() },
            { try .card("o", amount: amount, currency: "KGS") }, { try .payForm(amount: amount) }, { try .megapay("o", amount: amount) },
            { try payment.withGatewayNumber("g") }, { try payment.withTransactionID("t") },
            { try payment.withClaimedNumber("o", provider: nil) },
        ] as [() throws -> PaymentRef] {
            #expect(throws: PaymentError.self) { try act() }
        }
        let home = JournalFolder()
        let journal = try home.open()
        await #expect(throws: PaymentError.self) { try await journal.entry(payment) }
        #expect(payment.canBeChecked)
        #expect(throws: PaymentError.self) { try PaymentRef(payment.description) }
        #expect(throws: EncodingError.self) { try JSONEncoder().encode([payment]) }
        let entry = PaymentEntry(payment: payment, pageURL: "https://pay.example.kg/3ds")
        #expect(throws: PaymentError.self) { try PaymentEntry(entry.description) }
        #expect(throws: EncodingError.self) { try JSONEncoder().encode([entry]) }
        #expect(throws: PaymentError.self) { try cardPayment(amount: amount).advice() }
        #expect(throws: PaymentError.self) { try form.advice() }
        #expect(throws: PaymentError.self) { try wallet.advice() }
        #expect(throws: PaymentError.self) { try received.dedupKey() }
        #expect(throws: PaymentError.self) { try received.paymentRef() }
        #expect(throws: PaymentError.self) { try somToTyiyn(amount) }
        #expect(it.server.received.isEmpty)
    }

    @Test(arguments: amounts) func amountThatIsNoneKeepsNoTextAway(_ amount: Decimal) {
        let report = StatusReport(status: .other("HOLD"), amount: amount)
        let error = PaymentError.deadlineExpired(last: report)
        #expect(error.localizedDescription.contains("HOLD"))
        #expect(error.kind == "DeadlineExpired" && !error.paymentMayExist && !error.isRetryable)
        let payment = PaymentRef(kind: .card, orderNumber: "o-1", amount: amount)
        let unknown = PaymentError.outcomeUnknown(payment: payment, detail: "lost")
        #expect(unknown.localizedDescription.contains("lost"))
        #expect(unknown.kind == "OutcomeUnknown" && unknown.paymentMayExist && !unknown.isRetryable)
        #expect(payment.description.contains("o-1"))
        let verdict = Verdict.pending(payment: payment, report: report)
        for value in [report, error, WatchReport.queryFailed(error: error), verdict] as [Any] {
            #expect(everyForm(of: value).contains("HOLD"))
        }
    }

    @Test(arguments: amounts) func screenSaysSomethingOfAnAmountThatIsNone(_ amount: Decimal) {
        let texts = CheckoutTexts.of(.paid(amount: amount, currency: "KGS"), mayHavePaid: true, in: .english)
        #expect(texts.title == "Paid")
        #expect(amountText(amount, currency: "KGS", in: .english).contains("\u{a0}"))
        #expect(payText(amount, currency: "KGS", in: .kyrgyz).contains("\u{a0}"))
        let entry = CheckoutState.EnterOtp(
            method: .megapay, attemptsLeft: 3, commission: amount, total: amount, codeExpiresAt: .distantPast)
        let unknown = "MegaPay may charge a commission. The amount is not known."
        #expect(CheckoutTexts.of(.enterOtp(entry), mayHavePaid: true, in: .english).cost == unknown)
    }

    @Test func screenCountsNoTriesBelowZero() {
        let texts = CheckoutTexts.of(.enterOtp(.init(method: .mbank, attemptsLeft: -1)), mayHavePaid: true, in: .english)
        #expect(texts.explanation?.hasSuffix("Attempts left: 0") == true)
    }

    @Test func largestAmountsArriveDigitForDigit() async throws {
        for text in ["79228162514264337593543950335", "792281625142643375935439503.35", "100.1"] {
            let amount = Decimal(string: text)!
            let it = try Loopback(Responses.envelope("200", ["status": "CHARGE", "amount": .number(amount)]))
            #expect(try await it.gateway.qrStatus("t-1").amount == amount)
            _ = try? await it.gateway.createCardPayment(cardPayment(amount: amount))
            #expect(it.server.received.last?.body.contains("\"amount\":\(text),") == true)
        }
        let most = Decimal(string: "1.0000000000000000000000000001")!
        let it = try Loopback(Responses.envelope("200", ["status": "CHARGE", "amount": .number(most)]))
        #expect(try await it.gateway.qrStatus("t-1").amount == most)
        for tyiyn in [Int.min, -1, 0, Int.max] {
            #expect(try somToTyiyn(tyiynToSom(tyiyn)) == tyiyn)
        }
    }

    static let durations: [Duration] = [
        .zero, .seconds(-1), .nanoseconds(-1), .nanoseconds(1), .seconds(Int64.max), .seconds(Int64.min),
        Duration(secondsComponent: .max, attosecondsComponent: 999_999_999_999_999_999),
    ]

    @Test(arguments: durations) func durationIsKeptOrRefused(_ duration: Duration) async throws {
        for setting in [\GatewayConfig.paymentDeadline, \.queryDeadline, \.connectTimeout] {
            var config = GatewayConfig(baseURL: "http://127.0.0.1:9", credentials: Credentials(login: "a", password: "b"))
            config[keyPath: setting] = duration
            if duration > .zero {
                _ = try Gateway(config)
            } else {
                #expect(throws: PaymentError.self) { try Gateway(config) }
            }
        }
        let it = try Loopback(Responses.charged)
        if duration > .zero {
            _ = try it.gateway.withDeadline(duration)
        } else {
            #expect(throws: PaymentError.self) { try it.gateway.withDeadline(duration) }
        }
        for policy in [PollPolicy(interval: duration), PollPolicy(deadline: duration)] {
            if duration > .zero {
                _ = try it.gateway.watch(.mbank("order-1", amountSom: 1), policy: policy)
            } else {
                #expect(throws: PaymentError.self) { try it.gateway.watch(.mbank("order-1", amountSom: 1), policy: policy) }
            }
        }
        #expect(PaymentError.unavailable(detail: "it rains", retryAfter: duration).description.contains("it rains"))
        let home = JournalFolder()
        try await home.open().prune(olderThan: duration)
        let fake = try FakeGateway()
        fake.plan(.charge(after: duration))
        _ = try await fake.gateway.createPayForm(
            PayForm(amount: 1, serviceName: "Shop", callbackURL: "https://shop.example.kg/cb", returnURL: "shop://back"))
        fake.failNext(.tooManyRequests(retryAfter: duration))
        await #expect(throws: PaymentError.self) { try await fake.gateway.qrStatus("t-1") }
        for _ in 1...2 { fake.advance(by: duration) }
        #expect(fake.now >= .zero && fake.payments.count == 1)
    }

    @Test(arguments: [TimeInterval(7), 0.25, 0, 1e18, 1e19, 1.8446744073709552e19])
    func waitOfTheGatewaysIsReadWhateverItsLength(_ wait: TimeInterval) {
        let read = Duration(core: wait)
        #expect(read >= .zero)
        if wait < 1e17 { #expect(read == .milliseconds(Int(wait * 1000))) }
    }

    @Test(arguments: ["7", "0", "-1", "18446744073709551615", "99999999999999999999999", "soon"])
    func retryAfterCannotBeTooLong(_ header: String) async throws {
        let it = try Loopback(Responses.response(429, "", headers: ["Retry-After": .string(header)]))
        await #expect {
            try await it.gateway.createCardPayment(cardPayment())
        } throws: { error in
            (error as? PaymentError)?.isRetryable == true && !everyForm(ofError: error).isEmpty
        }
    }

    @Test(arguments: [Int.min, Int(Int32.min) - 1, -1, 0, Int(UInt32.max) + 1, Int.max])
    func numberThatIsTooLargeIsRefused(_ number: Int) async throws {
        let it = try Loopback(Responses.charged)
        var payment = cardPayment()
        payment.card = Card(pan: "4111111111111111", expiryMonth: "08", expiryYear: number, cvc: "737", holderName: "A B")
        await #expect(throws: PaymentError.self) { try await it.gateway.createCardPayment(payment) }
        #expect(throws: PaymentError.self) { try QrCode("tea").png(px: number) }
        let refused = PaymentError.refused(httpStatus: number, code: nil, reason: nil, body: "")
        #expect(!refused.description.isEmpty)
        let bank = MbankPayment(orderNumber: "o", phone: "996700000001", amountSom: number, comment: "Tea")
        #expect(bank.advice().isEmpty)
        #expect(bank.paymentRef().amount == Decimal(number) && QrPayment(sumTyiyn: number).paymentRef().amount == tyiynToSom(number))
        if number <= 0 {
            await #expect(throws: PaymentError.self) { try await it.gateway.createMbankPayment(bank) }
            await #expect(throws: PaymentError.self) { try await it.gateway.createQrImage(QrPayment(sumTyiyn: number)) }
        }
    }

    @Test(arguments: [Int.min, -1, Int(UInt32.max) + 1, Int.max])
    func numberOfRetriesThatIsNoneIsRefused(_ retries: Int) {
        #expect(throws: PaymentError.misconfigured(detail: "query_retries must be from 0 to 4294967295")) {
            try Loopback(Responses.charged) { $0.queryRetries = retries }
        }
    }

    @Test(arguments: [0, Int(UInt32.max)])
    func numberOfRetriesIsTaken(_ retries: Int) async throws {
        let it = try Loopback(Responses.charged) { $0.queryRetries = retries }
        #expect(try await it.gateway.qrStatus("t-1").status == .charged)
    }

    static let texts = [
        "", " ", "\u{0}", "\u{feff}", "\r\n", "e\u{301}", "👩‍👩‍👧‍👦", "\u{10ffff}", "{", "[[[[", "null", "NaN", "kassa1:", "kassa1:kind=qr&kind=qr",
        "https://", "http://[", "a:b", "%zz", String(repeating: "[", count: 100_000), String(repeating: "я", count: 1_000_000),
    ]

    @Test(arguments: texts) func textIsReadOrRefused(_ text: String) async throws {
        _ = try? Callback(text)
        _ = try? Callback(Data(text.utf8))
        _ = try? PaymentRef(text)
        _ = try? PaymentEntry(text)
        _ = try? ReturnRedirect(text)
        _ = try? Dialect(json: text)
        #expect(throws: PaymentError.self) { try Dialect(named: text) }
        _ = try? Dialect().explain(endpoint: "qr_status", response: text)
        #expect(throws: PaymentError.self) { try Dialect().explain(endpoint: text, response: "{}") }
        _ = try? QrCode(text)
        _ = LocalDateTime(text)
        let claimed = try PaymentRef.payForm(amount: 1).withClaimedNumber(text, provider: Provider(name: text))
        #expect(try PaymentRef(claimed.description) == claimed)
        let entry = PaymentEntry(payment: claimed, pageURL: text, qrText: text)
        #expect(try PaymentEntry(entry.description) == entry)
        let secret = Card(pan: text, expiryMonth: text, expiryYear: 1, cvc: text, holderName: text)
        #expect(secret.maskedNumber == "****")
        let form = CardInput().withNumber(text).withExpiry(text).withCvc(text).withHolderName(text)
        #expect(form.withNumber(form.number).number == form.number && form.withExpiry(form.expiry).expiry == form.expiry)
        #expect(throws: PaymentError.self) { try form.card() }
        let config = GatewayConfig(baseURL: text, credentials: Credentials(login: text, password: text))
        #expect(throws: PaymentError.self) { try Gateway(config) }
        let it = try Loopback(Responses.response(200, text))
        await #expect(throws: PaymentError.self) { try await it.gateway.qrStatus("t-1") }
        let fake = try FakeGateway()
        #expect(throws: PaymentError.self) { try fake.charge(text) }
        #expect(throws: PaymentError.self) { try fake.reject(text) }
        fake.failNext(.refused(code: text, reason: text))
        await #expect(throws: PaymentError.self) { try await fake.gateway.qrStatus("t-1") }
        let home = JournalFolder()
        let journal = try home.open()
        await #expect(throws: PaymentError.self) { try await journal.finish(text) }
        #expect(try await journal.entry(claimed) == nil)
        let gateway = fake.gateway.withJournal(journal)
        await #expect(throws: PaymentError.self) { try await gateway.finish(text) }
        guard text.unicodeScalars.count <= 256 else {
            #expect(throws: PaymentError.self) { try gateway.withNote(text) }
            return
        }
        let order = MbankPayment(orderNumber: "order-1", phone: "996555000101", amountSom: 1, comment: "tea")
        _ = try await gateway.withNote(text).createMbankPayment(order)
        #expect(try await journal.entry(order.paymentRef())?.note == text)
    }

    @Test func bytesThatAreNoTextAreRefused() {
        #expect(throws: PaymentError.self) { try Callback(Data([0xff, 0xfe])) }
    }

    /// Everything that the core takes for a page of the payer's is a URL here as well.
    @Test(arguments: [
        "https://gw.example.kg/3ds?token=a b", "https://gw.example.kg/a|b^c`d{e}f\\g\"h<i>?q=[1]#x|y", "https://төлөм.kg/ы?ы=ы",
        "https://[::1]:8443/", "https://gw_under.example.kg/", "https://gw.example.kg:443", "https://gw.example.kg/%zz%",
        "https://1.2.3.4./", "https://xn--a/", "https://a..b/", "https://gw.example.kg/\u{1f642}#\u{1f642}",
    ])
    func aPageIsAURLOrAnErrorThatIsTrue(_ page: String) async throws {
        let it = try Loopback(Responses.envelope("110", ["ConfirmationUrl": .string(page)]))
        do {
            let created = try await it.gateway.createCardPayment(cardPayment())
            guard case .openConfirmation(let url) = created.nextStep else { throw InternalError(detail: "no page") }
            #expect(url.scheme == "https")
        } catch let error as PaymentError {
            #expect(error.paymentMayExist)
        }
    }

    @Test func closedGatewayRefuses() async throws {
        let it = try Loopback(Responses.charged)
        let watch = try it.gateway.watch(.mbank("order-1", amountSom: 1))
        await it.gateway.close()
        await it.gateway.close()
        await #expect(throws: PaymentError.self) { try await it.gateway.qrStatus("t-1") }
        await #expect(throws: PaymentError.self) { try await watch.outcome() }
    }
}
