import Kassa

/// What happened on the screen, for the app's own statistics: ``CheckoutModel/onEvent``. **There is nothing personal in it**: no phone, no card, no
/// code, no address of a page, and no words of the gateway's.
public enum CheckoutEvent: Hashable, Sendable {
    /// The screen was opened.
    case opened
    /// The payer chose a way to pay. One that is chosen by itself, such as the only one, was chosen by nobody.
    case methodChosen(PaymentMethod)
    /// The gateway's page was opened, by itself or by the button.
    case pageOpened
    /// The screen was closed. Messages have their topics alone. The shop delivers by the server's event, never by this one.
    case ended(CheckoutResult)

    /// Its name, the same in every language, such as `method_chosen`.
    public var name: String {
        switch self {
        case .opened: "opened"
        case .methodChosen: "method_chosen"
        case .pageOpened: "page_opened"
        case .ended: "ended"
        }
    }
}

extension CheckoutResult {
    /// Without what the gateway or the server wrote, which may name the payer.
    var withoutReasons: CheckoutResult {
        switch self {
        case .notPaid(let message): .notPaid(message.map { CheckoutMessage(topic: $0.topic) })
        case .personNeeded(let message): .personNeeded(CheckoutMessage(topic: message.topic))
        case .paid, .stillOpen: self
        }
    }
}

@available(iOS 17, macOS 14, *)
extension CheckoutModel {
    /// Tells the app. Whatever happens first, the screen was opened before.
    func tell(_ event: CheckoutEvent) {
        tellOpened()
        onEvent?(event)
    }

    func tellOpened() {
        // Where nobody takes it yet, it is told later.
        guard !isOpenedTold, let onEvent else { return }
        isOpenedTold = true
        onEvent(.opened)
    }
}
