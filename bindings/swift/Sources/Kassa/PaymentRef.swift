import Foundation
import struct Foundation.Decimal  // and not the alias of the generated code
internal import KassaGenerated

/// Everything needed to query a payment again **and to know whether the answer is about it**, and no secret: an app stores it
/// **before** it sends the payment, and can then find out what happened even after it was killed.
///
/// Take it from the request (``CardPayment/paymentRef()`` and the like), store it, send, and replace it with the reference from the
/// answer, which may have more numbers. Store its short text form: ``description`` writes it, ``init(_:)`` reads it, and `Codable` uses
/// it. To store what the payer was shown (a page, a code) as well, use a ``PaymentEntry``.
///
/// ```swift
/// let payment = try PaymentRef.card("order-1", amount: 250, currency: "KGS")
/// let stored = payment.description  // kassa1:kind=card&order=order-1&provider=Cards&amount=250&currency=KGS
/// let again = try PaymentRef(stored)  // the same payment
/// ```
///
/// ``Gateway/check(_:)`` and ``Gateway/watch(_:policy:)`` query by the transaction for QR payments, else by the gateway's number if
/// known, else by the merchant's number and the provider. If a final status queried by the gateway's number does not name the merchant's
/// number, Kassa also queries by the merchant's number. The gateway's report is compared with its amount and currency.
public struct PaymentRef: Hashable, Sendable {
    /// The kind of payment.
    public var kind: PaymentKind
    /// The merchant's order number; for a pay-form the number from its callback or return.
    public var orderNumber: String?
    /// The gateway's own order number, if known.
    public var gatewayNumber: String?
    /// Who carries the payment out.
    public var provider: Provider?
    /// The identifier of a QR transaction.
    public var transactionID: String?
    /// The identifier for the confirmation of a mobile-bank payment, **as JSON**: `"abc"` with its quotes, or `123`. Set if the dialect
    /// names it.
    public var confirmIdentifier: String?
    /// The requested amount, in units of the currency (for KGS: som); nil if unknown, as for a QR code without an amount.
    public let amount: Decimal?
    /// The requested currency.
    public var currency: String?
    /// True if the order number, or the transaction of a QR payment, was not chosen by the merchant but only claimed by a callback or a
    /// return. **Anybody can claim one**, so such a payment counts as charged only if the gateway reports the requested amount.
    public var isClaimed: Bool
    /// The id of the entry in a ``Journal`` for a payment without a number: a pay-form or a QR code. The gateway never sees it.
    public var entryID: String?
    /// True if the transaction of a QR payment was read from the code itself, after Kassa checked the code's amount. Only the answer of
    /// ``Gateway/createQrData(_:)`` sets it. **A charge that is reported without an amount counts only for such a payment.**
    public var transactionFromCode: Bool

    /// A reference, field by field. ``card(_:amount:currency:)``, ``mbank(_:amountSom:)``, ``megapay(_:amount:)``, ``payForm(amount:)`` and
    /// ``qr(sumTyiyn:)`` make the usual ones.
    public init(
        kind: PaymentKind, orderNumber: String? = nil, gatewayNumber: String? = nil, provider: Provider? = nil,
        transactionID: String? = nil, confirmIdentifier: String? = nil, amount: (any ExactAmount)? = nil, currency: String? = nil,
        isClaimed: Bool = false, entryID: String? = nil, transactionFromCode: Bool = false
    ) {
        self.kind = kind
        self.orderNumber = orderNumber
        self.gatewayNumber = gatewayNumber
        self.provider = provider
        self.transactionID = transactionID
        self.confirmIdentifier = confirmIdentifier
        self.amount = amount?.exactAmount
        self.currency = currency
        self.isClaimed = isClaimed
        self.entryID = entryID
        self.transactionFromCode = transactionFromCode
    }

    /// A card payment by the merchant's order number, with the requested amount and currency.
    ///
    /// - Throws: ``PaymentError/invalid(violations:)`` if the amount is not a number that can be sent.
    public static func card(_ orderNumber: String, amount: some ExactAmount, currency: String) throws -> PaymentRef {
        let amount = amount.exactAmount
        return PaymentRef(
            try translated { try cardPaymentRef(orderNumber: orderNumber, amount: amount, currency: currency) })
    }

