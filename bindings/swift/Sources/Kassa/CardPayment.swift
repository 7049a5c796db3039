import Foundation
import struct Foundation.Decimal  // and not the alias of the generated code
internal import KassaGenerated

/// A request for a card payment. Sending card data puts the merchant under PCI DSS; see ``Card``.
///
/// The amount is a whole number, or `try Decimal(exactly: "100.10")`; see ``ExactAmount``.
public struct CardPayment: Sendable {
    /// The merchant's unique number of the payment, preferably only A-Z a-z 0-9 - _: ``newOrderNumber()``.
    public var orderNumber: String
    /// What is paid for.
    public var description: String
    /// The amount in units of the currency, at least 1, with no more decimals than the currency has (ISO 4217): two for KGS. Sent
    /// digit for digit.
    public let amount: Decimal
    /// The currency's three letters.
    public var currency: String
    /// The card.
    public var card: Card
    /// The payer's language, two letters, such as `ky`.
    public var language: String
    /// Where the payer's browser goes after success: a web page or an app's deep link.
    public var returnURL: String?
    /// Where the gateway sends its callbacks: an absolute http or https URL.
    public var callbackURL: String
    /// The payer's IPv4 or IPv6 address.
    public var ip: String
    /// The payer's e-mail.
    public var email: String?

    /// Creates a request. Nothing is checked here: sending it reports all violations at once.
    public init(
        orderNumber: String, description: String, amount: some ExactAmount, currency: String, card: Card, language: String,
        returnURL: String? = nil, callbackURL: String, ip: String, email: String? = nil
    ) {
        self.orderNumber = orderNumber
        self.description = description
        self.amount = amount.exactAmount
        self.currency = currency
        self.card = card
        self.language = language
        self.returnURL = returnURL
        self.callbackURL = callbackURL
        self.ip = ip
        self.email = email
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
}

/// `description` is taken: it is what is paid for.
extension CardPayment: CustomDebugStringConvertible {
    /// All fields that are there, the card masked.
    public var debugDescription: String { described(self) }
}

extension CardPayment {
    var core: KassaGenerated.CardPayment {
        KassaGenerated.CardPayment(
            card: card.core, orderNumber: orderNumber, description: description, amount: amount, currency: currency,
            language: language, returnUrl: returnURL, callbackUrl: callbackURL, ip: ip, email: email)
    }
}

/// The gateway accepted a card payment. **It is not paid yet**: follow ``nextStep``, then watch ``payment``.
public struct CardPaymentCreated: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The payment reference. Store it in place of the one made before sending: it may hold more numbers.
    public let payment: PaymentRef
    /// The next step.
    public let nextStep: NextStep
    /// The gateway's code, `110`.
    public let code: String?
    /// The amount as the gateway reports it.
    public let amount: Decimal?
    /// The currency as the gateway reports it.
    public let currency: String?
    /// The whole response, with secrets masked.
    public let raw: String

    /// For tests of your own code.
    public init(
        payment: PaymentRef, nextStep: NextStep, code: String? = nil, amount: Decimal? = nil, currency: String? = nil,
        raw: String = ""
    ) {
        self.payment = payment
        self.nextStep = nextStep
        self.code = code
        self.amount = amount
        self.currency = currency
        self.raw = raw
    }

    /// All fields that are there.
    public var description: String { described(self) }
}

/// The next step after a card payment was accepted.
public enum NextStep: Hashable, Sendable, Codable {
    /// Open this page for the payer, who confirms the payment there (3DS). Always https, or loopback.
    case openConfirmation(url: URL)
    /// Nothing to confirm. Query the status: only a status query decides whether the payment is charged. `status` is the status word in
    /// the create response, such as `Success`.
    case checkStatus(status: String?)
}

extension NextStep: CustomStringConvertible {
    /// Which one, and what it holds.
    public var description: String {
        switch self {
        case .openConfirmation(let url): "openConfirmation(\(url.absoluteString))"
        case .checkStatus(let status): "checkStatus(\(status ?? ""))"
        }
    }
}

extension CardPaymentCreated {
    /// - Throws: ``PaymentError/outcomeUnknown(payment:httpStatus:code:reason:detail:body:)`` if the page is not a URL for Foundation.
    ///   The payment was accepted, so nothing else would be true.
    init(_ core: KassaGenerated.CardPaymentCreated) throws {
        let payment = PaymentRef(core.payment)
        let nextStep: NextStep
        switch core.nextStep {
        case .checkStatus(let status): nextStep = .checkStatus(status: status)
        case .openConfirmation(let text):
            guard let url = URL(string: text) else {
                let detail = "the response's ConfirmationUrl cannot be read"
                throw PaymentError.outcomeUnknown(
                    payment: payment, code: core.code, reason: nil, detail: detail, body: core.raw)
            }
            nextStep = .openConfirmation(url: url)
        }
        self.init(
            payment: payment, nextStep: nextStep, code: core.code, amount: core.amount, currency: core.currency, raw: core.raw)
    }
}
