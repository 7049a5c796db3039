import Foundation
import struct Foundation.Decimal  // and not the alias of the generated code
internal import KassaGenerated

/// A request for a hosted page on which the payer picks how to pay (card, MBank or MegaPay).
///
/// The answer carries no identifier, so **put a reference of your own into the query of** ``callbackURL`` **and** ``returnURL``
/// (such as `?ref=cart-17`), store ``paymentRef()`` under it, and verify the callback and the return with that. Their order
/// number is only claimed: how to rule out that it is a QR payment's, the dialect says (`qr_numbers`).
///
/// The amount is a whole number, or `try Decimal(exactly: "100.10")`; see ``ExactAmount``.
public struct PayForm: Hashable, Sendable, CustomStringConvertible {
    /// The amount in KGS, at least 1 and with at most two decimals; under 5 the page will not offer MegaPay. Sent digit for digit.
    public let amount: Decimal
    /// What is paid for.
    public var serviceName: String
    /// Where the gateway sends its callbacks: an absolute http or https URL.
    public var callbackURL: String
    /// Where the payer's browser goes after success: a page, or a deep link of an app.
    public var returnURL: String
    /// The name of its entry in the gateway's ``Journal``, one of its own for each pay-form: where the callback's address has to say which
    /// payment it is about. ``newOrderNumber()`` makes one; so does the gateway where this is nil, which never sees it.
    public var entryID: String?

    /// A request. Nothing is checked here: sending it reports every violation at once.
    public init(
        amount: some ExactAmount, serviceName: String, callbackURL: String, returnURL: String, entryID: String? = nil
    ) {
        self.amount = amount.exactAmount
        self.serviceName = serviceName
        self.callbackURL = callbackURL
        self.returnURL = returnURL
        self.entryID = entryID
    }

    /// What to store **before** sending: what was asked for. The payer chooses how to pay, so the payment has no number until a callback
    /// or a return claims one: see ``Gateway/verifyCallback(_:payment:)``.
    ///
    /// - Throws: ``PaymentError/invalid(violations:)`` where the amount is not a number that can be sent.
    public func paymentRef() throws -> PaymentRef {
        PaymentRef(try translated { try core.paymentRef() })
    }

    /// What is worth a second look before sending. It blocks nothing.
    ///
    /// - Throws: ``PaymentError/invalid(violations:)`` where the amount is not a number that can be sent.
    public func advice() throws -> [Advice] {
        try translated { try core.advice() }.map(Advice.init)
    }

    /// All fields that are there.
    public var description: String { described(self) }
}

/// A hosted page, ready for the payer.
public struct PayFormCreated: Hashable, Sendable, Codable, CustomStringConvertible {
    /// What was asked for, to verify the callback and the return with.
    public let payment: PaymentRef
    /// The page to open in a new browser window. Always https, or loopback.
    public let payFormURL: URL
    /// The whole response, with secrets masked.
    public let raw: String

    /// One made by hand, for tests of your own.
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
    /// - Throws: ``PaymentError/unexpected(detail:httpStatus:code:body:)`` where the page is not a URL for Foundation.
    init(_ core: KassaGenerated.PayFormCreated) throws {
        guard let url = URL(string: core.payFormUrl) else {
            throw PaymentError.unexpected(detail: "the response's payFormUrl cannot be read", body: core.raw)
        }
        self.init(payment: PaymentRef(core.payment), payFormURL: url, raw: core.raw)
    }
}
