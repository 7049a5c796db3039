internal import KassaGenerated

/// A message for the payer beside a ``CheckoutState``, in their language.
///
/// ```swift
/// CheckoutMessage(topic: .codeRefused).textIn(.english)  // "This code was not accepted. Enter it again."
/// ```
public struct CheckoutMessage: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The topic.
    public let topic: MessageTopic
    /// Further text as received, in any language: the gateway's refusal, or the server's explanation. For connection problems it is meant
    /// for developers, not for the payer.
    public let reason: String?

    /// For previews and tests of your own code.
    public init(topic: MessageTopic, reason: String? = nil) {
        self.topic = topic
        self.reason = reason
    }

    /// The message text in a language, without the reason.
    public func textIn(_ language: Language) -> String {
        KassaGenerated.CheckoutMessage(topic: topic.core, reason: nil).textIn(language: language.core)
    }

    /// Both.
    public var description: String { described(self) }
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
    /// The server refused the input; the reason names the rule that it breaks.
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
        self.init(topic: MessageTopic(core.topic), reason: core.reason)
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
