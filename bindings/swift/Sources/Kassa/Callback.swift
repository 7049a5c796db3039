import Foundation
import struct Foundation.Decimal  // and not the alias of the generated code
internal import KassaGenerated

/// A notification that the gateway sends to the merchant when the status of a payment changes.
///
/// **It is a hint**: the interface shows no signature, so anybody can send one, and it can come late, twice or never. Ask the gateway
/// with ``Gateway/verifyCallback(_:payment:)`` before anything is shipped.
public struct Callback: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The order number of the payment.
    public var orderNumber: String
    /// The amount. **For QR payments the unit is not known** (som or tyiyn).
    public var amount: Decimal
    /// The currency, where it is given.
    public var currency: String?
    /// The status that the callback claims, by the default words.
    public var status: PaymentStatus
    /// When the payment was made, where the text of it is understood.
    public var dateCreated: LocalDateTime?
    /// The same as it came.
    public var dateCreatedText: String
    /// The payee, given for QR payments only.
    public var requisite: String?
    /// Who carried the payment out.
    public var provider: Provider
    /// The whole body.
    public var raw: String

    /// One made by hand, for tests of your own. `raw` has to say the same: the word of the status, and the transaction id of a QR
    /// payment, are read from there.
    public init(
        orderNumber: String, amount: Decimal, currency: String? = nil, status: PaymentStatus, dateCreated: LocalDateTime? = nil,
        dateCreatedText: String, requisite: String? = nil, provider: Provider, raw: String
    ) {
        self.orderNumber = orderNumber
        self.amount = amount
        self.currency = currency
        self.status = status
        self.dateCreated = dateCreated
        self.dateCreatedText = dateCreatedText
        self.requisite = requisite
        self.provider = provider
        self.raw = raw
    }

    /// Reads the body of a callback (`docs/interface.md#callback-body`). Fields that are not known are kept in ``raw``.
    ///
    /// - Throws: ``PaymentError/invalid(violations:)`` naming every field that is missing or cannot be read.
    public init(_ body: String) throws {
        self.init(try translated { try parseCallback(body: checked(body, "callback")) })
    }

    /// Reads the body of a callback from its bytes, which must be UTF-8.
    ///
    /// - Throws: As for a text.
    public init(_ body: Data) throws {
        guard let text = String(data: body, encoding: .utf8) else {
            let violation = Violation(field: "callback", rule: .format, text: "callback is not UTF-8")
            throw PaymentError.invalid(violations: [violation])
        }
        try self.init(text)
    }

    /// The same text for every copy of the same notification, however it is formatted: remember it, and a duplicate is seen.
    ///
    /// - Throws: ``PaymentError/invalid(violations:)`` where ``amount`` was replaced by what is no number.
    public func dedupKey() throws -> String {
        try translated { try core.dedupKey() }
    }

    /// What to ask about the payment with, for a merchant who has stored nothing; nil for a QR payment, whose callback has no number to
    /// ask by. **Its number is only claimed**, and what was asked for is not known, so no check of it ever says that it was charged: ask
    /// with the reference that was stored at the sale.
    ///
    /// - Throws: ``PaymentError/invalid(violations:)`` where ``amount`` was replaced by what is no number.
    public func paymentRef() throws -> PaymentRef? {
        try translated { try core.paymentRef() }.map(PaymentRef.init)
    }

    /// All fields that are there.
    public var description: String { described(self) }
}

/// The payer's return from the gateway's pages. **It is a hint**: anybody can make one. Ask the gateway with
/// ``Gateway/verifyReturn(_:payment:)``.
public struct ReturnRedirect: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The order number, from `OrderNumber`.
    public let orderNumber: String
    /// The status code, from `statusCode`; `200` on success. Any text is carried.
    public let statusCode: String?

    /// One made by hand, for tests of your own.
    public init(orderNumber: String, statusCode: String? = nil) {
        self.orderNumber = orderNumber
        self.statusCode = statusCode
    }

    /// Reads the URL that the payer came back to. Where a name occurs twice, the last one counts: the gateway adds its own after the
    /// merchant's.
    ///
    /// - Throws: ``PaymentError/invalid(violations:)`` where the text is not an absolute URI, or names no order.
    public init(_ url: String) throws {
        self.init(try translated { try parseReturnRedirect(url: checked(url, "url")) })
    }

    /// Reads the URL that the app was opened with.
    ///
    /// - Throws: As for a text.
    public init(_ url: URL) throws {
        try self.init(url.absoluteString)
    }

    /// All fields that are there.
    public var description: String { described(self) }
}

extension Callback {
    init(_ core: KassaGenerated.Callback) {
        self.init(
            orderNumber: core.orderNumber, amount: core.amount, currency: core.currency, status: PaymentStatus(core.status),
            dateCreated: core.dateCreated.map(LocalDateTime.init), dateCreatedText: core.dateCreatedText,
            requisite: core.requisite, provider: Provider(core.provider), raw: core.raw)
    }

    var core: KassaGenerated.Callback {
        KassaGenerated.Callback(
            orderNumber: orderNumber, amount: amount, currency: currency, status: status.core, dateCreated: dateCreated?.core,
            dateCreatedText: dateCreatedText, requisite: requisite, provider: provider.core, raw: raw)
    }
}

extension ReturnRedirect {
    init(_ core: KassaGenerated.ReturnRedirect) {
        self.init(orderNumber: core.orderNumber, statusCode: core.statusCode)
    }

    var core: KassaGenerated.ReturnRedirect {
        KassaGenerated.ReturnRedirect(orderNumber: orderNumber, statusCode: statusCode)
    }
}