    /// A mobile-bank payment, by the merchant's order number, with the amount in **whole som**.
    public static func mbank(_ orderNumber: String, amountSom: Int) -> PaymentRef {
        PaymentRef(mbankPaymentRef(orderNumber: orderNumber, amountSom: Int64(amountSom)))
    }

    /// A payment from a MegaPay wallet, by the merchant's order number, with the amount in KGS without the commission.
    ///
    /// - Throws: ``PaymentError/invalid(violations:)`` if the amount is not a number that can be sent.
    public static func megapay(_ orderNumber: String, amount: some ExactAmount) throws -> PaymentRef {
        let amount = amount.exactAmount
        return PaymentRef(try translated { try megapayPaymentRef(orderNumber: orderNumber, amount: amount) })
    }

    /// A payment on a pay-form, with the amount in KGS. It has no number until a callback or a return claims one, and cannot be queried
    /// before: see ``withClaimedNumber(_:provider:)``.
    ///
    /// - Throws: ``PaymentError/invalid(violations:)`` if the amount is not a number that can be sent.
    public static func payForm(amount: some ExactAmount) throws -> PaymentRef {
        let amount = amount.exactAmount
        return PaymentRef(try translated { try payFormPaymentRef(amount: amount) })
    }

    /// A payment by a dynamic QR code, with the amount in **whole tyiyn**; nil if the payer enters it. It has no transaction yet: see
    /// ``withTransactionID(_:)``.
    public static func qr(sumTyiyn: Int?) -> PaymentRef {
        PaymentRef(qrPaymentRef(sumTyiyn: sumTyiyn.map(Int64.init)))
    }

    /// Parses the stored text. Surrounding white space, as from files and fixed-width columns, is ignored.
    ///
    /// - Throws: ``PaymentError/invalid(violations:)`` for a text of another version, a truncated text, inner white space, an unknown or
    ///   repeated field, a missing kind, or an amount that is not a decimal number.
    public init(_ text: String) throws {
        self.init(try translated { try parsePaymentRef(text: checked(text, "paymentRef")) })
    }

    /// The same payment with the gateway's own order number.
    ///
    /// - Throws: ``PaymentError/invalid(violations:)`` if ``amount`` is not a number that can be sent.
    public func withGatewayNumber(_ gatewayNumber: String) throws -> PaymentRef {
        PaymentRef(try translated { try core.withGatewayNumber(gatewayNumber: gatewayNumber) })
    }

    /// The same QR payment with its transaction id from the create response.
    ///
    /// - Throws: As ``withGatewayNumber(_:)`` does.
    public func withTransactionID(_ transactionID: String) throws -> PaymentRef {
        PaymentRef(try translated { try core.withTransactionId(transactionId: transactionID) })
    }

    /// The same payment with the order number and the provider that a callback or a return claims. Without a provider, each one is
    /// queried.
    ///
    /// **One payment pays for one order.** A payer can claim one payment again for another cart of the same amount: store the accepted
    /// numbers, and accept none twice (replay).
    ///
    /// - Throws: As ``withGatewayNumber(_:)`` does.
    public func withClaimedNumber(_ orderNumber: String, provider: Provider?) throws -> PaymentRef {
        PaymentRef(try translated { try core.withClaimedNumber(orderNumber: orderNumber, provider: provider?.core) })
    }

    /// The same payment of a pay-form or a QR code, with the name of its entry in a journal. Give the request the same one
    /// (``PayForm/entryID``): for a reference that goes into a signed address (``CallbackKey``) before the request is made.
    public func withEntryID(_ entryID: String) -> PaymentRef {
        var named = self
        named.entryID = entryID
        return named
    }

    /// True if the payment has a number to query by: the transaction of a QR payment, the gateway's number, or an order number. Only then
    /// it can be checked or watched.
    public var canBeChecked: Bool { (try? withoutAmount.canBeChecked()) ?? false }
}

extension PaymentRef: CustomStringConvertible, Codable {
    /// The text to store. (If the amount is not a number or has too many digits, this is a list of all fields, which ``init(_:)``
    /// refuses. No request has such a reference.)
    public var description: String { (try? core.asText()) ?? described(self) }

