import struct Foundation.Decimal  // and not the alias of the generated code
internal import KassaGenerated

/// A request for a payment from a MegaPay wallet. ``Gateway/checkMegapay(_:)`` sends the payer a PIN and returns the commission;
/// ``Gateway/payByMegapay(_:pin:)`` takes the money with that PIN. **Both take the same request.**
///
/// The gateway must have these requests (`megapay` in its ``Dialect``, as in `finipay`). Without them, payers choose MegaPay on the
/// pay-form.
///
/// The amount is a whole number, or `try Decimal(exactly: "100.10")`; see ``ExactAmount``.
public struct MegapayPayment: Hashable, Sendable, CustomStringConvertible {
    /// The merchant's unique number of the payment; ``newOrderNumber()`` makes one.
    public var orderNumber: String
    /// The amount in KGS **without the commission**, at least 5 and with at most two decimals. Sent digit for digit.
    public let amount: Decimal
    /// The phone number of the payer's wallet, which receives the PIN, in any notation: it is normalized with ``normalizedPhone(_:)``
    /// before sending.
    public var phone: String
    /// The merchant's account (requisite) that receives the money, as agreed with the gateway.
    public var account: String
    /// Where the gateway sends its callbacks: an absolute http or https URL. Only the payment sends it.
    public var callbackURL: String?

    /// Creates a request. Nothing is checked here: sending it reports all violations at once.
    public init(orderNumber: String, amount: some ExactAmount, phone: String, account: String, callbackURL: String? = nil) {
        self.orderNumber = orderNumber
        self.amount = amount.exactAmount
        self.phone = phone
        self.account = account
        self.callbackURL = callbackURL
    }

    /// The payment reference. Store it **before** sending, so that you can query the payment whatever happens.
    ///
    /// - Throws: ``PaymentError/invalid(violations:)`` if the amount is not a number that can be sent.
    public func paymentRef() throws -> PaymentRef {
        PaymentRef(try translated { try core.paymentRef() })
    }

    /// Advice about the request, to review before sending. It blocks nothing.
    ///
    /// - Throws: ``PaymentError/invalid(violations:)`` if the amount is not a number that can be sent.
    public func advice() throws -> [Advice] {
        try translated { try core.advice() }.map(Advice.init)
    }

    /// All fields that are there.
    public var description: String { described(self) }
}

/// The wallet can pay, and its PIN is on its way to the payer. **Nothing is paid yet**: show the payer the total, ask for the PIN, and
/// call ``Gateway/payByMegapay(_:pin:)``.
public struct MegapayChecked: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The payment reference, for status queries.
    public let payment: PaymentRef
    /// What the payer pays in addition to the amount, in KGS; nil if the response has none, or the dialect does not find it.
    public let commission: Decimal?
    /// What the payer pays in all, in KGS: the requested amount and the commission; nil without a commission.
    public let total: Decimal?
    /// How long the PIN is valid, counted from the response; nil if the response does not say so.
    public let pinLifetime: Duration?
    /// The gateway's code, if any.
    public let code: String?
    /// The gateway's message, if any.
    public let reason: String?
    /// The whole response, with secrets masked.
    public let raw: String

    /// For tests of your own code.
    public init(
        payment: PaymentRef, commission: Decimal? = nil, total: Decimal? = nil, pinLifetime: Duration? = nil, code: String? = nil,
        reason: String? = nil, raw: String = ""
    ) {
        self.payment = payment
        self.commission = commission
        self.total = total
        self.pinLifetime = pinLifetime
        self.code = code
        self.reason = reason
        self.raw = raw
    }

    /// All fields that are there.
    public var description: String { described(self) }
}

/// The gateway accepted a payment with its PIN. **Accepted, not final**: watch ``payment`` for its final status.
public struct MegapayAccepted: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The payment reference, for status queries.
    public let payment: PaymentRef
    /// The number of the operation at MegaPay, if any, for statements and receipts. No status query takes it.
    public let transactionID: String?
    /// The gateway's code, if any.
    public let code: String?
    /// The gateway's message, if any.
    public let reason: String?
    /// The status word in the response, if any. Only a status query decides whether the payment is charged.
    public let status: String?
    /// The whole response, with secrets masked.
    public let raw: String

    /// For tests of your own code.
    public init(
        payment: PaymentRef, transactionID: String? = nil, code: String? = nil, reason: String? = nil, status: String? = nil,
        raw: String = ""
    ) {
        self.payment = payment
        self.transactionID = transactionID
        self.code = code
        self.reason = reason
        self.status = status
        self.raw = raw
    }

    /// All fields that are there.
    public var description: String { described(self) }
}

extension MegapayPayment {
    var core: KassaGenerated.MegapayPayment {
        KassaGenerated.MegapayPayment(
            orderNumber: orderNumber, amount: amount, phone: phone, account: account, callbackUrl: callbackURL)
    }
}

extension MegapayChecked {
    init(_ core: KassaGenerated.MegapayChecked) {
        self.init(
            payment: PaymentRef(core.payment), commission: core.commission, total: core.total,
            pinLifetime: core.pinLifetime.map(Duration.init(core:)), code: core.code, reason: core.reason, raw: core.raw)
    }
}

extension MegapayAccepted {
    init(_ core: KassaGenerated.MegapayAccepted) {
        self.init(
            payment: PaymentRef(core.payment), transactionID: core.transactionId, code: core.code, reason: core.reason,
            status: core.status, raw: core.raw)
    }
}
