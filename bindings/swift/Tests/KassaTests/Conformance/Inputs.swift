import Foundation
import Kassa
import KassaStage

/// Builds the SDK's values from the JSON of a vector.
enum Inputs {
    /// A dialect or a callback may be written as a text, or as the JSON that it is.
    static func jsonText(_ value: JSON) -> String { value.string ?? value.description }

    /// The default one where there is none, one by its name where a text of small letters stands there, else one by its JSON.
    static func dialect(_ value: JSON) throws -> Dialect {
        if value == .null { return Dialect() }
        if let name = value.string, !name.isEmpty, name.allSatisfy({ ("a"..."z").contains($0) }) { return try Dialect(named: name) }
        return try Dialect(json: jsonText(value))
    }

    static func qrData(_ input: JSON) -> QrData {
        QrData(
            payload: input["payload"].string, transactionID: input["transaction_id"].string, payment: paymentRef(input["payment"]),
            raw: input["raw"].string ?? "")
    }

    static func amount(_ value: JSON) -> Decimal {
        guard let amount = decimal(value.text) else { fatalError("not an amount: \(value)") }
        return amount
    }

    private static func optionalAmount(_ value: JSON) -> Decimal? { value == .null ? nil : amount(value) }

    static func config(_ value: JSON, _ serverURL: String) throws -> GatewayConfig {
        let credentials = Credentials(login: value["login"].text, password: value["password"].text)
        let baseURL = value["base_url"].text.replacingOccurrences(of: "{server}", with: serverURL)
        var config = GatewayConfig(baseURL: baseURL, credentials: credentials)
        if let limit = value["connect_timeout_ms"].int { config.connectTimeout = .milliseconds(limit) }
        if let limit = value["payment_deadline_ms"].int { config.paymentDeadline = .milliseconds(limit) }
        if let limit = value["query_deadline_ms"].int { config.queryDeadline = .milliseconds(limit) }
        if let retries = value["query_retries"].int { config.queryRetries = retries }
        if let form = value["status_query"].string { config.statusQuery = named(form) }
        config.dialect = try dialect(value["dialect"])
        if value["proxy"] != .null { config.proxy = proxy(value["proxy"], serverURL) }
        config.extraRootCertificates = (value["extra_root_certificates"].array ?? []).map(\.text)
        config.userAgentSuffix = value["user_agent_suffix"].string
        config.plainHTTPHosts = (value["plain_http_hosts"].array ?? []).map(\.text)
        config.checkLuhn = value["check_luhn"] == .bool(true)
        return config
    }

    static func proxy(_ value: JSON, _ serverURL: String) -> Proxy {
        switch value.string {
        case "direct": .direct
        case "environment": .environment
        default: .url(value["url"].text.replacingOccurrences(of: "{server}", with: serverURL))
        }
    }

    /// A key by its secret, and by the previous ones.
    static func callbackKey(_ input: JSON) throws -> CallbackKey {
        try (input["previous"].array ?? []).reduce(CallbackKey(secret: input["secret"].text)) { try $0.withPrevious($1.text) }
    }

    /// The gateway, with another deadline or a note where a step says so.
    static func within(_ gateway: Gateway, _ input: JSON) throws -> Gateway {
        let gateway = try input["within_ms"].int.map { try gateway.withDeadline(.milliseconds($0)) } ?? gateway
        return try input["note"].string.map(gateway.withNote) ?? gateway
    }

    static func card(_ input: JSON) -> Card {
        Card(
            pan: input["pan"].text, expiryMonth: input["expiry_month"].text, expiryYear: input["expiry_year"].whole,
            cvc: input["cvc"].text, holderName: input["holder_name"].text)
    }

    static func cardInput(_ input: JSON) -> CardInput {
        var form = CardInput()
        form.number = input["number"].string ?? ""
        form.expiry = input["expiry"].string ?? ""
        form.cvc = input["cvc"].string ?? ""
        form.holderName = input["holder_name"].string ?? ""
        guard let date = input["as_of"].array else { return form }
        return form.asOf(year: date[0].whole, month: date[1].whole)
    }

