import Foundation
import Kassa

/// The state of a checkout when its payer closed the screen, for the app to continue with. **The shop delivers on the server's event,
/// never because an app says so.**
public enum CheckoutResult: Hashable, Sendable {
    /// Paid, by the gateway's own report.
    case paid(amount: Decimal, currency: String)
    /// No money was taken, and no payment is in flight. If it is open, the payer can come back to it; the message says why it was not
    /// paid, if there is a reason.
    case notPaid(CheckoutMessage?)
    /// Unknown: a payment is in flight, or may be. **Do not tell the payer to order again**; opening the checkout again shows the result.
    case stillOpen
    /// The merchant's staff must find out what happened to the money. The payer must not pay again.
    case personNeeded(CheckoutMessage)

    /// True if the checkout is paid.
    public var isPaid: Bool {
        if case .paid = self { true } else { false }
    }

    /// - Parameter mayHavePaid: Whether the payer may have paid before it ended, or by a QR code that they left: money comes late, too.
    init(_ state: CheckoutState, mayHavePaid: Bool) {
        self =
            switch state {
            case .paid(let amount, let currency): .paid(amount: amount, currency: currency)
            case .ready(_, let message, false) where !mayHavePaid: .notPaid(message)
            case .notPaid(let reason) where !mayHavePaid: .notPaid(reason)
            case .expired where !mayHavePaid: .notPaid(nil)
            case .personNeeded(let message): .personNeeded(message)
            case .opening, .ready, .sending, .enterOtp, .openPage, .showQr, .waiting, .notPaid, .expired, .tokenExpired: .stillOpen
            }
    }
}
