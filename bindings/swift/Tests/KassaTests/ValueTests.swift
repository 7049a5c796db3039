import Foundation
import KassaGenerated
import Testing

@testable import Kassa

@Suite struct ValueTests {
    @Test func defaultsAreTheCores() throws {
        let credentials = Kassa.Credentials(login: "a", password: "b")
        let core = defaultConfig(baseUrl: "https://pay.example.kg", credentials: credentials.core)
        let own = try Kassa.GatewayConfig(baseURL: "https://pay.example.kg", credentials: credentials).core()
        #expect(own.connectTimeout == core.connectTimeout)
        #expect(own.paymentDeadline == core.paymentDeadline && own.queryDeadline == core.queryDeadline)
        #expect(own.queryRetries == core.queryRetries && own.statusQuery == core.statusQuery)
        #expect(own.extraRootCertificates == core.extraRootCertificates && own.dialect.toJson() == core.dialect.toJson())
        #expect(own.userAgentSuffix == core.userAgentSuffix && own.checkLuhn == core.checkLuhn)
        #expect(own.plainHttpHosts == core.plainHttpHosts)
        #expect(Kassa.PollPolicy().core == defaultPollPolicy())
    }

    @Test func namesAreTheCores() {
        #expect(Kassa.Rule.allCases.allSatisfy { $0.core.asText() == $0.rawValue && Kassa.Rule($0.core) == $0 })
        #expect(Kassa.PaymentKind.allCases.allSatisfy { $0.core.asText() == $0.rawValue && Kassa.PaymentKind($0.core) == $0 })
        #expect(Kassa.ElqrKind.allCases.allSatisfy { $0.core.asText() == $0.rawValue && Kassa.ElqrKind($0.core) == $0 })
        let topics: [KassaGenerated.AdviceTopic] = [
            .orderNumberCharacters, .megaPayMinimum, .cardNumberMistyped, .cardExpired, .phoneFormat, .returnUrlFragment, .dialect,
        ]
        #expect(topics.map { Kassa.AdviceTopic($0).rawValue } == topics.map { $0.asText() })
    }

    @Test func referenceSurvivesItsTextAndItsJSON() throws {
        let references: [Kassa.PaymentRef] = [
            try .card("o-1", amount: try Decimal(exactly: "100.10"), currency: "USD").withGatewayNumber("g & 1"),
            .mbank("заказ 1", amountSom: 250), try .megapay("o-1", amount: Decimal(exactly: "250.55")),
            try .payForm(amount: 5).withClaimedNumber("o-1", provider: .init(name: "ELSOM")),
            try .qr(sumTyiyn: 12_050).withTransactionID("t-1"), try .payForm(amount: 5), .qr(sumTyiyn: nil),
            Kassa.PaymentRef(kind: .mbank, orderNumber: "o-1", confirmIdentifier: #""7""#),
        ]
        for reference in references {
            #expect(try Kassa.PaymentRef(reference.description) == reference)
            let json = try JSONEncoder().encode([reference])
            #expect(try JSONDecoder().decode([Kassa.PaymentRef].self, from: json) == [reference])
        }
        #expect(references.map(\.canBeChecked) == [true, true, true, true, true, false, false, true])
        #expect(
            references[0].description == "kassa1:kind=card&order=o-1&gateway=g+%26+1&provider=Cards&amount=100.1&currency=USD")
    }

    @Test func referenceIsStoredAsItsDocumentationSays() throws {
        let payment = try Kassa.PaymentRef.card("order-1", amount: 250, currency: "KGS")
        let stored = payment.description
        #expect(stored == "kassa1:kind=card&order=order-1&provider=Cards&amount=250&currency=KGS")
        #expect(try Kassa.PaymentRef(stored) == payment)
    }

