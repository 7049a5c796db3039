internal import KassaGenerated

/// The record of an open payment: its reference, and the page or the QR code that the payer was shown. An app that stores it **can show
/// them again** after it was killed, and query the payment with the same record.
///
/// Every create answer returns one, except the gateway's own QR picture: ``CardPaymentCreated/entry()``, ``MbankPaymentCreated/entry()``,
/// ``MegapayChecked/entry()``, ``PayFormCreated/entry()``, ``QrData/entry()``. It holds no secrets, but **whoever has the page's URL can
/// open it**, so do not log its text. Store the text: ``description`` writes it, ``init(_:)`` reads it, and `Codable` uses it. A checksum
/// at its end detects a truncated or changed text.
///
/// ```swift
/// let payment = try PaymentRef.card("order-1", amount: 250, currency: "KGS")
/// let stored = PaymentEntry(payment: payment, pageURL: "https://pay.example.kg/3ds?token=1").description
/// let again = try PaymentEntry(stored)  // the same payment, and its page
/// ```
public struct PaymentEntry: Hashable, Sendable {
    /// The payment reference, for status queries.
    public var payment: PaymentRef
    /// The page that the payer opens: the 3DS confirmation, or the pay-form. A text, and not a `URL`, so that it comes back from the
    /// store character by character.
    public var pageURL: String?
    /// The text of the QR code, to be drawn with ``QrCode``.
    public var qrText: String?

    /// An entry, field by field. The answers to a create make theirs.
    public init(payment: PaymentRef, pageURL: String? = nil, qrText: String? = nil) {
        self.payment = payment
        self.pageURL = pageURL
        self.qrText = qrText
    }

    /// Parses the stored text. Surrounding white space is ignored.
    ///
    /// - Throws: ``PaymentError/invalid(violations:)`` for a text of another version, for one that is not whole or was changed, and for
    ///   one whose payment cannot be read.
    public init(_ text: String) throws {
        self.init(try translated { try parsePaymentEntry(text: checked(text, "paymentEntry")) })
    }
}

extension PaymentEntry: CustomStringConvertible, Codable {
    /// The text to store. (If the payment's amount is not a number or has too many digits, this is a list of all fields, which
    /// ``init(_:)`` refuses. No answer has such an entry.)
    public var description: String { (try? core.asText()) ?? described(self) }

    /// Reads the stored text.
    ///
    /// - Throws: `DecodingError` if the text is damaged; its `underlyingError` is the ``PaymentError``.
    public init(from decoder: any Decoder) throws {
        self = try decoder.storedText(Self.init)
    }

    /// Writes the text to store.
    ///
    /// - Throws: `EncodingError` if the payment's amount is not a number that can be sent.
    public func encode(to encoder: any Encoder) throws {
        try encoder.store(text: try? core.asText(), of: self)
    }
}

extension CardPaymentCreated {
    /// The entry to store in place of the reference: it also holds the confirmation page, if any.
    public func entry() -> PaymentEntry {
        switch nextStep {
        case .openConfirmation(let url): PaymentEntry(payment: payment, pageURL: url.absoluteString)
        case .checkStatus: PaymentEntry(payment: payment)
        }
    }
}

extension MbankPaymentCreated {
    /// The entry to store in place of the reference.
    public func entry() -> PaymentEntry { PaymentEntry(payment: payment) }
}

extension MegapayChecked {
    /// The entry to store in place of the reference.
    public func entry() -> PaymentEntry { PaymentEntry(payment: payment) }
}

extension PayFormCreated {
    /// The entry to store in place of the reference: it also holds the page.
    public func entry() -> PaymentEntry { PaymentEntry(payment: payment, pageURL: payFormURL.absoluteString) }
}

extension QrData {
    /// The entry to store in place of the reference: it also holds the text of the code, if the dialect finds it.
    public func entry() -> PaymentEntry { PaymentEntry(payment: payment, qrText: payload) }
}

extension PaymentEntry {
    init(_ core: KassaGenerated.PaymentEntry) {
        self.init(payment: PaymentRef(core.payment), pageURL: core.pageUrl, qrText: core.qrText)
    }

    var core: KassaGenerated.PaymentEntry {
        KassaGenerated.PaymentEntry(payment: payment.core, pageUrl: pageURL, qrText: qrText)
    }
}
