import Foundation
import struct Foundation.Decimal  // and not the alias of the generated code
internal import KassaGenerated

/// A notification that the gateway sends to the merchant when the status of a payment changes.
///
/// **It is a hint**: the interface shows no signature, so anybody can send one, and it can come late, twice or never. Ask the gateway
/// with ``Gateway/verifyCallback(_:payment:)`` before anything is shipped.
///
/// It needs an order number and no more. Any other field may be absent; ``missing`` names those that the interface requires.
public struct Callback: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The order number of the payment.
    public var orderNumber: String
    /// The amount, where it can be read. **For QR payments the unit is not known** (som or tyiyn).
    public var amount: Decimal?
    /// The currency, where it is given.
    public var currency: String?
    /// The status that the callback claims, by the default words, where it is given; by a dialect's: ``status(by:)``.
    public var status: PaymentStatus?
    /// When the payment was made, where the text of it is understood.
    public var dateCreated: LocalDateTime?
    /// The same as it came, where it is given.
    public var dateCreatedText: String?
    /// The payee, given for QR payments only.
    public var requisite: String?
    /// Who carried the payment out, where it is given.
    public var provider: Provider?
    /// The fields that the interface requires and that are absent or cannot be read, as the interface spells them: `amount`, `status`,
    /// `dateCreated`, `provider`. The callback is a hint without them.
    public var missing: [String]
    /// The whole body.
    public var raw: String

    /// One made by hand, for tests of your own. `raw` has to say the same: the word of the status, and the transaction id of a QR
    /// payment, are read from there.
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

    /// Reads the body of a callback (`docs/interface.md#callback-body`): a JSON object, or a form (`application/x-www-form-urlencoded`).
    /// Fields are found by their names in any case (`OrderNumber`, `order_number`), also inside a member `data`. Fields that are not known
    /// are kept in ``raw``.
    ///
    /// - Throws: ``PaymentError/invalid(violations:)`` where there is no order number.
    public init(_ body: String) throws {
        self.init(try translated { try parseCallback(body: checked(body, "callback")) })
    }

    /// Reads the body of a callback from its bytes, which must be UTF-8.
    ///
    /// - Throws: As for a text, and where the bytes are not UTF-8.
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

    /// The same text for every copy of the same notification, however it is formatted: remember it, and a duplicate is seen. **Nil where
    /// the callback has no status**: the next one about the same payment may look the same and tell of something new, so treat every such
    /// callback as a new one.
    ///
    /// - Throws: ``PaymentError/invalid(violations:)`` where ``amount`` was replaced by what is no number.
    public func dedupKey() throws -> String? {
        try translated { try core.dedupKey() }
    }

    /// The status that the callback claims, **by the words of the gateway's dialect**, where it is given; ``status`` is by the default
    /// words alone. The lists of the whole dialect count; for a callback about a QR payment, which has a ``requisite``, those of the
    /// endpoint `qr_status` as well.
    ///
    /// - Throws: ``PaymentError/invalid(violations:)`` where ``amount`` was replaced by what is no number.
    public func status(by dialect: Dialect) throws -> PaymentStatus? {
        try translated { try core.statusBy(dialect: dialect.core) }.map(PaymentStatus.init)
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
    /// The gateway's parameters are found as well where an address was put together carelessly: behind a `#`, after a second
    /// `?`, after `&amp;` or `;`, and after a `&` without any `?`.
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
