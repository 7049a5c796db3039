import Foundation
import struct Foundation.Decimal  // and not the alias of the generated code
internal import KassaGenerated

/// The details of a ``Checkout``. They never change.
public struct CheckoutDetails: Hashable, Sendable {
    /// The shop's own reference, such as the order number, which a payer tells the shop's support.
    public let reference: String
    /// The amount, in units of the currency.
    public let amount: Decimal
    /// The currency's three letters.
    public let currency: String
    /// What is paid for.
    public let description: String
    /// The payment methods that the shop allows, without those unknown to this version.
    public let methods: [PaymentMethod]
    /// Where the payer returns after a page: a page of the shop, or a deep link of the app.
    public let returnURL: String
    /// When it expires, by the server's clock.
    public let expiresAt: Date

    /// For previews and tests of your own code.
    public init(
        reference: String, amount: Decimal, currency: String, description: String, methods: [PaymentMethod], returnURL: String,
        expiresAt: Date
    ) {
        self.reference = reference
        self.amount = amount
        self.currency = currency
        self.description = description
        self.methods = methods
        self.returnURL = returnURL
        self.expiresAt = expiresAt
    }
}

/// A payment method.
public enum PaymentMethod: String, Hashable, Sendable, Codable, CaseIterable, CustomStringConvertible {
    /// The gateway's own page, where the payer chooses a method: ``Checkout/payByForm()``.
    case payForm = "pay_form"
    /// A QR code, which an app of a bank scans: ``Checkout/payByQr()``.
    case qr
    /// The mobile bank, confirmed by a one-time password: ``Checkout/payByMbank(phone:)``.
    case mbank
    /// A MegaPay wallet, confirmed by a PIN that the payer receives, if the merchant's server accepts it:
    /// ``Checkout/payByMegapay(phone:)``.
    case megapay
    /// A card, if the merchant's server accepts cards: ``Checkout/payByCard(_:)``.
    case card

    /// Its name, the same in every language.
    public var description: String { rawValue }

    /// True if the payer enters a phone number, and then the code that is sent to it: the mobile bank, or a wallet.
    public var asksForPhone: Bool {
        switch self {
        case .mbank, .megapay: true
        case .payForm, .qr, .card: false
        }
    }
}

extension CheckoutDetails {
    init(_ core: KassaGenerated.CheckoutDetails) {
        self.init(
            reference: core.reference, amount: core.amount, currency: core.currency, description: core.description,
            methods: core.methods.map(PaymentMethod.init), returnURL: core.returnUrl, expiresAt: core.expiresAt)
    }
}

extension PaymentMethod {
    init(_ core: KassaGenerated.PaymentMethod) {
        self =
            switch core {
            case .payForm: .payForm
            case .qr: .qr
            case .mbank: .mbank
            case .megapay: .megapay
            case .card: .card
            }
    }
}
