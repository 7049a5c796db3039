import Foundation
import Kassa

/// How a checkout stood when its payer closed the screen. It is for the app to go on with: **the shop delivers by the server's event,
/// never because an app says so.**
public enum CheckoutResult: Hashable, Sendable {
    /// Paid, by the gateway's own report.
    case paid(amount: Decimal, currency: String)
    /// No money was taken, and nothing is on its way. Where it is open, the payer can come back to it; the message says why it was not paid,
    /// where there is a reason.
    case notPaid(CheckoutMessage?)
    /// It is not known: a payment is on its way, or may be. **The payer must not be told to order again**; opening the checkout again shows
    /// what became of it.
    case stillOpen
    /// A person of the merchant's finds out what became of the money. The payer must not pay again.
    case personNeeded(CheckoutMessage)

    /// True where it was paid.
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
