import Foundation
import struct Foundation.Decimal  // and not the alias of the generated code
internal import KassaGenerated

/// The texts of a payment screen for one state, in one language.
///
/// ```swift
/// CheckoutTexts.of(.expired, mayHavePaid: false, in: .english).title  // "The time to pay is over"
/// ```
public struct CheckoutTexts: Hashable, Sendable {
    /// A short title.
    public let title: String
    /// What the payer should do, or what the state means for their money; nil if the title is enough.
    public let explanation: String?
    /// What the payer agrees to pay by entering the code, if that is more than the amount, or may be: **show it above the code field**.
    public let cost: String?
    /// The result of the last attempt, or the problem.
    public let message: String?
    /// Why the gateway declined, in this language. The gateway's own words are never part of it.
    public let reason: String?

    /// For previews and tests of your own code.
    public init(
        title: String, explanation: String? = nil, cost: String? = nil, message: String? = nil, reason: String? = nil
    ) {
        self.title = title
        self.explanation = explanation
        self.cost = cost
        self.message = message
        self.reason = reason
    }

    /// The texts for a state. `mayHavePaid` is true if the payer was shown something that can still be paid: a page whose checkout has
    /// ended, or a QR code that was left for another method. **Then the texts do not suggest a new order without a warning.**
    public static func of(_ state: CheckoutState, mayHavePaid: Bool, in language: Language) -> CheckoutTexts {
        let core = checkoutTexts(state: state.said, mayHavePaid: mayHavePaid, language: language.core)
        return CheckoutTexts(
            title: core.title, explanation: core.explanation, cost: core.cost, message: core.message, reason: core.reason)
    }
}

/// An amount with its currency, as people write it: `390,50 сом`, `1,000 som`. It has no decimals, or two at least, and is never broken
/// over two lines.
public func amountText(_ amount: Decimal, currency: String, in language: Language) -> String {
    inWords(amount, currency) { try KassaGenerated.amountText(amount: amount, currency: currency, language: language.core) }
}

/// The text of the pay button, with the amount: `Pay 390.50 som`. Before the amount is known there is ``CheckoutLabels/pay``.
public func payText(_ amount: Decimal, currency: String, in language: Language) -> String {
    inWords(amount, currency) { try KassaGenerated.payText(amount: amount, currency: currency, language: language.core) }
}

/// The hint below the phone field: to which number the code goes, normalized with ``normalizedPhone(_:)``. Nil if the input is not a
/// phone number; show ``CheckoutLabels/phoneExample`` then. **Always show the hint**, so that the payer notices a mistake before the code
/// goes to somebody else. The number has no-break spaces.
public func phoneHint(_ typed: String, in language: Language) -> String? {
    canBeHandedOn([typed]) ? KassaGenerated.phoneHint(typed: typed, language: language.core) : nil
}

extension CheckoutDetails {
    /// The amount, formatted for people: `390,50 сом`.
    public func amountText(in language: Language) -> String {
        Kassa.amountText(amount, currency: currency, in: language)
    }

    /// The text of the pay button, with the amount: `Pay 390.50 som`.
    public func payText(in language: Language) -> String {
        Kassa.payText(amount, currency: currency, in: language)
    }
}

/// A number that is none of the core's, which no server sends, is shown as it is.
private func inWords(_ amount: Decimal, _ currency: String, _ form: () throws -> String) -> String {
    guard canBeHandedOn([currency]), let text = try? form() else { return "\(amount)\u{a0}\(currency)" }
    return text
}

extension CheckoutState {
    /// As much of it as its texts depend on. The rest may be what cannot be handed on.
    fileprivate var said: KassaGenerated.CheckoutState {
        switch self {
        case .opening(let message): .opening(message: message?.withoutDetails)
        case .ready(let methods, let message, let canKeepMethod):
            .ready(methods: methods.map(\.core), message: message?.withoutDetails, canKeepMethod: canKeepMethod)
        case .sending(let message): .sending(message: message?.withoutDetails)
        case .enterOtp(let entry):
            .enterOtp(
                method: entry.method.core, attemptsLeft: UInt32(clamping: entry.attemptsLeft), message: entry.message?.withoutDetails,
                phoneLast2: entry.phoneLast2.flatMap { canBeHandedOn([$0]) ? $0 : nil },
                commission: entry.commission.flatMap { isRepresentable($0) ? $0 : nil },
                total: entry.total.flatMap { isRepresentable($0) ? $0 : nil }, codeExpiresAt: nil, canChangeMethod: entry.canChangeMethod)
        case .openPage(_, let begunHere, let methods, let message):
            .openPage(url: "", begunHere: begunHere, methods: methods.map(\.core), message: message?.withoutDetails)
        case .showQr(_, let message, let canChangeMethod):
            .showQr(text: "", message: message?.withoutDetails, canChangeMethod: canChangeMethod)
        case .waiting(_, let methods, let message):
            .waiting(pageUrl: nil, methods: methods.map(\.core), message: message?.withoutDetails)
        case .paid: .paid(amount: 0, currency: "")
        case .notPaid(let reason): .notPaid(reason: reason.withoutDetails)
        case .personNeeded(let message): .personNeeded(message: message.withoutDetails)
        case .expired: .expired
        case .tokenExpired: .tokenExpired
        }
    }
}

extension PaymentMethod {
    fileprivate var core: KassaGenerated.PaymentMethod {
        switch self {
        case .payForm: .payForm
        case .qr: .qr
        case .mbank: .mbank
        case .megapay: .megapay
        case .card: .card
        }
    }
}
