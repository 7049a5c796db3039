import Foundation
import Kassa
import KassaStage

/// What a step brought: its result in the canonical form, and everything that can be printed of it.
struct Came: Sendable {
    var result: JSON
    var printed: String

    static func answer(_ value: some Canonical) -> Came {
        Came(result: ["answer": value.canonical], printed: everyForm(of: value))
    }

    static let nothing = Came(result: ["answer": .null], printed: "")

    static func error(_ error: any Error) -> Came {
        guard let known = error as? PaymentError else {
            return Came(result: ["error": .string("not an error of Kassa: \(error)")], printed: "")
        }
        var came = Came(result: ["error": known.canonical], printed: everyForm(ofError: error))
        let text = known.describe()
        if [error.localizedDescription, known.errorDescription, "\(error)"] != [text, text, text] {
            came.result = ["error": "has more than one text"]
        }
        return came
    }
}

/// Maps the names in the vectors to the SDK's methods. Each gives nil where the name is none of its own.
enum Operations {
    static func onGateway(_ gateway: Gateway, _ name: String, _ input: JSON) async throws -> Came? {
        let orderNumber = { input["order_number"].text }
        switch name {
        case "create_card_payment": return .answer(try await gateway.createCardPayment(Inputs.cardPayment(input)))
        case "payment_status":
            return .answer(try await gateway.paymentStatus(input["gateway_number"].text, language: input["language"].string))
        case "create_mbank_payment": return .answer(try await gateway.createMbankPayment(Inputs.mbankPayment(input)))
        case "confirm_mbank_payment":
            let payment = Inputs.paymentRef(input["payment"])
            return .answer(try await gateway.confirmMbankPayment(payment, otp: input["otp"].text))
        case "check_megapay": return .answer(try await gateway.checkMegapay(Inputs.megapayPayment(input)))
        case "pay_by_megapay":
            let payment = Inputs.megapayPayment(input["payment"])
            return .answer(try await gateway.payByMegapay(payment, pin: input["pin"].text))
        case "create_pay_form": return .answer(try await gateway.createPayForm(Inputs.payForm(input)))
        case "provider_status":
            let provider = Inputs.provider(input["provider"])
            return .answer(try await gateway.providerStatus(orderNumber(), provider: provider))
        case "create_qr_image": return .answer(try await gateway.createQrImage(Inputs.qrPayment(input)))
        case "create_qr_data": return .answer(try await gateway.createQrData(Inputs.qrPayment(input)))
        case "qr_status": return .answer(try await gateway.qrStatus(input["transaction_id"].text))
        case "check": return .answer(try await gateway.check(Inputs.paymentRef(input["payment"])))
        case "verify_callback":
            let callback = try Callback(Inputs.jsonText(input["callback"]))
            return .answer(try await gateway.verifyCallback(callback, payment: Inputs.paymentRef(input["payment"])))
        case "verify_return":
            let redirect = try ReturnRedirect(input["url"].text)
            return .answer(try await gateway.verifyReturn(redirect, payment: Inputs.paymentRef(input["payment"])))
        case "unfinished": return .answer(try await listed(gateway.unfinished()))
        case "recover": return try await all(of: gateway.recover(Inputs.recoveryPolicy(input)), named: "recovered")
        case "finish_entry":
            try await gateway.finish(input["id"].text)
            return .nothing
        case "entry": return .answer(try await gateway.journal!.entry(Inputs.paymentRef(input["payment"])))
        case "close":
            await gateway.close()
            return .nothing
        default: return nil
        }
    }

    static func onWatch(_ watch: StatusWatch, _ name: String) async throws -> Came? {
        switch name {
        case "next": return .answer(try await watch.next())
        case "outcome": return .answer(try await watch.outcome())
        case "check_now": watch.checkNow()
        case "cancel": watch.cancel()
        case "all": return try await all(of: watch, named: "reports")
        default: return nil
        }
        return .nothing
    }

    /// Everything that comes until the end, and the error that was the end, if one was.
    private static func all<Sequence: AsyncSequence>(of sequence: Sequence, named name: String) async throws -> Came
    where Sequence.Element: Canonical {
        var items: [Sequence.Element] = []
        var ended: PaymentError?
        do {
            for try await item in sequence { items.append(item) }
        } catch let error as PaymentError {
            ended = error
        }
        let result: JSON = ["answer": .object([name: items.canonical, "error": ended.canonical])]
        let printed = everyForm(of: sequence) + everyForm(of: items) + (ended.map(everyForm(ofError:)) ?? "")
        return Came(result: result, printed: printed)
    }