    static func violation(_ input: JSON) -> Violation {
        Violation(
            field: input["field"].text, rule: Rule(rawValue: input["rule"].text)!, limit: input["limit"].string,
            text: input["text"].text)
    }

    static func advice(_ input: JSON) -> Advice {
        Advice(field: input["field"].text, topic: AdviceTopic(rawValue: input["topic"].text)!, text: input["text"].text)
    }

    static func checkoutState(_ value: JSON) -> CheckoutState {
        let shown = value["message"] == .null ? nil : message(value["message"])
        let methods = (value["methods"].array ?? []).map { PaymentMethod(rawValue: $0.text)! }
        let canChange = value["can_change_method"] == .bool(true)
        switch value["kind"].text {
        case "opening": return .opening(message: shown)
        case "ready": return .ready(methods: methods, message: shown, canKeepMethod: value["can_keep_method"] == .bool(true))
        case "sending": return .sending(message: shown)
        case "enter_otp":
            let expiresAt = value["code_expires_at_ms"].int.map { Date(timeIntervalSince1970: TimeInterval($0) / 1000) }
            return .enterOtp(
                CheckoutState.EnterOtp(
                    method: named(value["method"].text), attemptsLeft: value["attempts_left"].whole, message: shown,
                    phoneLast2: value["phone_last2"].string, commission: optionalAmount(value["commission"]),
                    total: optionalAmount(value["total"]), codeExpiresAt: expiresAt, canChangeMethod: canChange))
        case "open_page":
            return .openPage(url: value["url"].text, begunHere: value["begun_here"] == .bool(true), methods: methods, message: shown)
        case "show_qr": return .showQr(text: value["text"].text, message: shown, canChangeMethod: canChange)
        case "waiting": return .waiting(pageURL: value["page_url"].string, methods: methods, message: shown)
        case "paid": return .paid(amount: amount(value["amount"]), currency: value["currency"].text)
        case "not_paid": return .notPaid(reason: message(value["reason"]))
        case "person_needed": return .personNeeded(message: message(value["message"]))
        case "expired": return .expired
        case "token_expired": return .tokenExpired
        case let other: fatalError("no state is named \(other)")
        }
    }

    private static func message(_ value: JSON) -> CheckoutMessage {
        CheckoutMessage(
            topic: MessageTopic(rawValue: value["topic"].text)!, reason: value["reason"].string,
            decline: value["decline"].string.map { DeclineReason(rawValue: $0)! })
    }

    static func cardPayment(_ input: JSON) -> CardPayment {
        CardPayment(
            orderNumber: input["order_number"].text, description: input["description"].text, amount: amount(input["amount"]),
            currency: input["currency"].text, card: card(input), language: input["language"].text,
            returnURL: input["return_url"].string, callbackURL: input["callback_url"].text, ip: input["ip"].text,
            email: input["email"].string)
    }

    static func mbankPayment(_ input: JSON) -> MbankPayment {
        MbankPayment(
            orderNumber: input["order_number"].text, phone: input["phone"].text, amountSom: input["amount_som"].whole,
            comment: input["comment"].text, callbackURL: input["callback_url"].string)
    }

    static func megapayPayment(_ input: JSON) -> MegapayPayment {
        MegapayPayment(
            orderNumber: input["order_number"].text, amount: amount(input["amount"]), phone: input["phone"].text,
            account: input["account"].text, callbackURL: input["callback_url"].string)
    }

    static func payForm(_ input: JSON) -> PayForm {
        PayForm(
            amount: amount(input["amount"]), serviceName: input["service_name"].text, callbackURL: input["callback_url"].text,
            returnURL: input["return_url"].text, entryID: input["entry_id"].string)
    }

