internal import KassaGenerated

/// A message for the payer beside a ``CheckoutState``, in their language.
///
/// ```swift
/// CheckoutMessage(topic: .codeRefused).textIn(.english)  // "This code was not accepted. Enter it again."
/// ```
public struct CheckoutMessage: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The topic.
    public let topic: MessageTopic
    /// Details for developers and logs, in any language: the server's explanation, or what is in the way of reaching it. **Never show it
    /// to the payer.**
    public let reason: String?
    /// Why the gateway declined the payment or the code, if that is known; ``reasonIn(_:)`` is the sentence for the payer.
    public let decline: DeclineReason?

    /// For previews and tests of your own code.
    public init(topic: MessageTopic, reason: String? = nil, decline: DeclineReason? = nil) {
        self.topic = topic
        self.reason = reason
        self.decline = decline
    }

    /// The message text in a language, without ``reasonIn(_:)``.
    public func textIn(_ language: Language) -> String {
        withoutDetails.textIn(language: language.core)
    }

    /// Why the gateway declined, as a sentence in a language; nil if that is not known.
    public func reasonIn(_ language: Language) -> String? {
        withoutDetails.reasonIn(language: language.core)
    }

    /// All of it.
    public var description: String { described(self) }
}

/// Why the gateway declined a payment or a code: chosen by the server's dialect, and only for the text that the payer reads.
public enum DeclineReason: String, Hashable, Sendable, Codable, CaseIterable, CustomStringConvertible {
    /// The payer has not enough money.
    case insufficientFunds = "insufficient_funds"
    /// The amount exceeds a limit of the payer's card, account or wallet.
    case limitExceeded = "limit_exceeded"
    /// The one-time password or PIN was wrong.
    case wrongCode = "wrong_code"
    /// The one-time password or PIN has expired.
    case codeExpired = "code_expired"
    /// The bank has no account, wallet or card like the payer's.
    case unknownPayer = "unknown_payer"
    /// The payer's bank declined, without a reason.
    case declinedByBank = "declined_by_bank"

    /// Its name, the same in every language.
    public var description: String { rawValue }
}

/// The topic of a ``CheckoutMessage``.
public enum MessageTopic: String, Hashable, Sendable, Codable, CaseIterable, CustomStringConvertible {
    /// The server is not reachable. It is retried automatically, and nothing is lost.
    case noNetwork = "no_network"
    /// The server asked to wait, or failed. It is retried automatically.
    case serverBusy = "server_busy"
    /// The response did not come from the merchant's server: a captive portal, a wrong address, or a bad certificate. It is retried
    /// automatically.
    case notTheServer = "not_the_server"
    /// The server's certificate is not valid yet by this device's clock: the payer should check its date and time. It is retried
    /// automatically.
    case wrongClock = "wrong_clock"
    /// The app's renewal function returned no new client token. It is called again automatically. The reason is the app's own error: for
    /// its developer to read (it is in ``KassaLog``, too), and never for a payer.
    case tokenNotRenewed = "token_not_renewed"
    /// The outcome of the payment is unknown; the gateway is polled. **The payer must not pay again.**
    case outcomeUnknown = "outcome_unknown"
    /// The gateway did not accept the one-time password.
    case codeRefused = "code_refused"
    /// The one-time password did not reach the gateway: the payer should enter it again.
    case codeNotSent = "code_not_sent"
    /// The gateway refused to make the payment: no money moved.
    case refused
    /// The payment was not made: no money moved, and the payer can try again.
    case notMade = "not_made"
    /// The gateway reported that the payment was rejected: no money moved.
    case rejected
    /// The server refused the input; ``CheckoutMessage/reason`` names the rule for developers.
    case inputRefused = "input_refused"
    /// Too many attempts.
    case tooManyTries = "too_many_tries"
    /// The server did not replace the open payment: it has moved on, was already replaced elsewhere, or too many were replaced. The state
    /// shows the current status.
    case changeRefused = "change_refused"
    /// The gateway's report does not match the request: the merchant's staff decide.
    case mismatch
    /// The shop cancelled it.
    case cancelled

    /// Its name, the same in every language.
    public var description: String { rawValue }
}

extension CheckoutMessage {
    init(_ core: KassaGenerated.CheckoutMessage) {
        self.init(topic: MessageTopic(core.topic), reason: core.reason, decline: core.decline.map(DeclineReason.init))
    }

    /// What its texts depend on. The rest may be what cannot be handed on.
    var withoutDetails: KassaGenerated.CheckoutMessage {
        KassaGenerated.CheckoutMessage(topic: topic.core, reason: nil, decline: decline?.core)
    }
}

extension DeclineReason {
    init(_ core: KassaGenerated.DeclineReason) {
        self =
            switch core {
            case .insufficientFunds: .insufficientFunds
            case .limitExceeded: .limitExceeded
            case .wrongCode: .wrongCode
            case .codeExpired: .codeExpired
            case .unknownPayer: .unknownPayer
            case .declinedByBank: .declinedByBank
            }
    }

    var core: KassaGenerated.DeclineReason {
        switch self {
        case .insufficientFunds: .insufficientFunds
        case .limitExceeded: .limitExceeded
        case .wrongCode: .wrongCode
        case .codeExpired: .codeExpired
        case .unknownPayer: .unknownPayer
        case .declinedByBank: .declinedByBank
        }
    }
}

extension MessageTopic {
    init(_ core: KassaGenerated.MessageTopic) {
        self =
            switch core {
            case .noNetwork: .noNetwork
            case .serverBusy: .serverBusy
            case .notTheServer: .notTheServer
            case .wrongClock: .wrongClock
            case .tokenNotRenewed: .tokenNotRenewed
            case .outcomeUnknown: .outcomeUnknown
            case .codeRefused: .codeRefused
            case .codeNotSent: .codeNotSent
            case .refused: .refused
            case .notMade: .notMade
            case .rejected: .rejected
            case .inputRefused: .inputRefused
            case .tooManyTries: .tooManyTries
            case .changeRefused: .changeRefused
            case .mismatch: .mismatch
            case .cancelled: .cancelled
            }
    }

    var core: KassaGenerated.MessageTopic {
        switch self {
        case .noNetwork: .noNetwork
        case .serverBusy: .serverBusy
        case .notTheServer: .notTheServer
        case .wrongClock: .wrongClock
        case .tokenNotRenewed: .tokenNotRenewed
        case .outcomeUnknown: .outcomeUnknown
        case .codeRefused: .codeRefused
        case .codeNotSent: .codeNotSent
        case .refused: .refused
        case .notMade: .notMade
        case .rejected: .rejected
        case .inputRefused: .inputRefused
        case .tooManyTries: .tooManyTries
        case .changeRefused: .changeRefused
        case .mismatch: .mismatch
        case .cancelled: .cancelled
        }
    }
}
