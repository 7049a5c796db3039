import Foundation
import struct Foundation.Decimal  // and not the alias of the generated code
internal import KassaGenerated

/// The status of a payment. Only ``charged`` and ``rejected`` are final.
///
/// Words are case-insensitive. An unknown word is kept as received, and is never final.
public enum PaymentStatus: Hashable, Sendable {
    /// The money was taken (CHARGE).
    case charged
    /// The payment ended without the money being taken (Reject).
    case rejected
    /// Any other word of the gateway, as received.
    case other(String)

    /// True if the status is final.
    public var isFinal: Bool { core.isFinal() }
}

/// Serialization: `"charged"`, `"rejected"`, or `{"other": "HOLD"}`. Any other text is read as another word, never as a final status.
extension PaymentStatus: Codable {
    private enum CodingKeys: String, CodingKey { case other }

    /// Reads it.
    public init(from decoder: any Decoder) throws {
        if let name = try? decoder.singleValueContainer().decode(String.self) {
            self =
                switch name {
                case "charged": .charged
                case "rejected": .rejected
                default: .other(name)
                }
        } else {
            self = .other(try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .other))
        }
    }

    /// Writes it. Other words of the gateway have a separate form, so that its "charged" is never read as a charge.
    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .charged, .rejected:
            var container = encoder.singleValueContainer()
            try container.encode(description)
        case .other(let word):
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(word, forKey: .other)
        }
    }
}

extension PaymentStatus: CustomStringConvertible {
    /// `charged`, `rejected`, or another word in quotes, so that the gateway's "charged" is never mistaken for a charge.
    public var description: String { core.asText() }
}

/// The gateway's answer to a question about a payment. What the gateway did not say is nil, never zero or empty.
///
/// It is `Codable`, as are all answers: an object with these names, the amount as a text such as `"100.1"`. A JSON number is refused,
/// because Foundation reads it through a float.
public struct StatusReport: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The payment's status.
    public var status: PaymentStatus
    /// The gateway's code, such as `200`.
    public var code: String?
    /// The gateway's message, such as `PAYMENT_SUCCESS`, in the requested language.
    public var reason: String?
    /// The order number as the gateway reports it.
    public var orderNumber: String?
    /// The amount as the gateway reports it. **For QR payments the unit is not known** (som or tyiyn) unless the dialect states it.
    public var amount: Decimal?
    /// The currency as the gateway reports it.
    public var currency: String?
    /// The whole response, with secrets masked.
    public var raw: String

    /// For tests of your own code.
    public init(
        status: PaymentStatus, code: String? = nil, reason: String? = nil, orderNumber: String? = nil, amount: Decimal? = nil,
        currency: String? = nil, raw: String = ""
    ) {
        self.status = status
        self.code = code
        self.reason = reason
        self.orderNumber = orderNumber
        self.amount = amount
        self.currency = currency
        self.raw = raw
    }

    /// All fields that are there.
    public var description: String { described(self) }
}

extension PaymentStatus {
    init(_ core: KassaGenerated.PaymentStatus) {
        self =
            switch core {
            case .charged: .charged
            case .rejected: .rejected
            case .other(let word): .other(word)
            }
    }

    var core: KassaGenerated.PaymentStatus {
        switch self {
        case .charged: .charged
        case .rejected: .rejected
        case .other(let word): .other(word)
        }
    }
}

extension StatusReport {
    init(_ core: KassaGenerated.StatusReport) {
        self.init(
            status: PaymentStatus(core.status), code: core.code, reason: core.reason, orderNumber: core.orderNumber,
            amount: core.amount, currency: core.currency, raw: core.raw)
    }

    var core: KassaGenerated.StatusReport {
        var core = withoutAmount
        core.amount = amount
        return core
    }

    var withoutAmount: KassaGenerated.StatusReport {
        KassaGenerated.StatusReport(
            status: status.core, code: code, reason: reason, orderNumber: orderNumber, amount: nil, currency: currency, raw: raw)
    }
}