    /// The functions that need no gateway.
    static func function(_ name: String, _ input: JSON) throws -> Came? {
        switch name {
        case "parse_callback": return .answer(try Callback(Inputs.jsonText(input["body"])))
        case "callback_status":
            return .answer(try Callback(Inputs.jsonText(input["callback"])).status(by: Inputs.dialect(input["dialect"])))
        case "parse_return_redirect": return .answer(try ReturnRedirect(input["url"].text))
        case "parse_payment_ref": return .answer(try PaymentRef(input["text"].text))
        case "callback_url":
            return .answer(try Inputs.callbackKey(input).callbackURL(input["url"].text, for: Inputs.paymentRef(input["payment"])))
        case "return_url":
            return .answer(try Inputs.callbackKey(input).returnURL(input["url"].text, for: Inputs.paymentRef(input["payment"])))
        case "read_callback_url": return .answer(try Inputs.callbackKey(input).readCallbackURL(input["called"].text))
        case "read_return_url": return .answer(try Inputs.callbackKey(input).readReturnURL(input["called"].text))
        case "payment_ref_text": return .answer(Inputs.paymentRef(input).description)
        case "parse_payment_entry": return .answer(try PaymentEntry(input["text"].text))
        case "payment_entry_text": return .answer(Inputs.paymentEntry(input).description)
        case "can_be_checked": return .answer(Inputs.paymentRef(input).canBeChecked)
        case "make_payment_ref": return .answer(try Inputs.madePaymentRef(input))
        case "payment_ref_of": return try reference(input["request"])
        case "advice": return try advice(input["request"])
        case "parse_local_date_time": return .answer(LocalDateTime(input["text"].text))
        case "provider_from_name": return .answer(Provider(name: input["name"].text))
        case "read_dialect": return try whole(Dialect(json: Inputs.jsonText(input["json"])))
        case "named_dialect": return try whole(Dialect(named: input["name"].text))
        case "dialect_names": return .answer(Dialect.names)
        case "explain_response":
            let (endpoint, response) = (input["endpoint"].text, Inputs.jsonText(input["response"]))
            return .answer(try Inputs.dialect(input["dialect"]).explain(endpoint: endpoint, response: response))
        case "dialect_advice": return .answer(try Inputs.dialect(input["dialect"]).advice())
        case "qr_data_advice": return .answer(try Inputs.qrData(input).advice())
        case "som_to_tyiyn": return .answer(try somToTyiyn(Inputs.amount(input["som"])))
        case "tyiyn_to_som": return .answer(tyiynToSom(input["tyiyn"].whole))
        case "new_order_number": return .answer(newOrderNumber())
        case "normalized_phone": return .answer(normalizedPhone(input["text"].text))
        case "encode_qr": return .answer(try qrCode(input))
        case "parse_elqr": return .answer(try Elqr(input["text"].text))
        case "write_elqr": return .answer(try Inputs.elqr(input).text())
        case "check_elqr":
            try Elqr(input["text"].text).check(amountTyiyn: input["amount_tyiyn"].whole)
            return .nothing
        case "elqr_bank_links": return .answer(try Elqr(input["text"].text).bankLinks())
        case "draw_qr_png": return try pngSize(input)
        case "draw_qr_text":
            return .answer(try qrCode(input).text().split(separator: "\n", omittingEmptySubsequences: false).map(String.init))
        case "draw_qr_svg": return .answer(try qrCode(input).svg())
        case "type_number", "type_expiry", "type_cvc", "type_holder_name":
            return typed(String(name.dropFirst("type_".count)), input)
        case "violation_text": return .answer(Inputs.violation(input).textIn(Language(tag: input["language"].text)))
        case "advice_text": return .answer(Inputs.advice(input).textIn(Language(tag: input["language"].text)))
        case "checkout_texts":
            let texts = CheckoutTexts.of(
                Inputs.checkoutState(input["state"]), mayHavePaid: input["may_have_paid"] == .bool(true),
                in: Language(tag: input["language"].text))
            return .answer(texts)
        case "checkout_labels": return .answer(CheckoutLabels.of(Language(tag: input["language"].text)))
        case "amount_text":
            let (amount, currency) = (Inputs.amount(input["amount"]), input["currency"].text)
            return .answer(amountText(amount, currency: currency, in: Language(tag: input["language"].text)))
        case "pay_text":
            let (amount, currency) = (Inputs.amount(input["amount"]), input["currency"].text)
            return .answer(payText(amount, currency: currency, in: Language(tag: input["language"].text)))
        case "phone_hint": return .answer(phoneHint(input["text"].text, in: Language(tag: input["language"].text)))
        case "language_from_tag": return .answer(Language(tag: input["tag"].text).rawValue)
        case "typed_card": return .answer(try Inputs.cardInput(input).card().maskedNumber)
        case "print":
            return Came(result: ["answer": .null], printed: try shown(input["type"].text, input["value"]))
        default: return nil
        }
    }

