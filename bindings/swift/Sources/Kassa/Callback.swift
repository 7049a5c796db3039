import Foundation
import struct Foundation.Decimal  // and not the alias of the generated code
internal import KassaGenerated

/// A callback (webhook): the gateway's notification that the status of a payment changed.
///
/// **It is only a hint**: callbacks are not signed, so anybody can send one, and it can come late, twice or never. Verify it with
/// ``Gateway/verifyCallback(_:payment:)`` before you ship anything.
///
/// Only the order number is required. Any other field may be absent; ``missing`` names those that the interface requires.
public struct Callback: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The order number of the payment.
    public var orderNumber: String
    /// The amount, if it can be read. **For QR payments the unit is not known** (som or tyiyn).
    public var amount: Decimal?
    /// The currency, if given.
    public var currency: String?
    /// The status that the callback claims, read with the default status words, if given. To read it with a dialect: ``status(by:)``.
    public var status: PaymentStatus?
    /// When the payment was made, if the text can be parsed.
    public var dateCreated: LocalDateTime?
    /// The date as received, if given.
    public var dateCreatedText: String?
    /// The payee, only for QR payments.
    public var requisite: String?
    /// Who processed the payment, if given.
    public var provider: Provider?
    /// The required fields that are absent or cannot be read, by their names in the interface: `amount`, `status`, `dateCreated`,
    /// `provider`. The callback is a hint even without them.
    public var missing: [String]
    /// The whole body.
    public var raw: String

    /// For tests of your own code. `raw` must have the same content: the status word and the transaction id of a QR payment are read from
    /// it.
    public init(
        orderNumber: String, amount: Decimal? = nil, currency: String? = nil, status: PaymentStatus? = nil,
        dateCreated: LocalDateTime? = nil, dateCreatedText: String? = nil, requisite: String? = nil, provider: Provider? = nil,
        missing: [String] = [], raw: String
    ) {
        self.orderNumber = orderNumber
        self.amount = amount
        self.currency = currency
        self.status = status
        self.dateCreated = dateCreated
        self.dateCreatedText = dateCreatedText
        self.requisite = requisite
        self.provider = provider
        self.missing = missing
        self.raw = raw
    }

    /// Parses the body of a callback (`docs/interface.md#callback-body`): a JSON object, or a form (`application/x-www-form-urlencoded`).
    /// Field names match in any case (`OrderNumber`, `order_number`), also inside a member `data`. Unknown fields are kept in ``raw``.
    ///
    /// - Throws: ``PaymentError/invalid(violations:)`` if there is no order number.
    public init(_ body: String) throws {
        self.init(try translated { try parseCallback(body: checked(body, "callback")) })
    }

    /// Reads the body of a callback from its bytes, which must be UTF-8.
    ///
    /// - Throws: As for a text, or if the bytes are not UTF-8.
    public init(_ body: Data) throws {
        guard let text = String(data: body, encoding: .utf8) else {
            let violation = Violation(field: "callback", rule: .format, text: "callback is not UTF-8")
            throw PaymentError.invalid(violations: [violation])
        }
        try self.init(text)
    }

    /// Reads one that was written. One of an earlier version has no ``missing``, and lacks nothing.
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            orderNumber: try fields.decode(String.self, forKey: .orderNumber),
            amount: try fields.decodeIfPresent(Decimal.self, forKey: .amount),
            currency: try fields.decodeIfPresent(String.self, forKey: .currency),
            status: try fields.decodeIfPresent(PaymentStatus.self, forKey: .status),
            dateCreated: try fields.decodeIfPresent(LocalDateTime.self, forKey: .dateCreated),
            dateCreatedText: try fields.decodeIfPresent(String.self, forKey: .dateCreatedText),
            requisite: try fields.decodeIfPresent(String.self, forKey: .requisite),
            provider: try fields.decodeIfPresent(Provider.self, forKey: .provider),
            missing: try fields.decodeIfPresent([String].self, forKey: .missing) ?? [],
            raw: try fields.decode(String.self, forKey: .raw))
    }

    /// A deduplication key: the same text for every copy of the same notification, however it is formatted. **Nil if the callback has no
    /// status**: the next callback about the same payment may look the same and mean something new, so treat each one as new.
    ///
    /// - Throws: ``PaymentError/invalid(violations:)`` if ``amount`` is not a number.
    public func dedupKey() throws -> String? {
        try translated { try core.dedupKey() }
    }

    /// The status that the callback claims, **read with the gateway's dialect**, if given; ``status`` uses only the default status words.
    /// The dialect's global lists apply; for a callback about a QR payment, which has a ``requisite``, those of the endpoint `qr_status`
    /// as well.
    ///
    /// - Throws: ``PaymentError/invalid(violations:)`` if ``amount`` is not a number.
    public func status(by dialect: Dialect) throws -> PaymentStatus? {
        try translated { try core.statusBy(dialect: dialect.core) }.map(PaymentStatus.init)
    }

    /// A payment reference for status queries, for a merchant who has stored none; nil for a QR payment, whose callback has no number
    /// that can be queried. **Its number is only claimed**, and the requested amount is unknown, so no check of it ever says that it was
    /// charged: query with the reference that you stored at the sale.
    ///
    /// - Throws: ``PaymentError/invalid(violations:)`` if ``amount`` is not a number.
    public func paymentRef() throws -> PaymentRef? {
        try translated { try core.paymentRef() }.map(PaymentRef.init)
    }

    /// All fields that are there.
    public var description: String { described(self) }
}

/// The payer's return from the gateway's pages. **It is only a hint**: anybody can forge one. Verify it with
/// ``Gateway/verifyReturn(_:payment:)``.
public struct ReturnRedirect: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The order number, from `OrderNumber`.
    public let orderNumber: String
    /// The status code, from `statusCode`; `200` on success. Any text is accepted.
    public let statusCode: String?

    /// For tests of your own code.
    public init(orderNumber: String, statusCode: String? = nil) {
        self.orderNumber = orderNumber
        self.statusCode = statusCode
    }

    /// Parses the URL that the payer came back to. If a parameter occurs twice, the last one counts: the gateway appends its own after
    /// the merchant's.
    ///
    /// The gateway's parameters are also found in a badly assembled URL: after a `#`, after a second `?`, after `&amp;` or `;`, and after
    /// a `&` without any `?`.
    ///
    /// - Throws: ``PaymentError/invalid(violations:)`` if the text is not an absolute URI, or names no order.
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
            orderNumber: core.orderNumber, amount: core.amount, currency: core.currency, status: core.status.map(PaymentStatus.init),
            dateCreated: core.dateCreated.map(LocalDateTime.init), dateCreatedText: core.dateCreatedText,
            requisite: core.requisite, provider: core.provider.map(Provider.init), missing: core.missing, raw: core.raw)
    }

    var core: KassaGenerated.Callback {
        KassaGenerated.Callback(
            orderNumber: orderNumber, amount: amount, currency: currency, status: status?.core, dateCreated: dateCreated?.core,
            dateCreatedText: dateCreatedText, requisite: requisite, provider: provider?.core, missing: missing, raw: raw)
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
