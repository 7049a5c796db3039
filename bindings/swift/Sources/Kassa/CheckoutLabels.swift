internal import KassaGenerated

/// The labels of a payment screen that do not depend on the state: buttons, fields, payment methods. None has a placeholder.
///
/// ```swift
/// CheckoutLabels.of(.english).confirm  // "Confirm the payment"
/// ```
public struct CheckoutLabels: Hashable, Sendable {
    /// The screen's title.
    public let title: String
    /// The label of the shop's reference, followed by a colon.
    public let order: String
    /// The payment method: the gateway's own page.
    public let payForm: String
    /// Its explanation for the payer.
    public let payFormHint: String
    /// The payment method: a QR code.
    public let qr: String
    /// Its explanation for the payer.
    public let qrHint: String
    /// The payment method: the mobile bank; also the title of its form.
    public let mbank: String
    /// Its explanation for the payer.
    public let mbankHint: String
    /// The payment method: a MegaPay wallet; also the title of its form.
    public let megapay: String
    /// Its explanation for the payer.
    public let megapayHint: String
    /// The payment method: a card entered in the app.
    public let card: String
    /// Its explanation for the payer.
    public let cardHint: String
    /// The title of the card form.
    public let cardTitle: String
    /// The field for the phone.
    public let phone: String
    /// The hint below the phone field until the input is a phone number, with an example.
    public let phoneExample: String
    /// The error if the input is not a phone number: an example, whatever rule is broken.
    public let phoneWrong: String
    /// The field for the code from the SMS.
    public let code: String
    /// The error if the code is too short.
    public let codeShort: String
    /// The field for the card's number.
    public let cardNumber: String
    /// The field for the card's expiry, month first.
    public let cardExpiry: String
    /// The field for the card's security code.
    public let cardCvc: String
    /// Where to find the code on the card.
    public let cardCvcHint: String
    /// The field for the name of the card's holder.
    public let cardHolder: String
    /// The pay button while the amount is unknown.
    public let pay: String
    /// The button that continues after the phone number.
    public let proceed: String
    /// The button that sends the code.
    public let confirm: String
    /// The button that opens the gateway's page.
    public let openPage: String
    /// The button that opens it again.
    public let openPageAgain: String
    /// The text above a page's URL if no app on this phone opens it.
    public let noBrowser: String
    /// The button that copies the URL.
    public let copyAddress: String
    /// The confirmation of that.
    public let addressCopied: String
    /// The button that queries the status at once, while a page or a QR code can be paid.
    public let havePaid: String
    /// The button that queries the status at once, while the bank's answer is pending.
    public let checkNow: String
    /// The button that opens a bank's app on this phone.
    public let openBankApp: String
    /// The text if there is no such app.
    public let noBankApp: String
    /// The button that lists the banks whose apps open the code.
    public let chooseBank: String
    /// The button that saves the picture of the QR code.
    public let savePicture: String
    /// The confirmation of that.
    public let pictureSaved: String
    /// The error if the picture could not be saved.
    public let pictureNotSaved: String
    /// The description of the QR code for screen readers.
    public let qrPicture: String
    /// The heading above the other methods (or the button that shows them) beside a page, and the button that leaves a QR code.
    public let otherWay: String
    /// The warning beside it for a page: when not to switch.
    public let otherWayHint: String
    /// The warning beside it for a QR code: when not to switch.
    public let otherThanCodeHint: String
    /// The button that leaves the form for the code from the SMS.
    public let otherNumber: String
    /// The hint beside it: when to use it, and what happens to the code.
    public let otherNumberHint: String
    /// The button that goes back.
    public let back: String
    /// The button that goes back to the open payment.
    public let backToCode: String
    /// The button that closes the screen.
    public let close: String
    /// The button that closes the screen after the payment.
    public let done: String
    /// The text that covers the screen while the app is in the background.
    public let covered: String

    /// The labels in a language.
    public static func of(_ language: Language) -> CheckoutLabels {
        CheckoutLabels(checkoutLabels(language: language.core))
    }

    /// The name of a payment method.
    public func name(of method: PaymentMethod) -> String {
        switch method {
        case .payForm: payForm
        case .qr: qr
        case .mbank: mbank
        case .megapay: megapay
        case .card: card
        }
    }

    /// The explanation of a payment method for the payer.
    public func hint(of method: PaymentMethod) -> String {
        switch method {
        case .payForm: payFormHint
        case .qr: qrHint
        case .mbank: mbankHint
        case .megapay: megapayHint
        case .card: cardHint
        }
    }
}

extension CheckoutLabels {
    init(_ core: KassaGenerated.CheckoutLabels) {
        title = core.title
        order = core.order
        payForm = core.payForm
        payFormHint = core.payFormHint
        qr = core.qr
        qrHint = core.qrHint
        mbank = core.mbank
        mbankHint = core.mbankHint
        megapay = core.megapay
        megapayHint = core.megapayHint
        card = core.card
        cardHint = core.cardHint
        cardTitle = core.cardTitle
        phone = core.phone
        phoneExample = core.phoneExample
        phoneWrong = core.phoneWrong
        code = core.code
        codeShort = core.codeShort
        cardNumber = core.cardNumber
        cardExpiry = core.cardExpiry
        cardCvc = core.cardCvc
        cardCvcHint = core.cardCvcHint
        cardHolder = core.cardHolder
        pay = core.pay
        proceed = core.proceed
        confirm = core.confirm
        openPage = core.openPage
        openPageAgain = core.openPageAgain
        noBrowser = core.noBrowser
        copyAddress = core.copyAddress
        addressCopied = core.addressCopied
        havePaid = core.havePaid
        checkNow = core.checkNow
        openBankApp = core.openBankApp
        noBankApp = core.noBankApp
        chooseBank = core.chooseBank
        savePicture = core.savePicture
        pictureSaved = core.pictureSaved
        pictureNotSaved = core.pictureNotSaved
        qrPicture = core.qrPicture
        otherWay = core.otherWay
        otherWayHint = core.otherWayHint
        otherThanCodeHint = core.otherThanCodeHint
        otherNumber = core.otherNumber
        otherNumberHint = core.otherNumberHint
        back = core.back
        backToCode = core.backToCode
        close = core.close
        done = core.done
        covered = core.covered
    }
}
