import Foundation
import Kassa
import KassaStage
import Testing

/// What apps store and servers hand on: each value as its JSON, and back.
@Suite struct CodableTests {
    private let payment = PaymentRef(kind: .qr, transactionID: "t-1", amount: 25, currency: "KGS")
    private let stored = #""kassa1:kind=qr&transaction=t-1&amount=25&currency=KGS""#
    private let page = URL(string: "https://gw.example.kg/3ds?token=gw-1")!

    @Test func whatIsOneText() throws {
        try expect(payment, stored)
        let entry = PaymentEntry(payment: payment, pageURL: page.absoluteString, qrText: "00 02&01")
        try expect(entry, #""\#(entry)""#)
        try expect(PaymentStatus.charged, #""charged""#)
        try expect(PaymentStatus.rejected, #""rejected""#)
        try expect(Provider.megaPay, #""MegaPay""#)
        try expect(Provider.other("ELSOM"), #""ELSOM""#)
        try expect(PaymentKind.payForm, #""pay_form""#)
        try expect(Rule.httpURL, #""http_url""#)
        try expect(AdviceTopic.cardExpired, #""card_expired""#)
        try expect(#require(LocalDateTime("2026-11-20T09:05:07.25")), #""2026-11-20T09:05:07.25""#)
    }

    @Test func wordOfTheGatewaysIsNeverReadAsAFinalStatus() throws {
        try expect(PaymentStatus.other("HOLD"), #"{"other":"HOLD"}"#)
        for word in ["charged", "rejected", "CHARGE", ""] {
            try expect(PaymentStatus.other(word), #"{"other":"\#(word)"}"#)
        }
        #expect(try read(#""refunded""#) == PaymentStatus.other("refunded"), "of a later version")
        #expect(try read(#""CHARGE""#) == PaymentStatus.other("CHARGE"), "the gateway's word is not the name here")
    }

    @Test func reportsAndCallbacks() throws {
        let report = StatusReport(
            status: .charged, code: "200", reason: "PAYMENT_SUCCESS", orderNumber: "o-1", amount: try Decimal(exactly: "100.10"),
            currency: "KGS", raw: "{}")
        try expect(
            report,
            #"{"amount":"100.1","code":"200","currency":"KGS","orderNumber":"o-1","raw":"{}","reason":"PAYMENT_SUCCESS","status":"charged"}"#)
        try expect(StatusReport(status: .other("HOLD")), #"{"raw":"","status":{"other":"HOLD"}}"#)
        let received = Callback(
            orderNumber: "o-1", amount: 25, currency: "KGS", status: .rejected, dateCreated: LocalDateTime("2026-11-20T09:05"),
            dateCreatedText: "2026-11-20 09:05", requisite: "996700000001", provider: .mbank, raw: "{}")
        try expect(
            received,
            #"{"amount":"25","currency":"KGS","dateCreated":"2026-11-20T09:05:00","dateCreatedText":"2026-11-20 09:05","#
                + #""missing":[],"orderNumber":"o-1","provider":"MBank","raw":"{}","requisite":"996700000001","status":"rejected"}"#)
        let hint = Callback(orderNumber: "o-1", missing: ["amount", "status"], raw: "{}")
        try expect(hint, #"{"missing":["amount","status"],"orderNumber":"o-1","raw":"{}"}"#)
        #expect(try read(#"{"orderNumber":"o-1","raw":"{}"}"#) == Callback(orderNumber: "o-1", raw: "{}"), "of an earlier version")
        try expect(ReturnRedirect(orderNumber: "o-1", statusCode: "200"), #"{"orderNumber":"o-1","statusCode":"200"}"#)
    }

    @Test func elqrCodes() throws {
        try expect(
            Elqr(kind: .static, provider: "qr.example.kg", payee: "SHOP", mcc: "5812", fields: [ElqrField(tag: "36", text: "!")]),
            #"{"checksumOK":true,"currency":"417","fields":[{"tag":"36","text":"!"}],"kind":"static","link":"https://pay.payqr.kg/","#
                + #""mcc":"5812","other":[],"payee":"SHOP","provider":"qr.example.kg"}"#)
        try expect(BankLink(bank: "ELQR", url: page), #"{"bank":"ELQR","url":"\#(page)"}"#)
    }

    @Test func whatAJournalLists() throws {
        let entry = JournalEntry(
            id: "o-1-0123", payment: payment, begun: Date(timeIntervalSinceReferenceDate: 0.125), state: .charged, isFinished: true,
            reason: "PAYMENT_SUCCESS", code: "0", pageURL: page.absoluteString, qrText: "000201", note: "cart 17")
        let json =
            #"{"begun":0.125,"code":"0","id":"o-1-0123","isFinished":true,"note":"cart 17","pageURL":"\#(page)","payment":\#(stored),"#
            + #""qrText":"000201","reason":"PAYMENT_SUCCESS","state":"charged"}"#
        try expect(entry, json)
        try expect(Unfinished.payment(entry: entry), #"{"payment":{"entry":\#(json)}}"#)
        try expect(Unfinished.unreadable(id: "x", why: "is torn"), #"{"unreadable":{"id":"x","why":"is torn"}}"#)
        try expect(JournalState.allCases, #"["unknown","pending","charged","mismatch","rejected"]"#)
        try expect(Recovered.payment(entry: entry), #"{"payment":{"entry":\#(json)}}"#)
        try expect(Recovered.unreadable(id: "x", why: "is torn"), #"{"unreadable":{"id":"x","why":"is torn"}}"#)
        #expect("\(Recovered.payment(entry: entry))" == "\(Unfinished.payment(entry: entry))")
        #expect("\(Unfinished.payment(entry: entry))".contains("cart 17"))
        #expect("\(Unfinished.unreadable(id: "x", why: "is torn"))" == "unreadable(x, is torn)")
    }

    @Test func answers() throws {
        try expect(
            CardPaymentCreated(payment: payment, nextStep: .openConfirmation(url: page), code: "110", amount: 250, currency: "KGS"),
            #"{"amount":"250","code":"110","currency":"KGS","nextStep":{"openConfirmation":{"url":"\#(page)"}},"payment":\#(stored),"raw":""}"#)
        try expect(NextStep.checkStatus(status: "Success"), #"{"checkStatus":{"status":"Success"}}"#)
        try expect(
            MbankPaymentCreated(payment: payment, code: "0", reason: "ok", status: "NEW", raw: "{}"),
            #"{"code":"0","payment":\#(stored),"raw":"{}","reason":"ok","status":"NEW"}"#)
        try expect(MbankConfirmed(payment: payment, code: "0"), #"{"code":"0","payment":\#(stored),"raw":""}"#)
        try expect(
            MegapayChecked(
                payment: payment, commission: try Decimal(exactly: "5.01"), total: try Decimal(exactly: "255.56"),
                pinLifetime: .seconds(180), code: "110", raw: "{}"),
            #"{"code":"110","commission":"5.01","payment":\#(stored),"pinLifetime":"180","raw":"{}","total":"255.56"}"#)
        try expect(
            MegapayAccepted(payment: payment, transactionID: "MP-1", code: "120"),
            #"{"code":"120","payment":\#(stored),"raw":"","transactionID":"MP-1"}"#)
        try expect(
            PayFormCreated(payment: payment, payFormURL: page), #"{"payFormURL":"\#(page)","payment":\#(stored),"raw":""}"#)
        try expect(QrImage(payment: payment, png: Data([1, 2, 3])), #"{"payment":\#(stored),"png":"AQID","raw":""}"#)
        try expect(
            QrData(payload: "000201", transactionID: "t-1", payment: payment),
            #"{"payload":"000201","payment":\#(stored),"raw":"","transactionID":"t-1"}"#)
    }

    @Test func verdictsAndWhatAWatchBrings() throws {
        let charged = StatusReport(status: .charged, amount: 25)
        let held = StatusReport(status: .other("HOLD"))
        let (chargedJSON, heldJSON) = (#"{"amount":"25","raw":"","status":"charged"}"#, #"{"raw":"","status":{"other":"HOLD"}}"#)
        let forms: [(Verdict, String)] = [
            (
                .charged(payment: payment, report: charged, compared: ["amount"]),
                #"{"charged":{"compared":["amount"],"payment":\#(stored),"report":\#(chargedJSON)}}"#
            ),
            (.rejected(payment: payment, report: charged), #"{"rejected":{"payment":\#(stored),"report":\#(chargedJSON)}}"#),
            (.pending(payment: payment, report: held), #"{"pending":{"payment":\#(stored),"report":\#(heldJSON)}}"#),
            (
                .mismatch(payment: payment, fields: ["amount"], report: charged),
                #"{"mismatch":{"fields":["amount"],"payment":\#(stored),"report":\#(chargedJSON)}}"#
            ),
            (
                .mismatch(payment: payment, fields: ["currency"], report: nil),
                #"{"mismatch":{"fields":["currency"],"payment":\#(stored)}}"#
            ),
            (
                .unverifiable(payment: payment, why: "?", report: charged),
                #"{"unverifiable":{"payment":\#(stored),"report":\#(chargedJSON),"why":"?"}}"#
            ),
            (.unverifiable(payment: payment, why: "?", report: nil), #"{"unverifiable":{"payment":\#(stored),"why":"?"}}"#),
        ]
        for (verdict, json) in forms {
            try expect(verdict, json)
            try expect(WatchReport.status(verdict: verdict), #"{"status":{"verdict":\#(json)}}"#)
        }
        try expect(
            WatchReport.queryFailed(error: .misconfigured(detail: "?")),
            #"{"queryFailed":{"error":{"misconfigured":{"detail":"?"}}}}"#)
    }

    @Test(arguments: [
        #""charged""#, "{}", #"{"charged":{}}"#, #"{"Charged":{"report":{"raw":"","status":"charged"}}}"#,
        #"{"charged":{"compared":[],"report":{"raw":"","status":"charged"}}}"#,
        #"{"charged":{"compared":[],"payment":"kassa9:kind=card","report":{"raw":"","status":"charged"}}}"#,
        #"{"charged":{"compared":[],"payment":"kassa1:kind=card","report":{"raw":"","status":"charged"}},"pending":{}}"#,
    ])
    func aDamagedVerdictIsNone(_ json: String) {
        #expect(throws: DecodingError.self) { let _: Verdict = try read(json) }
    }

    @Test func policiesAndAdvice() throws {
        try expect(PollPolicy(), #"{"deadline":"1200","interval":"10"}"#)
        try expect(
            PollPolicy(interval: .milliseconds(250), deadline: .seconds(Int64.max)),
            #"{"deadline":"9223372036854775807","interval":"0.25"}"#)
        try expect(
            PollPolicy(interval: .nanoseconds(-1), deadline: .milliseconds(-1500)),
            #"{"deadline":"-1.5","interval":"-0.000000001"}"#)
        try expect(RecoveryPolicy(followNew: true), #"{"atOnce":8,"deadline":"1200","followNew":true,"interval":"10"}"#)
        try expect(RecoveryPolicy(), #"{"atOnce":8,"deadline":"1200","followNew":false,"interval":"10"}"#)
        try expect(Advice(field: "amount", topic: .megaPayMinimum, text: "!"), #"{"field":"amount","text":"!","topic":"mega_pay_minimum"}"#)
        try expect(
            Violation(field: "pan", rule: .length, limit: "13 to 20", text: "!"),
            #"{"field":"pan","limit":"13 to 20","rule":"length","text":"!"}"#)
    }

    @Test func errors() throws {
        let violation = Violation(field: "otp", rule: .required, text: "!")
        try expect(
            PaymentError.invalid(violations: [violation]),
            #"{"invalid":{"violations":[{"field":"otp","rule":"required","text":"!"}]}}"#)
        try expect(PaymentError.misconfigured(detail: "?"), #"{"misconfigured":{"detail":"?"}}"#)
        try expect(
            PaymentError.unauthorized(detail: "?", httpStatus: 403, code: "7", body: "{}"),
            #"{"unauthorized":{"body":"{}","code":"7","detail":"?","httpStatus":403}}"#)
        try expect(
            PaymentError.unavailable(detail: "?", retryAfter: .milliseconds(1500), httpStatus: 429),
            #"{"unavailable":{"detail":"?","httpStatus":429,"retryAfter":"1.5"}}"#)
        try expect(
            PaymentError.refused(httpStatus: 400, code: "05", reason: "no", body: "{}"),
            #"{"refused":{"body":"{}","code":"05","httpStatus":400,"reason":"no"}}"#)
        try expect(
            PaymentError.outcomeUnknown(payment: payment, detail: "timeout"),
            #"{"outcomeUnknown":{"detail":"timeout","payment":\#(stored)}}"#)
        try expect(
            PaymentError.unexpected(detail: "?", body: "[]"), #"{"unexpected":{"body":"[]","detail":"?","httpStatus":200}}"#)
        try expect(
            PaymentError.deadlineExpired(last: StatusReport(status: .other("HOLD"), amount: 5)),
            #"{"deadlineExpired":{"last":{"amount":"5","raw":"","status":{"other":"HOLD"}}}}"#)
        try expect(PaymentError.deadlineExpired(last: nil), #"{"deadlineExpired":{}}"#)
    }

    @Test(arguments: ["79228162514264337593543950335", "-0.0000000000000000000000000001", "0", "12345678901234567.89"])
    func amountKeepsEveryDigit(_ text: String) throws {
        let report = StatusReport(status: .charged, amount: try Decimal(exactly: text))
        try expect(report, #"{"amount":"\#(text)","raw":"","status":"charged"}"#)
    }

    @Test(arguments: ["100.10", "1", "true", "[]", #""1e2""#, #""12,50""#, #""""#, #""NaN""#])
    func amountThatIsNoTextOfDigitsIsRefused(_ json: String) {
        let problem = problem(#"{"amount":\#(json),"raw":"","status":"charged"}"#, StatusReport.self)
        #expect(problem?.field == "amount")
        #expect(problem?.text.contains("such as") == true)
    }

    @Test func amountThatIsNoneIsNotWritten() {
        #expect(throws: EncodingError.self) { try JSONEncoder().encode(StatusReport(status: .charged, amount: .nan)) }
    }

    @Test(arguments: ["10", #""ten""#, #""1e1""#, #""9223372036854775808""#, #"[0,10]"#])
    func durationThatIsNoTextOfSecondsIsRefused(_ json: String) {
        #expect(problem(#"{"deadline":"1200","interval":\#(json)}"#, PollPolicy.self)?.field == "interval")
    }

    @Test(arguments: [#""kassa9:kind=card""#, #""kassa1:kind=card&order=%zz""#, #""""#, "7", "null"])
    func damagedReferenceIsRefused(_ json: String) {
        #expect(problem(#"{"payment":\#(json),"raw":""}"#, MbankConfirmed.self)?.field == "payment")
    }

    @Test func damagedReferenceSaysWhatIsWrong() {
        #expect((problem(#""kassa9:kind=card""#, PaymentRef.self)?.cause as? PaymentError)?.kind == "Invalid")
        let cut = "\(PaymentEntry(payment: payment, pageURL: page.absoluteString))".dropLast()
        let problem = problem(#"[{"entry":"\#(cut)"}]"#, [[String: PaymentEntry]].self)
        #expect(problem?.text.contains("not whole") == true && problem?.field == "Index 0.entry")
    }

    /// What the gateway echoes of a request, in an answer (200) or in an error (400), is masked before anybody can store it.
    @Test(arguments: [200, 400]) func whatAGatewayEchoesIsStoredMasked(_ status: Int) async throws {
        let echo = #""echo":"4111 1111 1111 1111, cvc 737","pan":"4111111111111111","cvc":"737","otp":"918273""#
        let body = #"{"code":"110","message":"otp 918273 of shop:swordfish-77","data":{\#(echo)}}"#
        let it = try Loopback(Responses.response(status, body))
        func stored(_ call: () async throws -> some Encodable) async throws -> String {
            do {
                return String(decoding: try JSONEncoder().encode(try await call()), as: UTF8.self)
            } catch let error as PaymentError {
                return String(decoding: try JSONEncoder().encode(error), as: UTF8.self)
            }
        }
        var payment = cardPayment()
        payment.orderNumber = "order-1"  // a number that is made up could have the security code in it
        let card = try await stored { [payment] in try await it.gateway.createCardPayment(payment) }
        let confirmed = try await stored {
            try await it.gateway.confirmMbankPayment(.mbank("order-1", amountSom: 5), otp: "918273")
        }
        for json in [card, confirmed] {
            #expect(json.contains("echo") && json.contains("swordfish-77") == false, "\(json)")
            #expect(json.contains(#""raw""#) == (status == 200) && json.contains(#"{"refused""#) == (status == 400), "\(json)")
        }
        for secret in ["4111111111111111", "4111 1111 1111 1111", "737"] { #expect(!card.contains(secret), "\(card)") }
        #expect(!confirmed.contains("918273"), "\(confirmed)")
    }

    @Test func secretsCannotBeEncoded() throws {
        let credentials = Credentials(login: "shop", password: "swordfish-77")
        let secrets: [Any] = [
            card(), CardInput().withNumber("4111111111111111"), credentials, cardPayment(),
            GatewayConfig(baseURL: "https://pay.example.kg", credentials: credentials),
            Proxy.url("http://user:swordfish-77@proxy.example.kg"), Dialect(),
            try FakeGateway(), try FakeGateway().gateway, MbankPayment(orderNumber: "o", phone: "", amountSom: 5, comment: ""),
        ]
        for secret in secrets { #expect(!(secret is any Encodable), "\(type(of: secret))") }
        #expect(PaymentStatus.charged as Any is any Encodable, "this would be seen")
    }

    private func expect<Value: Codable & Equatable>(
        _ value: Value, _ json: String, at location: SourceLocation = #_sourceLocation
    ) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        #expect(String(decoding: try encoder.encode(value), as: UTF8.self) == json, sourceLocation: location)
        #expect(try read(json) == value, sourceLocation: location)
    }

    private func read<Value: Decodable>(_ json: String) throws -> Value {
        try JSONDecoder().decode(Value.self, from: Data(json.utf8))
    }

    /// What a decoder complains of; nil where it reads the text.
    private func problem<Value: Decodable>(_ json: String, _ type: Value.Type) -> (field: String, text: String, cause: (any Error)?)? {
        do {
            let _: Value = try read(json)
        } catch DecodingError.typeMismatch(_, let problem), DecodingError.valueNotFound(_, let problem),
            DecodingError.keyNotFound(_, let problem), DecodingError.dataCorrupted(let problem) {
            let field = problem.codingPath.map(\.stringValue).joined(separator: ".")
            return (field, problem.debugDescription, problem.underlyingError)
        } catch {}
        return nil
    }
}
