import Kassa

/// What a payment screen says about its state, in one language.
public struct CheckoutTexts: Hashable, Sendable {
    /// What it is about, in a few words.
    public let title: String
    /// What the payer does now, or what it means for their money; nil where the title says it.
    public let explanation: String?
    /// What became of the last try, or what is in the way.
    public let message: String?
    /// More words about that, as they came from gateway or server, in any language. What an error of the app's own says is not among them.
    public let reason: String?

    /// All of it, for those who hear the screen.
    public var spoken: String { [message, reason, title, explanation].compactMap { $0 }.joined(separator: ". ") }
}

/// The sentences about states, in one language.
struct StateTexts: Sendable {
    let opening: String
    let choose: String
    let noWay: String
    /// Where the payer chooses again though a payment is open.
    let chooseAgainMore: String
    /// Where a QR code was left, which can still be paid.
    let leftCodeMore: String
    let sending: String
    let sendingMore: String
    let code: String
    let codeMore: String
    /// With the last digits of the number where the braces are.
    let codeMoreTo: String
    /// In front of how many.
    let codesLeft: String
    let page: String
    let pageMore: String
    let scan: String
    let scanMore: String
    let waiting: String
    let waitingMore: String
    let paid: String
    let paidMore: String
    let notPaid: String
    let person: String
    let personMore: String
    let expired: String
    let expiredMore: String
    /// Where the payer may just have paid.
    let lateMore: String
    let tokenExpired: String
    let tokenExpiredMore: String
    /// Whatever rule it breaks: an example says more than the rule.
    let phoneWrong: String
    let phoneExample: String
    /// With the number where the braces are.
    let phoneGoesTo: String
    let codeShort: String

    static func of(_ language: Language) -> StateTexts {
        switch language {
        case .english: english
        case .russian: russian
        case .kyrgyz: kyrgyz
        }
    }

    func texts(of state: CheckoutState, mayHavePaid: Bool, _ language: Language) -> CheckoutTexts {
        let (title, explanation, message) = about(state, mayHavePaid: mayHavePaid)
        return CheckoutTexts(
            title: title, explanation: explanation, message: message?.textIn(language), reason: message?.reasonForPayers)
    }

    private func about(_ state: CheckoutState, mayHavePaid: Bool) -> (String, String?, CheckoutMessage?) {
        switch state {
        case .opening(let message): (opening, nil, message)
        case .ready(let methods, let message, let canKeep):
            (choose, methods.isEmpty ? noWay : canKeep ? chooseAgainMore : mayHavePaid ? leftCodeMore : nil, message)
        case .sending(let message): (sending, sendingMore, message)
        case .enterOtp(let left, let message, let last2, _): (code, "\(sentTo(last2)) \(codesLeft) \(left)", message)
        case .openPage(_, _, _, let message): (page, pageMore, message)
        case .showQr(_, let message, _): (scan, scanMore, message)
        case .waiting(_, _, let message): (waiting, waitingMore, message)
        case .paid: (paid, paidMore, nil)
        case .notPaid(let reason):
            (notPaid, mayHavePaid ? lateMore : nil, reason)
        case .personNeeded(let message): (person, personMore, message)
        case .expired: (expired, mayHavePaid ? lateMore : expiredMore, nil)
        case .tokenExpired: (tokenExpired, tokenExpiredMore, nil)
        }
    }
}

extension StateTexts {
    /// Where the code went.
    private func sentTo(_ last2: String?) -> String { last2.map { codeMoreTo.replacing("{}", with: $0) } ?? codeMore }
}

@available(iOS 17, macOS 14, *)
extension CheckoutModel {
    /// What the screen says now, in the payer's language.
    public var texts: CheckoutTexts {
        StateTexts.of(language).texts(of: state, mayHavePaid: mayHavePaid, language)
    }

    /// The words of buttons and fields, in the payer's language.
    public var labels: CheckoutLabels { CheckoutLabels.of(language) }

    /// What is to be paid, such as `390,50 сом`; nil before the server has answered.
    public var amountText: String? {
        details.map { KassaCheckout.amountText($0.amount, $0.currency, language) }
    }

    /// The button that leaves the open payment (``changeMethod()``). It is for those for whom that does not work, so it should be a quiet one.
    public var changeMethodText: String { isCodeShown ? labels.otherWay : labels.otherNumber }

    /// What stands below it.
    public var changeMethodHint: String { isCodeShown ? labels.otherThanCodeHint : labels.otherNumberHint }

    private var isCodeShown: Bool {
        if case .showQr = state { true } else { false }
    }

    /// The button that pays, with the amount as soon as it is known.
    public var payText: String { [labels.pay, amountText].compactMap { $0 }.joined(separator: " ") }
}

extension CheckoutMessage {
    /// The reason, where it is not one for developers: what is in the way of reaching the server.
    fileprivate var reasonForPayers: String? {
        switch topic {
        case .noNetwork, .serverBusy, .notTheServer, .wrongClock, .tokenNotRenewed: nil
        default: reason
        }
    }
}