    /// Reads the stored text.
    ///
    /// - Throws: `DecodingError` if the text is damaged; its `underlyingError` is the ``PaymentError``.
    public init(from decoder: any Decoder) throws {
        self = try decoder.storedText(Self.init)
    }

    /// Writes the text to store.
    ///
    /// - Throws: `EncodingError` if ``amount`` is not a number that can be sent.
    public func encode(to encoder: any Encoder) throws {
        try encoder.store(text: try? core.asText(), of: self)
    }
}

/// The kinds of payment.
public enum PaymentKind: String, Hashable, Sendable, Codable, CaseIterable, CustomStringConvertible {
    /// A card payment made with card data.
    case card
    /// A mobile-bank payment.
    case mbank
    /// A payment from a MegaPay wallet, made with the payer's PIN.
    case megapay
    /// A payment on the gateway's pay-form.
    case payForm = "pay_form"
    /// A dynamic QR payment.
    case qr

    /// Its name, the same in every language.
    public var description: String { rawValue }
}

/// Who processes the payment. A provider unknown to this version is kept, and cannot be queried.
public enum Provider: Hashable, Sendable {
    /// Payment cards.
    case cards
    /// The MegaPay wallet.
    case megaPay
    /// The MBank mobile bank.
    case mbank
    /// Any other, by its name. ``init(name:)`` finds out whether the name is a known one.
    case other(String)

    /// The provider by its name on the wire, recognised in any letter case.
    public init(name: String) {
        self.init(providerFromName(name: name))
    }

    /// Its name on the wire.
    public var name: String { core.asText() }
}

/// Serialization: its name on the wire, as one text.
extension Provider: Codable {
    /// Reads the name.
    public init(from decoder: any Decoder) throws {
        self.init(name: try checked(decoder.singleValueContainer().decode(String.self), "provider"))
    }

    /// Writes the name.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(name)
    }
}

extension Provider: CustomStringConvertible {
    /// Its name on the wire.
    public var description: String { name }
}

extension PaymentRef {
    init(_ core: KassaGenerated.PaymentRef) {
        self.init(
            kind: PaymentKind(core.kind), orderNumber: core.orderNumber, gatewayNumber: core.gatewayNumber,
            provider: core.provider.map(Provider.init), transactionID: core.transactionId,
            confirmIdentifier: core.confirmIdentifier, amount: core.amount, currency: core.currency, isClaimed: core.isClaimed,
            entryID: core.entryId, transactionFromCode: core.transactionFromCode)
    }

    var core: KassaGenerated.PaymentRef {
        var core = withoutAmount
        core.amount = amount
        return core
    }

    /// For what needs no amount, and cannot fail: one that is none in the core (not a number, too many digits) could not be handed over.
    var withoutAmount: KassaGenerated.PaymentRef {
        KassaGenerated.PaymentRef(
            kind: kind.core, orderNumber: orderNumber, gatewayNumber: gatewayNumber, provider: provider?.core,
            transactionId: transactionID, confirmIdentifier: confirmIdentifier, amount: nil, currency: currency, isClaimed: isClaimed,
            entryId: entryID, transactionFromCode: transactionFromCode)
    }
}

extension PaymentKind {
    init(_ core: KassaGenerated.PaymentKind) {
        self =
            switch core {
            case .card: .card
            case .mbank: .mbank
            case .megapay: .megapay
            case .payForm: .payForm
            case .qr: .qr
            }
    }

    var core: KassaGenerated.PaymentKind {
        switch self {
        case .card: .card
        case .mbank: .mbank
        case .megapay: .megapay
        case .payForm: .payForm
        case .qr: .qr
        }
    }
}

extension Provider {
    init(_ core: KassaGenerated.Provider) {
        self =
            switch core {
            case .cards: .cards
            case .megaPay: .megaPay
            case .mBank: .mbank
            case .other(let name): .other(name)
            }
    }

    var core: KassaGenerated.Provider {
        switch self {
        case .cards: .cards
        case .megaPay: .megaPay
        case .mbank: .mBank
        case .other(let name): .other(name)
        }
    }
}
