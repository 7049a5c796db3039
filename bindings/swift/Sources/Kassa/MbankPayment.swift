internal import KassaGenerated

/// A request for a mobile-bank payment.
public struct MbankPayment: Hashable, Sendable, CustomStringConvertible {
    /// The merchant's unique number of the payment; ``newOrderNumber()`` makes one.
    public var orderNumber: String
    /// The payer's phone number, to which the one-time password goes, however it is written: what is sent is
    /// ``normalizedPhone(_:)`` of it.
    public var phone: String
    /// The amount in **whole som**, at least 1.
    public var amountSom: Int
    /// What is paid for.
    public var comment: String
    /// Where the gateway sends its callbacks: an absolute http or https URL.
    public var callbackURL: String?

    /// A request. Nothing is checked here: sending it reports every violation at once.
    public init(orderNumber: String, phone: String, amountSom: Int, comment: String, callbackURL: String? = nil) {
        self.orderNumber = orderNumber
        self.phone = phone
        self.amountSom = amountSom
        self.comment = comment
        self.callbackURL = callbackURL
    }

    /// What to store **before** sending, so that the payment can be asked about whatever happens.
    public func paymentRef() -> PaymentRef { PaymentRef(core.paymentRef()) }

    /// What is worth a second look before sending. It blocks nothing.
    public func advice() -> [Advice] { core.advice().map(Advice.init) }

    /// All fields that are there.
    public var description: String { described(self) }
}

/// The gateway accepted a mobile-bank payment. **Accepted, not paid**: confirm it with the payer's one-time password.
public struct MbankPaymentCreated: Hashable, Sendable, Codable, CustomStringConvertible {
    /// What to confirm the payment with, and to ask about it. Store it: where the dialect names the identifier that the confirm request
    /// carries back, it is in here.
    public let payment: PaymentRef
    /// The gateway's code, where there is one.
    public let code: String?
    /// The gateway's own words, where there are any.
    public let reason: String?
    /// The status word that the response shows, where there is one. Only a status query decides a payment.
    public let status: String?
    /// The whole response, with secrets masked.
    public let raw: String

    /// One made by hand, for tests of your own.
    public init(payment: PaymentRef, code: String? = nil, reason: String? = nil, status: String? = nil, raw: String = "") {
        self.payment = payment
        self.code = code
        self.reason = reason
        self.status = status
        self.raw = raw
    }

    /// All fields that are there.
    public var description: String { described(self) }
}

/// The gateway accepted a confirmation. **Accepted, not final**: watch ``payment`` for its final status.
public struct MbankConfirmed: Hashable, Sendable, Codable, CustomStringConvertible {
    /// What to ask about the payment with.
    public let payment: PaymentRef
    /// The gateway's code, where there is one.
    public let code: String?
    /// The gateway's own words, where there are any.
    public let reason: String?
    /// The status word that the response shows, where there is one. Only a status query decides a payment.
    public let status: String?
    /// The whole response, with secrets masked.
    public let raw: String

    /// One made by hand, for tests of your own.
    public init(payment: PaymentRef, code: String? = nil, reason: String? = nil, status: String? = nil, raw: String = "") {
        self.payment = payment
        self.code = code
        self.reason = reason
        self.status = status
        self.raw = raw
    }

    /// All fields that are there.
    public var description: String { described(self) }
}

extension MbankPayment {
    var core: KassaGenerated.MbankPayment {
        KassaGenerated.MbankPayment(
            orderNumber: orderNumber, phone: phone, amountSom: Int64(amountSom), comment: comment, callbackUrl: callbackURL)
    }
}

extension MbankPaymentCreated {
    init(_ core: KassaGenerated.MbankPaymentCreated) {
        self.init(payment: PaymentRef(core.payment), code: core.code, reason: core.reason, status: core.status, raw: core.raw)
    }
}

extension MbankConfirmed {
    init(_ core: KassaGenerated.MbankConfirmed) {
        self.init(payment: PaymentRef(core.payment), code: core.code, reason: core.reason, status: core.status, raw: core.raw)
    }
}
