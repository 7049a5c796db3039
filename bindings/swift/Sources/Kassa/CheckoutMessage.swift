internal import KassaGenerated

/// What a payer reads beside a ``CheckoutState``, in their language.
///
/// ```swift
/// CheckoutMessage(topic: .codeRefused).textIn(.english)  // "This code was not accepted. Enter it again."
/// ```
public struct CheckoutMessage: Hashable, Sendable, Codable, CustomStringConvertible {
    /// What it is about.
    public let topic: MessageTopic
    /// More words, as they came, in any language: of the gateway, which refused; of the server, which says what is wrong. What is in
    /// the way of reaching the server is told for developers, and is not for a payer to read.
    public let reason: String?

    /// One made by hand, for previews and tests of your own.
    public init(topic: MessageTopic, reason: String? = nil) {
        self.topic = topic
        self.reason = reason
    }

    /// What it says to the payer, in a language. The reason is not part of it.
    public func textIn(_ language: Language) -> String {
        KassaGenerated.CheckoutMessage(topic: topic.core, reason: nil).textIn(language: language.core)
    }

    /// Both.
    public var description: String { described(self) }
}

/// What a ``CheckoutMessage`` is about.
public enum MessageTopic: String, Hashable, Sendable, Codable, CaseIterable, CustomStringConvertible {
    /// The server is not reached. It is tried again by itself, and nothing is lost.
    case noNetwork = "no_network"
    /// The server asked to wait, or failed. It is tried again by itself.
    case serverBusy = "server_busy"
    /// What answered is not the merchant's server: the page of a network that wants a login, a wrong address, a certificate that fails. It
    /// is tried again by itself.
    case notTheServer = "not_the_server"
    /// The certificate of the server is not valid yet by this device's clock: the payer checks its date and time. It is tried again by
    /// itself.
    case wrongClock = "wrong_clock"
    /// The app's own function gave no new client token. It is asked again by itself. The reason is the app's own error: for its developer
    /// to read (it is in ``KassaLog``, too), and never for a payer.
    case tokenNotRenewed = "token_not_renewed"
    /// Nobody knows yet what became of the payment: the gateway is asked all the time. **The payer must not pay again.**
    case outcomeUnknown = "outcome_unknown"
    /// The gateway did not take the one-time password.
    case codeRefused = "code_refused"
    /// The one-time password did not reach the gateway: the payer enters it again.
    case codeNotSent = "code_not_sent"
    /// The gateway refused to make the payment: no money moved.
    case refused
    /// The payment was not made: no money moved, and the payer can try again.
    case notMade = "not_made"
    /// The gateway reported that the payment was rejected: no money moved.
    case rejected
    /// The server refused what was typed; the reason says which rule it breaks.
    case inputRefused = "input_refused"
    /// So many tries are not allowed.
    case tooManyTries = "too_many_tries"
    /// The server began no other payment instead of the one that was open: that one has gone on, was replaced elsewhere already, or too
    /// many were replaced. The state shows how it stands now.
    case changeRefused = "change_refused"
    /// The gateway reports something else than was asked for: a person of the merchant's finds out.
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