    static func qrPayment(_ input: JSON) -> QrPayment {
        QrPayment(
            sumTyiyn: input["sum_tyiyn"].int, requisite: input["requisite"].string, callbackURL: input["callback_url"].string,
            entryID: input["entry_id"].string)
    }

    static func provider(_ value: JSON) -> Provider {
        switch value.string {
        case "cards": .cards
        case "mega_pay": .megaPay
        case "mbank": .mbank
        default: .other(value["name"].text)
        }
    }

    static func paymentRef(_ value: JSON) -> PaymentRef {
        PaymentRef(
            kind: named(value["kind"].text), orderNumber: value["order_number"].string,
            gatewayNumber: value["gateway_number"].string,
            provider: value["provider"] == .null ? nil : provider(value["provider"]),
            transactionID: value["transaction_id"].string, confirmIdentifier: value["confirm_identifier"].string,
            amount: optionalAmount(value["amount"]["$decimal"]), currency: value["currency"].string,
            isClaimed: value["is_claimed"] == .bool(true), entryID: value["entry_id"].string,
            transactionFromCode: value["transaction_from_code"] == .bool(true))
    }

    static func paymentEntry(_ value: JSON) -> PaymentEntry {
        PaymentEntry(payment: paymentRef(value["payment"]), pageURL: value["page_url"].string, qrText: value["qr_text"].string)
    }

    /// A code to be written. What is absent is left at its default.
    static func elqr(_ input: JSON) -> Elqr {
        var code = Elqr(
            kind: named(input["kind"].text), provider: input["provider"].text, payee: input["payee"].text, mcc: input["mcc"].text,
            serviceCode: input["service_code"].string, amountTyiyn: input["amount_tyiyn"].int,
            transaction: input["transaction"].string, comment: input["comment"].string)
        if case .bool(let isEditable) = input["amount_editable"] { code.amountEditable = isEditable }
        if let link = input["link"].string { code.link = link }
        return code
    }

    /// A reference as its constructors make it.
    static func madePaymentRef(_ input: JSON) throws -> PaymentRef {
        var made: PaymentRef =
            switch named(input["kind"].text) as PaymentKind {
            case .card:
                try .card(input["order_number"].text, amount: amount(input["amount"]), currency: input["currency"].text)
            case .mbank: .mbank(input["order_number"].text, amountSom: input["amount_som"].whole)
            case .megapay: try .megapay(input["order_number"].text, amount: amount(input["amount"]))
            case .payForm: try .payForm(amount: amount(input["amount"]))
            case .qr: .qr(sumTyiyn: input["sum_tyiyn"].int)
            }
        if let number = input["gateway_number"].string { made = try made.withGatewayNumber(number) }
        if let id = input["transaction_id"].string { made = try made.withTransactionID(id) }
        let claimed = input["claimed"]
        guard let number = claimed["order_number"].string else { return made }
        let provider = claimed["provider"] == .null ? nil : provider(claimed["provider"])
        return try made.withClaimedNumber(number, provider: provider)
    }

    static func policy(_ input: JSON) -> PollPolicy {
        var policy = PollPolicy()
        if let interval = input["interval_ms"].int { policy.interval = .milliseconds(interval) }
        if let deadline = input["deadline_ms"].int { policy.deadline = .milliseconds(deadline) }
        return policy
    }

    static func recoveryPolicy(_ input: JSON) -> RecoveryPolicy {
        var policy = RecoveryPolicy()
        if let interval = input["interval_ms"].int { policy.interval = .milliseconds(interval) }
        if let deadline = input["deadline_ms"].int { policy.deadline = .milliseconds(deadline) }
        if let atOnce = input["at_once"].int { policy.atOnce = atOnce }
        policy.followNew = input["follow_new"] == .bool(true)
        return policy
    }

    static func level(_ value: JSON) -> QrLevel { named(value.text) }

    private static func named<Value: RawRepresentable<String>>(_ name: String) -> Value {
        guard let value = Value(rawValue: name) else { fatalError("no \(Value.self) is named \(name)") }
        return value
    }
}
