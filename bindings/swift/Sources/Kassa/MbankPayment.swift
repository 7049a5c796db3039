internal import KassaGenerated

/// A request for a mobile-bank payment.
public struct MbankPayment: Hashable, Sendable, CustomStringConvertible {
    /// The merchant's unique number of the payment; ``newOrderNumber()`` makes one.
    public var orderNumber: String
    /// The payer's phone number, which receives the one-time password, in any notation: it is normalized with ``normalizedPhone(_:)``
    /// before sending.
    public var phone: String
    /// The amount in **whole som**, at least 1.
    public var amountSom: Int
    /// What is paid for.
    public var comment: String
    /// Where the gateway sends its callbacks: an absolute http or https URL.
    public var callbackURL: String?

    /// Creates a request. Nothing is checked here: sending it reports all violations at once.
    public init(orderNumber: String, phone: String, amountSom: Int, comment: String, callbackURL: String? = nil) {
        self.orderNumber = orderNumber
        self.phone = phone
        self.amountSom = amountSom
        self.comment = comment
        self.callbackURL = callbackURL
    }

    /// The payment reference. Store it **before** sending, so that you can query the payment whatever happens.
    public func paymentRef() -> PaymentRef { PaymentRef(core.paymentRef()) }

    /// Advice about the request, to review before sending. It blocks nothing.
    public func advice() -> [Advice] { core.advice().map(Advice.init) }

    /// All fields that are there.
    public var description: String { described(self) }
}

/// The gateway accepted a mobile-bank payment. **Accepted, not paid**: confirm it with the payer's one-time password.
public struct MbankPaymentCreated: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The payment reference, for the confirmation and for status queries. Store it: it has the identifier for the confirmation, if the
    /// dialect names it.
    public let payment: PaymentRef
    /// The gateway's code, if any.
    public let code: String?
    /// The gateway's message, if any.
    public let reason: String?
    /// The status word in the response, if any. Only a status query decides whether the payment is charged.
    public let status: String?
    /// The whole response, with secrets masked.
    public let raw: String

    /// For tests of your own code.
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
    /// The payment reference, for status queries.
    public let payment: PaymentRef
    /// The gateway's code, if any.
    public let code: String?
    /// The gateway's message, if any.
    public let reason: String?
    /// The status word in the response, if any. Only a status query decides whether the payment is charged.
    public let status: String?
    /// The whole response, with secrets masked.
    public let raw: String

    /// For tests of your own code.
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
