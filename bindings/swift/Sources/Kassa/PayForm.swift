import Foundation
import struct Foundation.Decimal  // and not the alias of the generated code
internal import KassaGenerated

/// A request for a pay-form: the gateway's own page on which the payer chooses a method (card, MBank or MegaPay).
///
/// The answer has no identifier, so **put your own reference into the query of** ``callbackURL`` **and** ``returnURL`` (such as
/// `?ref=cart-17`), store ``paymentRef()`` under it, and verify the callback and the return with it. Their order number is only claimed;
/// `qr_numbers` of the dialect tells how to exclude that it is a QR payment's.
///
/// The amount is a whole number, or `try Decimal(exactly: "100.10")`; see ``ExactAmount``.
public struct PayForm: Hashable, Sendable, CustomStringConvertible {
    /// The amount in KGS, at least 1 and with at most two decimals; under 5 the page will not offer MegaPay. Sent digit for digit.
    public let amount: Decimal
    /// What is paid for.
    public var serviceName: String
    /// Where the gateway sends its callbacks: an absolute http or https URL.
    public var callbackURL: String
    /// Where the payer's browser goes after success: a web page or an app's deep link.
    public var returnURL: String
    /// The id of its entry in the gateway's ``Journal``, unique for each pay-form. Set it if the callback URL must identify the payment;
    /// ``newOrderNumber()`` makes one. Generated if nil. The gateway never sees it.
    public var entryID: String?

    /// Creates a request. Nothing is checked here: sending it reports all violations at once.
    public init(
        amount: some ExactAmount, serviceName: String, callbackURL: String, returnURL: String, entryID: String? = nil
    ) {
        self.amount = amount.exactAmount
        self.serviceName = serviceName
        self.callbackURL = callbackURL
        self.returnURL = returnURL
        self.entryID = entryID
    }

    /// The payment reference, with the requested amount. Store it **before** sending. The payer chooses the method, so the payment has no
    /// number until a callback or a return claims one: see ``Gateway/verifyCallback(_:payment:)``.
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

/// A pay-form (the gateway's own payment page), ready for the payer.
public struct PayFormCreated: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The payment reference with the requested amount, to verify the callback and the return.
    public let payment: PaymentRef
    /// The page to open in a new browser window. Always https, or loopback.
    public let payFormURL: URL
    /// The whole response, with secrets masked.
    public let raw: String

    /// For tests of your own code.
    public init(payment: PaymentRef, payFormURL: URL, raw: String = "") {
        self.payment = payment
        self.payFormURL = payFormURL
        self.raw = raw
    }

    /// All fields.
    public var description: String { described(self) }
}

extension PayForm {
    var core: KassaGenerated.PayForm {
        KassaGenerated.PayForm(
            amount: amount, serviceName: serviceName, callbackUrl: callbackURL, returnUrl: returnURL, entryId: entryID)
    }
}

extension PayFormCreated {
    /// - Throws: ``PaymentError/unexpected(detail:httpStatus:code:body:)`` if the page is not a URL for Foundation.
    init(_ core: KassaGenerated.PayFormCreated) throws {
        guard let url = URL(string: core.payFormUrl) else {
            throw PaymentError.unexpected(detail: "the response's payFormUrl cannot be read", body: core.raw)
        }
        self.init(payment: PaymentRef(core.payment), payFormURL: url, raw: core.raw)
    }
}
