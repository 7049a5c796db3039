import Foundation
internal import KassaGenerated

/// A payment code in ELQR, the format that the apps of all banks in Kyrgyzstan read.
///
/// The text of a code is a link: the part before its `#` opens an app, and the code itself follows. ``init(_:)`` parses a text,
/// ``text()`` writes one, and ``check(amountTyiyn:)`` tells whether the code is for the right amount.
///
/// ```swift
/// let code = Elqr(
///     kind: .dynamic, provider: "qr.example.kg", payee: "SHOP", mcc: "5812", serviceCode: "02", amountTyiyn: 39_000)
/// let read = try Elqr(code.text())  // equals `code`
/// try read.check(amountTyiyn: 39_000)
/// ```
///
/// To write a code, set a ``serviceCode`` or a ``merchantID``, and for a dynamic code an ``amountTyiyn``.
///
/// **The checksum detects mistakes, not forgery**: anybody can make a code with a right one. Show only codes from your gateway's answers.
public struct Elqr: Hashable, Sendable, Codable, CustomStringConvertible {
    /// Whether it is for one payment (tag 01).
    public var kind: ElqrKind
    /// The payment system of the payee, such as `qr.example.kg` (tag 32.00).
    public var provider: String
    /// The payee's name for the payer (tag 59).
    public var payee: String
    /// The merchant category code of ISO 18245 (tag 52).
    public var mcc: String
    /// The provider's code of the service (tag 32.01).
    public var serviceCode: String?
    /// The amount in **tyiyn** (tag 54). Some codes without an amount say 0.
    public var amountTyiyn: Int?
    /// The payee's number at the provider: a phone number or an account (tag 32.10).
    public var recipient: String?
    /// The provider's transaction number; some write another text here (tag 32.11).
    public var transaction: String?
    /// Whether the payer may change the amount (tag 32.12).
    public var amountEditable: Bool?
    /// Whether the payer may change the payee's number (tag 32.13).
    public var recipientEditable: Bool?
    /// The merchant's number (tag 33.00).
    public var merchantID: String?
    /// The name of the merchant's service (tag 33.01).
    public var merchantService: String?
    /// A comment on the payment (tag 34).
    public var comment: String?
    /// Further fields (tags 35 to 39).
    public var fields: [ElqrField]
    /// The currency by its number in ISO 4217: `417` is the som (tag 53).
    public var currency: String
    /// The link before the `#`; empty if there is none. It decides which app opens: see ``bankLinks()``.
    public var link: String
    /// Other fields by their tags. ``text()`` does not write them.
    public var other: [ElqrField]
    /// Whether the checksum matches the text (tag 63). If not, the code was damaged or changed.
    public var checksumOK: Bool

    /// A code to be written. Nothing is checked here: ``text()`` reports everything that the format does not allow.
    public init(
        kind: ElqrKind, provider: String, payee: String, mcc: String, serviceCode: String? = nil, amountTyiyn: Int? = nil,
        recipient: String? = nil, transaction: String? = nil, amountEditable: Bool? = nil, recipientEditable: Bool? = nil,
        merchantID: String? = nil, merchantService: String? = nil, comment: String? = nil, fields: [ElqrField] = [],
        currency: String = "417", link: String = "https://pay.payqr.kg/", other: [ElqrField] = [], checksumOK: Bool = true
    ) {
        self.kind = kind
        self.provider = provider
        self.payee = payee
        self.mcc = mcc
        self.serviceCode = serviceCode
        self.amountTyiyn = amountTyiyn
        self.recipient = recipient
        self.transaction = transaction
        self.amountEditable = amountEditable
        self.recipientEditable = recipientEditable
        self.merchantID = merchantID
        self.merchantService = merchantService
        self.comment = comment
        self.fields = fields
        self.currency = currency
        self.link = link
        self.other = other
        self.checksumOK = checksumOK
    }

    /// Parses the text of a code: a link with the code after its `#`, percent-encoded or not, or only the code.
    ///
    /// A wrong checksum or a foreign currency is accepted here and reported in ``checksumOK`` and ``currency``; ``check(amountTyiyn:)``
    /// refuses both.
    ///
    /// - Throws: ``PaymentError/invalid(violations:)`` if the text is not ELQR or is damaged; the error names the tag and the rule.
    public init(_ text: String) throws {
        self.init(try translated { try parseElqr(text: checked(text, "elqr")) })
    }

    /// The text of the code with a new checksum, to be drawn with ``QrCode`` or opened as a link.
    ///
    /// - Throws: ``PaymentError/invalid(violations:)`` with everything that the format does not allow.
    public func text() throws -> String {
        try translated { try core().text() }
    }

