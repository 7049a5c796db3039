import Foundation

extension KassaClient {
    /// A shop's request to be paid. It can have several payments and is paid once.
    public struct Checkout: Hashable, Sendable, Identifiable {
        /// The checkout's identifier: `co_` and 32 digits.
        public let id: String
        /// The shop's own reference, such as the order's number.
        public let reference: String
        /// What is to be paid, in units of ``currency``.
        public let amount: Decimal
        /// Three letters, such as `KGS`.
        public let currency: String
        /// What is paid for.
        public let description: String
        /// The payment methods that the payer can choose from.
        public let methods: [String]
        /// The page to which the payer returns.
        public let returnURL: String
        /// `open`, `paid`, `expired` or `cancelled`. A newer server can have more.
        public let state: String
        /// It grows with every change: ``KassaClient/waitForChange(_:afterVersion:wait:)`` takes it.
        public let version: Int64
        /// When it expires.
        public let expiresAt: Date
        /// The shop's own values, as they were given.
        public let metadata: [String: String]
        /// When it was opened.
        public let openedAt: Date
        /// **Where to send the payer.** Whoever knows the address can pay there and see the state, so it is not printed. Nil if the
        /// server shows no pages.
        public let pageURL: String?
        /// The identifier of the payment that paid it. Nil if it is not paid.
        public let paidBy: String?
        /// Whether more than one payment was charged: refund one of them.
        public let isOverpaid: Bool
        /// Its payments, the first one first.
        public let payments: [Payment]

        /// Whether it is paid: the only state in which to deliver.
        public var isPaid: Bool { state == "paid" }
    }

    /// A payment of a checkout, as the shop sees it.
    public struct Payment: Hashable, Sendable, Identifiable {
        /// The payment's identifier: `pay_` and 32 digits.
        public let id: String
        /// Its number within the checkout, from 1.
        public let number: Int
        /// `pay_form`, `qr`, `mbank`, `megapay` or `card`. A newer server can have more.
        public let method: String
        /// `prepared`, `sending`, `not_made`, `unknown`, `awaiting`, `confirming`, `charged`, `rejected`, `mismatch` or `unverifiable`. A
        /// newer server can have more.
        public let state: String
        /// When it was started.
        public let begunAt: Date
        /// The page on which the payer pays, or confirms a card payment. Nil if there is none. It is not printed.
        public let pageURL: String?
        /// The content of the QR code. Nil if there is none. It is not printed.
        public let qrText: String?
        /// The last four digits of the card. Nil with other methods.
        public let cardLast4: String?
        /// The last two digits of the payer's phone. Nil with other methods.
        public let phoneLast2: String?
        /// What a MegaPay wallet pays beside the amount. Nil if it is not known.
        public let commission: Decimal?
        /// The amount and the commission. Nil without ``commission``.
        public let total: Decimal?
        /// When the MegaPay PIN expires. Nil if it is not known.
        public let codeExpiresAt: Date?
        /// Whether the payer can start another payment instead.
        public let canBeReplaced: Bool
        /// Whether the payer has started another payment instead.
        public let isReplaced: Bool
        /// How often a one-time password can still be entered. Nil with other methods.
        public let attemptsLeft: Int?
        /// Why it was not made, or the last one-time password was not accepted. Nil if neither applies.
        public let failure: Failure?
        /// The merchant's number of the payment at the gateway. Nil if the gateway assigns the number.
        public let orderNumber: String?
        /// The gateway's number of the payment. Nil if there is none.
        public let gatewayNumber: String?
        /// The gateway's identifier of a QR payment. Nil if there is none.
        public let transactionID: String?
        /// Whether it needs a person: it has been open for three days, or its QR code cannot be polled.
        public let isStuck: Bool
        /// Whether a charge was reported that cannot be trusted: a person decides.
        public let isInDoubt: Bool
        /// What the server's dialect does not read in the gateway's response. Usually empty.
        public let advice: [DialectAdvice]
    }

    /// Why a payment was not made, or the last one-time password was not accepted.
    public struct Failure: Hashable, Sendable, Decodable {
        /// The kind of error, such as `Refused` or `Unavailable`.
        public let kind: String
        /// The gateway's code, if any.
        public let code: String?
        /// The gateway's message, if any.
        public let reason: String?
    }

    /// A recommended setting of the server's dialect.
    public struct DialectAdvice: Hashable, Sendable, Decodable {
        /// The key of the dialect, such as `dialect.endpoints.qr_data.transaction_id`.
        public let field: String
        /// What is missing, the consequence, and what to set.
        public let text: String
    }

    /// A client token: it gives the payer's app access to one checkout.
    public struct Token: Hashable, Sendable {
        /// The token itself, for the payer's app. The server shows it once; it is not printed.
        public let token: String
        /// How long it is valid.
        public let lifetime: Duration
    }

    /// What a person found in the gateway's own records about a payment.
    public enum Outcome: String, Hashable, Sendable, CaseIterable {
        /// The money was taken: the payment pays its checkout.
        case charged
        /// No money was taken.
        case notCharged = "not_charged"
    }
}

