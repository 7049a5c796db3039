internal import KassaGenerated

/// Everything needed to ask about a payment again, and no secret: an app stores it **before** it sends the payment, and can then
/// find out what happened even after it was killed.
///
/// It has a short text form, which is meant to be stored as it is: ``description`` writes it, ``init(_:)`` reads it, and `Codable`
/// uses it.
///
/// ```swift
/// let stored = PaymentRef.card("order-1").description  // kassa1:kind=card&order=order-1&provider=Cards
/// let payment = try PaymentRef(stored)
/// ```
///
/// ``Gateway/watch(_:policy:)`` asks by the gateway's number where it is known, by the merchant's number and the provider otherwise,
/// and by the transaction id for QR payments.
public struct PaymentRef: Hashable, Sendable {
    /// What kind of payment it is.
    public var kind: PaymentKind
    /// The merchant's order number; for a pay-form the number that its callback or return redirect names.
    public var orderNumber: String?
    /// The gateway's own order number, where it is known.
    public var gatewayNumber: String?
    /// Who carries the payment out.
    public var provider: Provider?
    /// The identifier of a QR transaction.
    public var transactionID: String?

    /// A reference, field by field. ``card(_:)``, ``mbank(_:)``, ``payForm(_:provider:)``, ``qr(_:)`` and ``unnumbered(_:)`` make the
    /// usual ones.
    public init(
        kind: PaymentKind, orderNumber: String? = nil, gatewayNumber: String? = nil, provider: Provider? = nil,
        transactionID: String? = nil
    ) {
        self.kind = kind
        self.orderNumber = orderNumber
        self.gatewayNumber = gatewayNumber
        self.provider = provider
        self.transactionID = transactionID
    }

    /// A card payment, by the merchant's order number.
    public static func card(_ orderNumber: String) -> PaymentRef {
        PaymentRef(cardPaymentRef(orderNumber: orderNumber))
    }

    /// A mobile-bank payment, by the merchant's order number.
    public static func mbank(_ orderNumber: String) -> PaymentRef {
        PaymentRef(mbankPaymentRef(orderNumber: orderNumber))
    }

    /// A payment made on a pay-form, by the order number and the provider that its callback names.
    public static func payForm(_ orderNumber: String, provider: Provider) -> PaymentRef {
        PaymentRef(payFormPaymentRef(orderNumber: orderNumber, provider: provider.core))
    }

    /// A QR payment, by its transaction id.
    public static func qr(_ transactionID: String) -> PaymentRef {
        PaymentRef(qrPaymentRef(transactionId: transactionID))
    }

    /// A payment of which nothing is known yet but its kind: on a pay-form, or by the gateway's own QR picture. It can be asked
    /// about once a callback or a return has told its number.
    public static func unnumbered(_ kind: PaymentKind) -> PaymentRef {
        PaymentRef(unnumberedPaymentRef(kind: kind.core))
    }

    /// Reads the stored text.
    ///
    /// - Throws: ``PaymentError/invalid(violations:)`` for a text of another version, with an unknown or doubled field, or without a
    ///   kind.
    public init(_ text: String) throws {
        self.init(try translated { try parsePaymentRef(text: checked(text, "paymentRef")) })
    }

    /// The same payment, with the gateway's own order number.
    public func withGatewayNumber(_ gatewayNumber: String) -> PaymentRef {
        PaymentRef(core.withGatewayNumber(gatewayNumber: gatewayNumber))
    }

    /// True where there is enough to ask the gateway with.
    public var canBeAskedAbout: Bool { core.canBeAskedAbout() }
}

extension PaymentRef: CustomStringConvertible, Codable {
    /// The text to store.
    public var description: String { core.asText() }

    /// Reads the stored text.
    ///
    /// - Throws: `DecodingError` where the text is damaged; its `underlyingError` is the ``PaymentError``.
    public init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        do {
            try self.init(text)
        } catch {
            throw damaged(at: decoder.codingPath, error.localizedDescription, error)
        }
    }

    /// Writes the text to store.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

/// The kinds of payment.
public enum PaymentKind: String, Hashable, Sendable, Codable, CaseIterable, CustomStringConvertible {
    /// A card payment made with card data.
    case card
    /// A mobile-bank payment.
    case mbank
    /// A payment made on the hosted pay-form.
    case payForm = "pay_form"
    /// A dynamic QR payment.
    case qr

    /// Its name, the same in every language.
    public var description: String { rawValue }
}

/// Who carries a payment out. A provider that this version does not know is carried, and cannot be asked about.
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
            provider: core.provider.map(Provider.init), transactionID: core.transactionId)
    }

    var core: KassaGenerated.PaymentRef {
        KassaGenerated.PaymentRef(
            kind: kind.core, orderNumber: orderNumber, gatewayNumber: gatewayNumber, provider: provider?.core,
            transactionId: transactionID)
    }
}

extension PaymentKind {
    init(_ core: KassaGenerated.PaymentKind) {
        self =
            switch core {
            case .card: .card
            case .mbank: .mbank
            case .payForm: .payForm
            case .qr: .qr
            }
    }

    var core: KassaGenerated.PaymentKind {
        switch self {
        case .card: .card
        case .mbank: .mbank
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