    /// A dialect as its JSON.
    private static func whole(_ dialect: Dialect) throws -> Came {
        Came(result: ["answer": try JSON(parsing: Data(dialect.json.utf8))], printed: everyForm(of: dialect))
    }

    /// One field of a card form, after its text was typed.
    private static func typed(_ field: String, _ input: JSON) -> Came {
        let form = Inputs.cardInput([field: input["text"], "as_of": input["as_of"]])
        let result: JSON =
            switch field {
            case "number":
                [
                    "text": .string(form.number), "state": form.numberState.canonical, "brand": .string(form.brand.rawValue),
                    "lengths": form.numberLengths.canonical,
                ]
            case "expiry": ["text": .string(form.expiry), "state": form.expiryState.canonical]
            case "cvc": ["text": .string(form.cvc), "state": form.cvcState.canonical]
            default: ["text": .string(form.holderName), "state": form.holderNameState.canonical]
            }
        return Came(result: ["answer": result], printed: everyForm(of: form))
    }

    private static func reference(_ request: JSON) throws -> Came? {
        switch request["do"].text {
        case "create_card_payment": .answer(try Inputs.cardPayment(request["input"]).paymentRef())
        case "create_mbank_payment": .answer(Inputs.mbankPayment(request["input"]).paymentRef())
        case "check_megapay": .answer(try Inputs.megapayPayment(request["input"]).paymentRef())
        case "create_pay_form": .answer(try Inputs.payForm(request["input"]).paymentRef())
        case "create_qr_image", "create_qr_data": .answer(Inputs.qrPayment(request["input"]).paymentRef())
        default: nil
        }
    }

    private static func advice(_ request: JSON) throws -> Came? {
        switch request["do"].text {
        case "create_card_payment": .answer(try Inputs.cardPayment(request["input"]).advice())
        case "create_mbank_payment": .answer(Inputs.mbankPayment(request["input"]).advice())
        case "check_megapay": .answer(try Inputs.megapayPayment(request["input"]).advice())
        case "create_pay_form": .answer(try Inputs.payForm(request["input"]).advice())
        default: nil
        }
    }

    private static func qrCode(_ input: JSON) throws -> QrCode {
        try QrCode(input["text"].text, level: Inputs.level(input["level"]))
    }

    /// The first chunk of a PNG says how wide and high it is.
    private static func pngSize(_ input: JSON) throws -> Came {
        let png = [UInt8](try qrCode(input).png(px: input["px"].whole))
        let number = { (at: Int) in png[at..<at + 4].reduce(0) { $0 << 8 | Int($1) } }
        let isPNG = png.starts(with: [0x89] + Array("PNG\r\n".utf8))
        return Came(result: ["answer": isPNG ? ["width": JSON(number(16)), "height": JSON(number(20))] : .null], printed: "")
    }

    /// A value made of the input, in every printed form that it has.
    private static func shown(_ type: String, _ value: JSON) throws -> String {
        switch type {
        case "card": everyForm(of: Inputs.card(value)) + Inputs.card(value).maskedNumber
        case "card_input": everyForm(of: Inputs.cardInput(value))
        case "card_payment": everyForm(of: Inputs.cardPayment(value))
        case "mbank_payment": everyForm(of: Inputs.mbankPayment(value))
        case "megapay_payment": everyForm(of: Inputs.megapayPayment(value))
        case "pay_form": everyForm(of: Inputs.payForm(value))
        case "qr_payment": everyForm(of: Inputs.qrPayment(value))
        case "callback_key": everyForm(of: try Inputs.callbackKey(value))
        case "credentials": everyForm(of: try Inputs.config(value, "").credentials)
        case "proxy": everyForm(of: Inputs.proxy(value["proxy"], ""))
        case "gateway_config": everyForm(of: try Inputs.config(value, ""))
        case "gateway": everyForm(of: try Gateway(Inputs.config(value, "")))
        case "poll_policy": everyForm(of: Inputs.policy(value))
        case "payment_ref": everyForm(of: Inputs.paymentRef(value))
        default: fatalError("no type is named \(type)")
        }
    }
}
