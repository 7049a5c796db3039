import Foundation
internal import KassaGenerated

/// A request for a dynamic QR code.
///
/// The picture's answer carries no identifier. To know which order a QR payment belongs to, **put a reference of your own into the
/// query of** ``callbackURL``, store ``paymentRef()`` under it and verify the callback with that; or ask for the data instead
/// (``Gateway/createQrData(_:)``) and draw it with ``QrCode``.
public struct QrPayment: Hashable, Sendable, CustomStringConvertible {
    /// The amount in **whole tyiyn**, above zero; ``somToTyiyn(_:)`` converts. The picture needs it, the data does not.
    public var sumTyiyn: Int?
    /// The payee: a phone number, or the name of the enterprise or branch.
    public var requisite: String?
    /// Where the gateway sends its callbacks: an absolute http or https URL.
    public var callbackURL: String?
    /// The name of its entry in the gateway's ``Journal``, one of its own for each code, as ``PayForm/entryID``. Without it one is made,
    /// unless the gateway tells a transaction.
    public var entryID: String?

    /// A request. Nothing is checked here: sending it reports every violation at once.
    public init(sumTyiyn: Int? = nil, requisite: String? = nil, callbackURL: String? = nil, entryID: String? = nil) {
        self.sumTyiyn = sumTyiyn
        self.requisite = requisite
        self.callbackURL = callbackURL
        self.entryID = entryID
    }

    /// What to store **before** sending: what was asked for. Only the response to ``Gateway/createQrData(_:)`` adds the transaction to ask
    /// with.
    public func paymentRef() -> PaymentRef { PaymentRef(core.paymentRef()) }

    /// All fields that are there.
    public var description: String { described(self) }
}

/// A dynamic QR code as the gateway's own picture: a PNG of 400x400 pixels, checked. It carries no identifier.
public struct QrImage: Hashable, Sendable, Codable, CustomStringConvertible {
    /// What was asked for, to verify the callback with.
    public let payment: PaymentRef
    /// The PNG file.
    public let png: Data
    /// The whole response as text.
    public let raw: String

    /// One made by hand, for tests of your own.
    public init(payment: PaymentRef, png: Data, raw: String = "") {
        self.payment = payment
        self.png = png
        self.raw = raw
    }

    /// How large it is.
    public var description: String { "QrImage(400x400, \(png.count) bytes)" }
}

/// The data of a dynamic QR code. What the dialect finds in the response is here; the whole response is in ``raw``.
public struct QrData: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The text of the code, to be drawn with ``QrCode``. Where it is one in ELQR, ``Elqr`` reads it, and it is what was asked for: its
    /// amount, the som, and a right checksum.
    public let payload: String?
    /// The identifier of the QR transaction.
    public let transactionID: String?
    /// What to ask about the payment with, where there is a transaction id; in any case what was asked for. Store it.
    public let payment: PaymentRef
    /// The whole response, with secrets masked.
    public let raw: String

    /// One made by hand, for tests of your own.
    public init(payload: String? = nil, transactionID: String? = nil, payment: PaymentRef, raw: String = "") {
        self.payload = payload
        self.transactionID = transactionID
        self.payment = payment
        self.raw = raw
    }

    /// All fields that are there.
    public var description: String { described(self) }
}

extension QrData {
    /// What the dialect does not find in the response, and what that means: without ``payload`` there is no code to show, without
    /// ``transactionID`` the payment cannot be asked about. It blocks nothing.
    ///
    /// - Throws: ``PaymentError/invalid(violations:)`` where the payment's amount is not a number that can be sent. No answer of a
    ///   gateway has such an amount.
    public func advice() throws -> [Advice] {
        try translated { try core().advice() }.map(Advice.init)
    }

    /// - Throws: ``PaymentError/invalid(violations:)`` where a text is too long to be handed on.
    private func core() throws -> KassaGenerated.QrData {
        for text in [payload, transactionID, raw].compactMap({ $0 }) { _ = try checked(text, "qrData") }
        return KassaGenerated.QrData(payload: payload, transactionId: transactionID, payment: payment.core, raw: raw)
    }
}

extension QrPayment {
    var core: KassaGenerated.QrPayment {
        KassaGenerated.QrPayment(
            sumTyiyn: sumTyiyn.map(Int64.init), requisite: requisite, callbackUrl: callbackURL, entryId: entryID)
    }
}

extension QrImage {
    init(_ core: KassaGenerated.QrImage) {
        self.init(payment: PaymentRef(core.payment), png: core.png, raw: core.raw)
    }
}

extension QrData {
    init(_ core: KassaGenerated.QrData) {
        self.init(
            payload: core.payload, transactionID: core.transactionId, payment: PaymentRef(core.payment), raw: core.raw)
    }
}