    /// Checks that the code is for this amount in **tyiyn**: the checksum is right, the currency is the som, and the amount
    /// matches. If ``amountEditable`` is true, the payer may still pay another amount.
    ///
    /// - Throws: ``PaymentError/invalid(violations:)`` with everything that differs.
    public func check(amountTyiyn: Int) throws {
        try translated { try core().check(amountTyiyn: Int64(amountTyiyn)) }
    }

    /// Links that open the code in a bank's app, one per bank, for a phone that shows the code itself. The first is for any bank. Some
    /// URLs come only from public lists.
    ///
    /// - Throws: As ``text()``.
    public func bankLinks() throws -> [BankLink] {
        let links = try translated { try core().bankLinks() }
        // The core percent-encodes the code, so each is a URL for Foundation.
        return links.compactMap { link in URL(string: link.url).map { BankLink(bank: link.bank, url: $0) } }
    }

    /// All fields that are there.
    public var description: String { described(self) }
}

/// Whether a code is for one payment.
public enum ElqrKind: String, Hashable, Sendable, Codable, CaseIterable, CustomStringConvertible {
    /// A code for any number of payments, such as a sticker at a checkout counter.
    case `static`
    /// A code for one payment.
    case dynamic

    /// Its name, the same in every language.
    public var description: String { rawValue }
}

/// An additional field of a code (tags 35 to 39), such as a table number; or one with an unknown tag.
public struct ElqrField: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The tag and the sub-tag, such as `35.00`.
    public var tag: String
    /// The whole value. For an additional field: `key:label:value:title:visible`, where `visible` is `11` for yes and `12` for no.
    public var text: String

    /// A field by its tag.
    public init(tag: String, text: String) {
        self.tag = tag
        self.text = text
    }

    /// All fields.
    public var description: String { described(self) }
}

/// A link that opens a code in the app of a bank.
public struct BankLink: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The name of the bank or wallet; `ELQR` for any of them.
    public let bank: String
    /// The link.
    public let url: URL

    /// For tests of your own code.
    public init(bank: String, url: URL) {
        self.bank = bank
        self.url = url
    }

    /// All fields.
    public var description: String { described(self) }
}

extension Elqr {
    init(_ core: KassaGenerated.Elqr) {
        self.init(
            kind: ElqrKind(core.kind), provider: core.provider, payee: core.payee, mcc: core.mcc, serviceCode: core.serviceCode,
            amountTyiyn: core.amountTyiyn.map { Int($0) }, recipient: core.recipient, transaction: core.transaction,
            amountEditable: core.amountEditable, recipientEditable: core.recipientEditable, merchantID: core.merchantId,
            merchantService: core.merchantService, comment: core.comment, fields: core.fields.map(ElqrField.init),
            currency: core.currency, link: core.link, other: core.other.map(ElqrField.init), checksumOK: core.checksumOk)
    }

    /// - Throws: ``PaymentError/invalid(violations:)`` if a text is too long to be handed on.
    private func core() throws -> KassaGenerated.Elqr {
        for text in texts { _ = try checked(text, "elqr") }
        return KassaGenerated.Elqr(
            link: link, kind: kind.core, provider: provider, serviceCode: serviceCode, recipient: recipient, transaction: transaction,
            amountEditable: amountEditable, recipientEditable: recipientEditable, merchantId: merchantID,
            merchantService: merchantService, comment: comment, fields: fields.map(\.core), mcc: mcc, currency: currency,
            amountTyiyn: amountTyiyn.map { Int64($0) }, payee: payee, other: other.map(\.core), checksumOk: checksumOK)
    }

    private var texts: [String] {
        let optional: [String?] = [serviceCode, recipient, transaction, merchantID, merchantService, comment]
        let inFields = (fields + other).flatMap { field in [field.tag, field.text] }
        return [link, provider, mcc, currency, payee] + optional.compactMap { $0 } + inFields
    }
}

extension ElqrKind {
    init(_ core: KassaGenerated.ElqrKind) {
        self =
            switch core {
            case .static: .static
            case .dynamic: .dynamic
            }
    }

    var core: KassaGenerated.ElqrKind {
        switch self {
        case .static: .static
        case .dynamic: .dynamic
        }
    }
}

extension ElqrField {
    init(_ core: KassaGenerated.ElqrField) {
        self.init(tag: core.tag, text: core.text)
    }

    var core: KassaGenerated.ElqrField { KassaGenerated.ElqrField(tag: tag, text: text) }
}
