/// The commands.
enum Command: String, CaseIterable {
    case card, mbank, confirm
    case payForm = "pay-form"
    case qr, status, watch, callback, all

    static let names = allCases.map(\.rawValue).joined(separator: ", ")

    var summary: String {
        switch self {
        case .card: "Take a card payment: create it, let the payer confirm it (3DS), follow it to its end"
        case .mbank: "Take a mobile-bank payment: create it, confirm it with the payer's one-time password, follow it"
        case .confirm: "Confirm a mobile-bank payment that was created before, and follow it"
        case .payForm: "Make a hosted page on which the payer picks how to pay, and follow what is paid there"
        case .qr: "Make a dynamic QR code, draw it here or save the gateway's picture, and follow its payment"
        case .status: "Ask once for the status of a payment"
        case .watch: "Follow a payment to its end; with --resume every one that an earlier run left open"
        case .callback: "Receive callbacks and verify each with the gateway, or check one from a file"
        case .all: "Run four payments from request to final status: card with 3DS, MBank, pay-form, QR"
        }
    }

    /// Its own options, without those that every command has.
    var ownOptions: [Option] {
        switch self {
        case .card: CardOptions.all
        case .mbank: MbankOptions.all
        case .confirm: ConfirmOptions.all
        case .payForm: PayFormOptions.all
        case .qr: QrOptions.all
        case .status: SubjectOptions.all + [StatusOptions.language]
        case .watch: SubjectOptions.all + AskedForOptions.all + [WatchOptions.resume]
        case .callback: CallbackOptions.all
        case .all: CardFields.all + [MbankOptions.phone]
        }
    }

    var options: [Option] { ownOptions + ConnectionOptions.all + FollowingOptions.all }
}
