internal import KassaGenerated

/// The words of a payment screen that are the same in every state: buttons, fields, ways to pay. None of them has a place to be filled in.
///
/// ```swift
/// CheckoutLabels.of(.english).confirm  // "Confirm the payment"
/// ```
public struct CheckoutLabels: Hashable, Sendable {
    /// The screen's title.
    public let title: String
    /// Before a colon and the shop's own reference.
    public let order: String
    /// Before a colon and ``CheckoutTexts/reason``.
    public let reason: String
    /// The way to pay by the gateway's own page.
    public let payForm: String
    /// What the payer has to know about it.
    public let payFormHint: String
    /// The way to pay by a QR code.
    public let qr: String
    /// What the payer has to know about it.
    public let qrHint: String
    /// The way to pay by the mobile bank, and the title of its form.
    public let mbank: String
    /// What the payer has to know about it.
    public let mbankHint: String
    /// The way to pay by a card that is typed into the app.
    public let card: String
    /// What the payer has to know about it.
    public let cardHint: String
    /// The title of the form for a card.
    public let cardTitle: String
    /// The field for the phone.
    public let phone: String
    /// Below it, as long as what was typed is no number: whose it is, and an example.
    public let phoneExample: String
    /// Where what was typed is no number, whatever rule it breaks: an example says more than the rule.
    public let phoneWrong: String
    /// The field for the code from the SMS.
    public let code: String
    /// Where too little of it was typed.
    public let codeShort: String
    /// The field for the card's number.
    public let cardNumber: String
    /// The field for the card's expiry, month first.
    public let cardExpiry: String
    /// The field for the card's security code.
    public let cardCvc: String
    /// Where it stands.
    public let cardCvcHint: String
    /// The field for the name of the card's holder.
    public let cardHolder: String
    /// The button that pays, where the amount is not known yet.
    public let pay: String
    /// The button that goes on after the phone was typed.
    public let proceed: String
    /// The button that sends the code.
    public let confirm: String
    /// The button that opens the gateway's page.
    public let openPage: String
    /// The button that opens it again.
    public let openPageAgain: String
    /// Where nothing on this phone opens a page; above its address.
    public let noBrowser: String
    /// The button that copies the address.
    public let copyAddress: String
    /// What is said then.
    public let addressCopied: String
    /// The button that asks at once how it ended, while a page or a QR code can be paid.
    public let havePaid: String
    /// The button that asks at once how it ended, while the bank is waited for.
    public let checkNow: String
    /// The button that opens an app of a bank on this phone.
    public let openBankApp: String
    /// Where there is none.
    public let noBankApp: String
    /// The button that shows the banks by name, for a code that opens in the app of each.
    public let chooseBank: String
    /// The button that saves the picture of the QR code.
    public let savePicture: String
    /// What is said then.
    public let pictureSaved: String
    /// What is said where it was not.
    public let pictureNotSaved: String
    /// What the QR code is, for those who hear the screen.
    public let qrPicture: String
    /// Above the other ways to pay, or the button that shows them, while a page is there; and the button that leaves a QR code.
    public let otherWay: String
    /// Beside it while a page is there: when not to.
    public let otherWayHint: String
    /// Beside it while a QR code is there: when not to.
    public let otherThanCodeHint: String
    /// The button that leaves the question for the code from the SMS.
    public let otherNumber: String
    /// Beside it: for whom it is, and what becomes of the code.
    public let otherNumberHint: String
    /// The button that goes back.
    public let back: String
    /// The button that goes back to the open payment.
    public let backToCode: String
    /// The button that closes the screen.
    public let close: String
    /// The button that closes it where the payment is paid.
    public let done: String
    /// What covers the screen while the app is not in front.
    public let covered: String

    /// The words in a language.
    public static func of(_ language: Language) -> CheckoutLabels {
        CheckoutLabels(checkoutLabels(language: language.core))
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
}

extension CheckoutLabels {
    init(_ core: KassaGenerated.CheckoutLabels) {
        title = core.title
        order = core.order
        reason = core.reason
        payForm = core.payForm
        payFormHint = core.payFormHint
        qr = core.qr
        qrHint = core.qrHint
        mbank = core.mbank
        mbankHint = core.mbankHint
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