    @Test func entryIsStoredAsItsDocumentationSays() throws {
        let payment = try Kassa.PaymentRef.card("order-1", amount: 250, currency: "KGS")
        let stored = Kassa.PaymentEntry(payment: payment, pageURL: "https://pay.example.kg/3ds?token=1").description
        let again = try Kassa.PaymentEntry(stored)
        #expect(again.payment == payment && again.pageURL == "https://pay.example.kg/3ds?token=1" && again.qrText == nil)
        #expect(throws: Kassa.PaymentError.self) { try Kassa.PaymentEntry(payment.description) }
    }

    @Test func eachAnswerGivesWhatItsPayerWasShown() throws {
        let payment = Kassa.PaymentRef.mbank("o-1", amountSom: 5)
        let page = try #require(URL(string: "https://pay.example.kg/3ds?token=1&a=%20"))
        let alone = Kassa.PaymentEntry(payment: payment)
        let shown = Kassa.PaymentEntry(payment: payment, pageURL: "https://pay.example.kg/3ds?token=1&a=%20")
        #expect(Kassa.CardPaymentCreated(payment: payment, nextStep: .openConfirmation(url: page)).entry() == shown)
        #expect(Kassa.CardPaymentCreated(payment: payment, nextStep: .checkStatus(status: nil)).entry() == alone)
        #expect(Kassa.MbankPaymentCreated(payment: payment).entry() == alone)
        #expect(Kassa.MegapayChecked(payment: payment).entry() == alone)
        #expect(Kassa.PayFormCreated(payment: payment, payFormURL: page).entry() == shown)
        #expect(Kassa.QrData(payload: "000201", payment: payment).entry().qrText == "000201")
        #expect(Kassa.QrData(payment: payment).entry() == alone)
    }

