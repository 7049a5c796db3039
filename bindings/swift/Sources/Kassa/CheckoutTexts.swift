import Foundation
import struct Foundation.Decimal  // and not the alias of the generated code
internal import KassaGenerated

/// What a payment screen says about its state, in one language.
///
/// ```swift
/// CheckoutTexts.of(.expired, mayHavePaid: false, in: .english).title  // "The time to pay is over"
/// ```
public struct CheckoutTexts: Hashable, Sendable {
    /// What it is about, in a few words.
    public let title: String
    /// What the payer does now, or what it means for their money; nil where the title says it.
    public let explanation: String?
    /// What became of the last try, or what is in the way.
    public let message: String?
    /// More words about that, as they came from gateway or server, in any language. What is told for developers is not among them.
    public let reason: String?

    /// Made by hand, for previews and tests of your own.
    public init(title: String, explanation: String? = nil, message: String? = nil, reason: String? = nil) {
        self.title = title
        self.explanation = explanation
        self.message = message
        self.reason = reason
    }

    /// What the screen says of a state. `mayHavePaid` is true where something that the payer was shown can still be paid: a page whose
    /// checkout has ended, or a QR code that was left for another way to pay. **Then they are not told to order again without a warning.**
    public static func of(_ state: CheckoutState, mayHavePaid: Bool, in language: Language) -> CheckoutTexts {
        let core = checkoutTexts(state: state.said, mayHavePaid: mayHavePaid, language: language.core)
        return CheckoutTexts(title: core.title, explanation: core.explanation, message: core.message, reason: core.reason)
    }
}

/// An amount with its currency, as people write it: `390,50 сом`, `1,000 som`. It has no decimals, or two at least, and is never broken
/// over two lines.
public func amountText(_ amount: Decimal, currency: String, in language: Language) -> String {
    inWords(amount, currency) { try KassaGenerated.amountText(amount: amount, currency: currency, language: language.core) }
}

/// The button that pays, with the amount: `Pay 390.50 som`. Before the amount is known there is ``CheckoutLabels/pay``.
public func payText(_ amount: Decimal, currency: String, in language: Language) -> String {
    inWords(amount, currency) { try KassaGenerated.payText(amount: amount, currency: currency, language: language.core) }
}

/// What stands below the field for a phone: to which number the code goes, by the rule of ``normalizedPhone(_:)``. Nil where what was typed
/// is none; show ``CheckoutLabels/phoneExample`` then. **Show it**: a payer who sees it notices a mistake before the code is sent to
/// somebody else. The number is never broken over two lines.
public func phoneHint(_ typed: String, in language: Language) -> String? {
    canBeHandedOn([typed]) ? KassaGenerated.phoneHint(typed: typed, language: language.core) : nil
}

extension CheckoutDetails {
    /// What is to be paid, as people write it: `390,50 сом`.
    public func amountText(in language: Language) -> String {
        Kassa.amountText(amount, currency: currency, in: language)
    }

    /// The button that pays, with the amount: `Pay 390.50 som`.
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
        case .opening(let message): .opening(message: message?.said)
        case .ready(let methods, let message, let canKeepMethod):
            .ready(methods: methods.map(\.core), message: message?.said, canKeepMethod: canKeepMethod)
        case .sending(let message): .sending(message: message?.said)
        case .enterOtp(let attemptsLeft, let message, let phoneLast2, let canChangeMethod):
            .enterOtp(
                attemptsLeft: UInt32(clamping: attemptsLeft), message: message?.said,
                phoneLast2: phoneLast2.flatMap { canBeHandedOn([$0]) ? $0 : nil }, canChangeMethod: canChangeMethod)
        case .openPage(_, let begunHere, let methods, let message):
            .openPage(url: "", begunHere: begunHere, methods: methods.map(\.core), message: message?.said)
        case .showQr(_, let message, let canChangeMethod):
            .showQr(text: "", message: message?.said, canChangeMethod: canChangeMethod)
        case .waiting(_, let methods, let message):
            .waiting(pageUrl: nil, methods: methods.map(\.core), message: message?.said)
        case .paid: .paid(amount: 0, currency: "")
        case .notPaid(let reason): .notPaid(reason: reason.said)
        case .personNeeded(let message): .personNeeded(message: message.said)
        case .expired: .expired
        case .tokenExpired: .tokenExpired
        }
    }
}

extension CheckoutMessage {
    fileprivate var said: KassaGenerated.CheckoutMessage {
        KassaGenerated.CheckoutMessage(topic: topic.core, reason: reason.flatMap { canBeHandedOn([$0]) ? $0 : nil })
    }
}

extension PaymentMethod {
    fileprivate var core: KassaGenerated.PaymentMethod {
        switch self {
        case .payForm: .payForm
        case .qr: .qr
        case .mbank: .mbank
        case .card: .card
        }
    }
}
