import Foundation
import struct Foundation.Decimal  // and not the alias of the generated code
internal import KassaGenerated

/// A notification that the gateway sends to the merchant when the status of a payment changes.
///
/// **It is a hint**: the interface shows no signature, so anybody can send one, and it can come late, twice or never. Ask the gateway
/// with ``Gateway/verifyCallback(_:expected:)`` before anything is shipped.
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

    /// What to ask about the payment with; a QR payment has nothing of that kind in its callback.
    ///
    /// - Throws: ``PaymentError/invalid(violations:)`` where ``amount`` was replaced by what is no number.
    public func paymentRef() throws -> PaymentRef? {
        try translated { try core.paymentRef() }.map(PaymentRef.init)
    }

    /// All fields that are there.
    public var description: String { described(self) }
}

/// What a merchant knows of a payment, to be compared with a callback.
///
/// **One payment pays for one order.** The number of a pay-form or QR payment is the gateway's own, so anybody who paid once can name
/// that payment in a callback for another cart of the same amount: remember which numbers were taken, and take none twice.
public struct ExpectedPayment: Hashable, Sendable, CustomStringConvertible {
    /// What was stored before the payment was sent; ``PaymentRef/unnumbered(_:)`` where its number is not known yet.
    public var payment: PaymentRef
    /// The amount in units of the currency (for KGS: som).
    public var amount: Decimal
    /// The currency's three letters.
    public var currency: String

    /// What is expected.
    public init(payment: PaymentRef, amount: Decimal, currency: String) {
        self.payment = payment
        self.amount = amount
        self.currency = currency
    }

    /// All fields.
    public var description: String { described(self) }
}

/// What the gateway says about a callback. Only ``confirmed(report:)`` with a charged report is a reason to ship: see ``isCharged``.
public enum CallbackVerdict: Hashable, Sendable {
    /// The payment is final, and nothing contradicts anything. **Act on the report's status.**
    case confirmed(report: StatusReport)
    /// The gateway says that the payment is still open. Watch it.
    case pending(report: StatusReport)
    /// The callback, the gateway's report and what the merchant expects do not agree. Do not act on it. `fields` are those that
    /// differ, as the interface spells them; `report` is the gateway's own, where it was asked.
    case contradicted(fields: [String], report: StatusReport?)
    /// Nothing can be proved: there is nothing to ask the gateway with (a QR payment without a transaction id, a provider that is not
    /// known), or nothing ties the payment to what is expected: it has no number of the merchant's own choice (no pay-form has one), and
    /// the gateway tells no amount to compare, or one of an unknown unit.
    case unverifiable

    /// True where the gateway itself says that the money was taken, and nothing contradicts it: the only reason to ship.
    public var isCharged: Bool { (try? core.isCharged()) ?? false }
}

extension CallbackVerdict: CustomStringConvertible {
    /// Which one, and what it holds.
    public var description: String {
        switch self {
        case .confirmed(let report): "confirmed(\(report))"
        case .pending(let report): "pending(\(report))"
        case .contradicted(let fields, let report):
            "contradicted(\(fields.joined(separator: ", "))\(report.map { "; \($0)" } ?? ""))"
        case .unverifiable: "unverifiable"
        }
    }
}

/// The payer's return from the gateway's pages. **It is a hint**: anybody can make one. The status decides.
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

extension ExpectedPayment {
    var core: KassaGenerated.ExpectedPayment {
        KassaGenerated.ExpectedPayment(payment: payment.core, amount: amount, currency: currency)
    }
}

extension CallbackVerdict {
    init(_ core: KassaGenerated.CallbackVerdict) {
        self =
            switch core {
            case .confirmed(let report): .confirmed(report: StatusReport(report))
            case .pending(let report): .pending(report: StatusReport(report))
            case .contradicted(let fields, let report):
                .contradicted(fields: fields, report: report.map(StatusReport.init))
            case .unverifiable: .unverifiable
            }
    }

    var core: KassaGenerated.CallbackVerdict {
        switch self {
        case .confirmed(let report): .confirmed(report: report.core)
        case .pending(let report): .pending(report: report.core)
        case .contradicted(let fields, let report): .contradicted(fields: fields, report: report?.core)
        case .unverifiable: .unverifiable
        }
    }
}

extension ReturnRedirect {
    init(_ core: KassaGenerated.ReturnRedirect) {
        self.init(orderNumber: core.orderNumber, statusCode: core.statusCode)
    }
}