    @Test func eLQRCodeIsReadAsItWasWritten() throws {
        let table = Kassa.ElqrField(tag: "35.00", text: "table:Стол:7:Стол:11")
        let plain = Kassa.Elqr(kind: .static, provider: "qr.example.kg", payee: "Кафе", mcc: "5812", serviceCode: "02")
        let full = Kassa.Elqr(
            kind: .static, provider: "qr.example.kg", payee: "Кафе", mcc: "5812", recipient: "996700000001", recipientEditable: false,
            merchantID: "34077", merchantService: "Заказ", comment: "Tea", fields: [table], link: "")
        var sale = plain
        sale.kind = .dynamic
        sale.amountTyiyn = 39_000
        sale.transaction = "17"
        sale.amountEditable = true
        for code in [plain, full, sale] { #expect(try Kassa.Elqr(code.text()) == code) }
        let links = try sale.bankLinks()
        #expect(links.first?.bank == "ELQR")
        #expect(try links.first?.url.absoluteString == sale.text())
    }

    @Test func eLQRCodeIsCheckedAsItsDocumentationSays() throws {
        let code = Kassa.Elqr(
            kind: .dynamic, provider: "qr.example.kg", payee: "SHOP", mcc: "5812", serviceCode: "02", amountTyiyn: 39_000)
        let read = try Kassa.Elqr(code.text())  // equals `code`
        try read.check(amountTyiyn: 39_000)
        #expect(read == code)
        #expect(throws: Kassa.PaymentError.self) { try read.check(amountTyiyn: 39_100) }
    }

    @Test func providersAndStatusesAreOpenSets() {
        #expect(Kassa.Provider(name: "mbank") == .mbank)
        #expect(Kassa.Provider(name: "ELSOM") == .other("ELSOM"))
        #expect("\(Kassa.Provider.megaPay)" == "MegaPay")
        #expect("\(Kassa.PaymentStatus.charged)" == "charged")
        #expect("\(Kassa.PaymentStatus.other("charged"))" == #""charged""#)
        #expect(Kassa.PaymentStatus.other("CHARGE") != .charged)
        #expect(!Kassa.PaymentStatus.other("HOLD").isFinal)
    }

    @Test func dateHasNoZone() throws {
        let moment = try #require(try callback(amount: 1).dateCreated)
        #expect(moment.description == "2026-11-20T09:05:07.25")
        let components = moment.dateComponents
        #expect(components.timeZone == nil && components.calendar == nil)
        #expect((components.day, components.hour, components.nanosecond) == (20, 9, 250_000_000))
        let later = Kassa.LocalDateTime("2026-11-20T09:06")
        #expect(later.map { moment < $0 } == true)
    }

    @Test func callbackNeedsAnOrderNumberAndNoMore() throws {
        let received = try Kassa.Callback("OrderNumber=order-1&amount=100,10")
        #expect(received.orderNumber == "order-1")
        #expect(try received.amount == Decimal(exactly: "100.10"))
        #expect(received.missing == ["status", "dateCreated", "provider"])
        #expect(try received.dedupKey() == nil)
    }

    @Test func whatIsReadFromBytesAndURLsIsTheSame() throws {
        let received = try callback(amount: 100)
        let again = try Kassa.Callback(Data(received.raw.utf8))
        #expect(try received.dedupKey() != again.dedupKey(), "the amount is part of the key")
        #expect(try Kassa.Callback(received.raw) == again)
        let url = try #require(URL(string: "shop://paid?OrderNumber=gw-1&statusCode=200"))
        #expect(try Kassa.ReturnRedirect(url) == Kassa.ReturnRedirect(url.absoluteString))
    }

    @Test func dialectsAreComparedByWhatTheySay() throws {
        let dialect = try Kassa.Dialect(json: #"{"charged_words": ["PAID"]}"#)
        #expect(try dialect == Kassa.Dialect(json: dialect.json))
        #expect(dialect != Kassa.Dialect())
        let named = try Kassa.Dialect(named: "finipay")
        #expect(try named == Kassa.Dialect(json: #"{"base": "finipay"}"#))
        #expect("\(Kassa.Dialect()) \(named) \(dialect)" == "Dialect() Dialect(named: \"finipay\") Dialect(json: ...)")
    }

    @Test func absentFieldsAreNotPrinted() {
        let report = Kassa.StatusReport(status: .charged, amount: 5, raw: "{}")
        #expect("\(report)" == #"StatusReport(status: charged, amount: 5, raw: "{}")"#)
    }

    @Test func defectSaysNothingAboutTheMoney() {
        #expect(InternalError(detail: "x").localizedDescription.contains("never send it again"))
    }

    @Test func orderNumbersNeverRepeat() {
        #expect(Set((0..<1000).map { _ in Kassa.newOrderNumber() }).count == 1000)
    }
}

extension OneLog {
    @Test func eachExchangeIsOneEvent() async throws {
        let log = Log()
        KassaLog.send { log.append($0) }
        let it = try Loopback(Responses.charged)
        _ = try await it.gateway.qrStatus("logged-1")
        KassaLog.send(to: nil)
        _ = try await it.gateway.qrStatus("logged-2")
        KassaLog.send { log.append($0) }
        _ = try await it.gateway.qrStatus("logged-3")
        KassaLog.send(to: nil)
        await log.holds("logged-3")
        #expect(log.first(holding: "logged-1")?.contains("http_status=200") == true)
        #expect(log.first(holding: "logged-2") == nil)
    }

    @Test func handlerThatBlocksHoldsUpNoPayment() async throws {
        let (calls, called) = AsyncStream.makeStream(of: Void.self)
        let release = DispatchSemaphore(value: 0)
        KassaLog.send { _ in
            called.yield()
            release.wait()
        }
        let it = try Loopback(Responses.created, Responses.charged)
        let created = try await it.gateway.createCardPayment(cardPayment())
        let outcome = try await it.gateway.watch(created.payment).outcome()
        #expect(outcome?.isCharged == true)
        await it.gateway.close()
        KassaLog.send(to: nil)
        // The handler was called, and waits; it is let go for each event that there can be.
        for await _ in calls { break }
        for _ in 0..<1000 { release.signal() }
    }
}