// MARK: What is printed

extension KassaClient.Checkout: CustomDebugStringConvertible, CustomReflectable {
    /// The checkout in short, without its page.
    public var debugDescription: String {
        "Checkout(\(id), reference: \(reference), amount: \(amount) \(currency), state: \(state), version: \(version))"
    }

    /// What ``debugDescription`` says.
    public var customMirror: Mirror {
        Mirror(self, children: ["id": id, "reference": reference, "amount": amount, "state": state, "version": version])
    }
}

extension KassaClient.Payment: CustomStringConvertible, CustomReflectable {
    /// The payment in short, without its page and its QR code.
    public var description: String { "Payment(\(id), method: \(method), state: \(state))" }

    /// What ``description`` says.
    public var customMirror: Mirror { Mirror(self, children: ["id": id, "method": method, "state": state]) }
}

extension KassaClient.Token: CustomStringConvertible, CustomReflectable {
    /// Without the token.
    public var description: String { "Token(***, lifetime: \(lifetime))" }

    /// Without the token.
    public var customMirror: Mirror { Mirror(self, children: ["lifetime": lifetime]) }
}

// MARK: Reading

extension KassaClient.Checkout: Decodable {
    private enum CodingKeys: String, CodingKey {
        case id, reference, amount, currency, description, methods, state, version, metadata, payments
        case returnURL = "return_url", expiresAt = "expires_at_ms", openedAt = "opened_at_ms", pageURL = "page_url"
        case paidBy = "paid_by", isOverpaid = "is_overpaid"
    }

    /// Reads the server's JSON.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        id = try members.text(.id)
        reference = try members.text(.reference)
        amount = try members.decimal(.amount)
        currency = try members.text(.currency)
        description = try members.text(.description)
        methods = try members.decode([String].self, forKey: .methods)
        returnURL = try members.text(.returnURL)
        state = try members.text(.state)
        version = try members.decode(Int64.self, forKey: .version)
        expiresAt = try members.time(.expiresAt)
        metadata = try members.decode([String: String].self, forKey: .metadata)
        openedAt = try members.time(.openedAt)
        pageURL = try members.textIfPresent(.pageURL)
        paidBy = try members.textIfPresent(.paidBy)
        isOverpaid = try members.decode(Bool.self, forKey: .isOverpaid)
        payments = try members.decode([KassaClient.Payment].self, forKey: .payments)
    }
}

extension KassaClient.Payment: Decodable {
    private enum CodingKeys: String, CodingKey {
        case id, number, method, state, commission, total, failure, advice
        case begunAt = "begun_at_ms", pageURL = "page_url", qrText = "qr_text", cardLast4 = "card_last4", phoneLast2 = "phone_last2"
        case codeExpiresAt = "code_expires_at_ms", canBeReplaced = "can_be_replaced", isReplaced = "is_replaced"
        case attemptsLeft = "attempts_left", orderNumber = "order_number", gatewayNumber = "gateway_number"
        case transactionID = "transaction_id", isStuck = "is_stuck", isInDoubt = "is_in_doubt"
    }

    /// Reads the server's JSON.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        id = try members.text(.id)
        number = try members.decode(Int.self, forKey: .number)
        method = try members.text(.method)
        state = try members.text(.state)
        begunAt = try members.time(.begunAt)
        pageURL = try members.textIfPresent(.pageURL)
        qrText = try members.textIfPresent(.qrText)
        cardLast4 = try members.textIfPresent(.cardLast4)
        phoneLast2 = try members.textIfPresent(.phoneLast2)
        commission = try members.decimalIfPresent(.commission)
        total = try members.decimalIfPresent(.total)
        codeExpiresAt = try members.timeIfPresent(.codeExpiresAt)
        canBeReplaced = try members.decode(Bool.self, forKey: .canBeReplaced)
        isReplaced = try members.decode(Bool.self, forKey: .isReplaced)
        attemptsLeft = try members.decodeIfPresent(Int.self, forKey: .attemptsLeft)
        failure = try members.decodeIfPresent(KassaClient.Failure.self, forKey: .failure)
        orderNumber = try members.textIfPresent(.orderNumber)
        gatewayNumber = try members.textIfPresent(.gatewayNumber)
        transactionID = try members.textIfPresent(.transactionID)
        isStuck = try members.decode(Bool.self, forKey: .isStuck)
        isInDoubt = try members.decode(Bool.self, forKey: .isInDoubt)
        advice = try members.decode([KassaClient.DialectAdvice].self, forKey: .advice)
    }
}

extension KassaClient.Token: Decodable {
    private enum CodingKeys: String, CodingKey {
        case token
        case lifetime = "lifetime_s"
    }

    /// Reads the server's JSON.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        token = try members.text(.token)
        lifetime = .seconds(try members.decode(Int64.self, forKey: .lifetime))
    }
}
