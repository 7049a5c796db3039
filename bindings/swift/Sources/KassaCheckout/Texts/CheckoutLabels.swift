import Kassa

/// The words of a payment screen that are the same in every state: buttons, fields, ways to pay.
///
/// ```swift
/// CheckoutLabels.of(.english).confirm  // "Confirm the payment"
/// ```
public struct CheckoutLabels: Hashable, Sendable {
    /// The screen's title.
    public let title: String
    /// Before the shop's own reference.
    public let order: String
    /// The way to pay by the gateway's own page.
    public let payForm: String
    /// What the payer has to know about it.
    public let payFormHint: String
    /// The way to pay by a QR code.
    public let qr: String
    /// What the payer has to know about it.
    public let qrHint: String
    /// The way to pay by the mobile bank.
    public let mbank: String
    /// What the payer has to know about it.
    public let mbankHint: String
    /// The way to pay by a card, typed into the app.
    public let card: String
    /// What the payer has to know about it.
    public let cardHint: String
    /// The field for the phone.
    public let phone: String
    /// The field for the code from the SMS.
    public let code: String
    /// The field for the card's number.
    public let cardNumber: String
    /// The field for the card's expiry.
    public let cardExpiry: String
    /// The field for the card's security code.
    public let cardCvc: String
    /// The field for the name of the card's holder.
    public let cardHolder: String
    /// The button that begins the chosen way, where the amount is not known yet.
    public let pay: String
    /// The button that sends the code.
    public let confirm: String
    /// The button that opens the gateway's page.
    public let openPage: String
    /// The button that opens an app of a bank on this phone.
    public let openBankApp: String
    /// Where there is none.
    public let noBankApp: String
    /// The button that asks at once.
    public let checkNow: String
    /// Above the other ways to pay, while a page is there; and the button that leaves a QR code.
    public let otherWay: String
    /// Beside it while a page is there: when not to.
    public let otherWayHint: String
    /// Beside it while a QR code is there: when not to.
    public let otherThanCodeHint: String
    /// The button that leaves the question for the code from the SMS.
    public let otherNumber: String
    /// Beside it: for whom it is, and what becomes of the code.
    public let otherNumberHint: String
    /// The button that goes back to the open payment.
    public let back: String
    /// What the QR code is, for those who hear the screen.
    public let qrPicture: String
    /// The button that closes the screen.
    public let close: String
    /// What covers the screen while the app is not in front.
    public let covered: String

    /// The words in a language.
    public static func of(_ language: Language) -> CheckoutLabels {
        switch language {
        case .english: english
        case .russian: russian
        case .kyrgyz: kyrgyz
        }
    }

    /// The name of a way to pay.
    public func name(of method: PaymentMethod) -> String {
        switch method {
        case .payForm: payForm
        case .qr: qr
        case .mbank: mbank
        case .card: card
        }
    }

    /// What the payer has to know about a way to pay.
    public func hint(of method: PaymentMethod) -> String {
        switch method {
        case .payForm: payFormHint
        case .qr: qrHint
        case .mbank: mbankHint
        case .card: cardHint
        }
    }

    /// The name of a field.
    public func name(of field: CheckoutField) -> String {
        switch field {
        case .phone: phone
        case .code: code
        case .cardNumber: cardNumber
        case .cardExpiry: cardExpiry
        case .cardCvc: cardCvc
        case .cardHolder: cardHolder
        }
    }
}
