import Kassa

/// An event on the screen, for the app's own analytics: ``CheckoutModel/onEvent``. **It contains no personal data**: no phone, card,
/// code, URL of a page, or text of the gateway.
public enum CheckoutEvent: Hashable, Sendable {
    /// The screen was opened.
    case opened
    /// The payer chose a payment method. An automatically chosen method, such as the only one, is not reported.
    case methodChosen(PaymentMethod)
    /// The gateway's page was opened, automatically or by the button.
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
    /// Without what the server wrote, which may name the payer, and without why their bank declined.
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
