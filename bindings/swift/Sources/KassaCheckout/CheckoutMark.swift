import Kassa

/// The mark beside the title of a state.
enum CheckoutMark: Hashable, Sendable, CaseIterable {
    /// It goes on by itself.
    case progress
    /// Paid.
    case paid
    /// It is over, and nothing was paid.
    case notPaid
    /// Nobody knows here what became of the money.
    case unknown

    /// Nil if the payer is to do something.
    ///
    /// - Parameter mayHavePaid: Whether something that the payer was shown can still take money.
    init?(_ state: CheckoutState, mayHavePaid: Bool) {
        switch state {
        case .opening, .sending, .waiting: self = .progress
        case .paid: self = .paid
        case .notPaid, .expired: self = mayHavePaid ? .unknown : .notPaid
        case .personNeeded, .tokenExpired: self = .unknown
        case .ready, .enterOtp, .openPage, .showQr: return nil
        }
    }

    /// The SF Symbol; nil for a spinner.
    var symbol: String? {
        switch self {
        case .progress: nil
        case .paid: "checkmark.circle.fill"
        case .notPaid: "xmark.circle.fill"
        case .unknown: "questionmark.circle.fill"
        }
    }
}

@available(iOS 17, macOS 14, *)
extension CheckoutModel {
    /// The mark of the state.
    var mark: CheckoutMark? { CheckoutMark(state, mayHavePaid: mayHavePaid) }
}
