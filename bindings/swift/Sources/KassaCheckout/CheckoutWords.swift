import Kassa

/// Made once: each is a call of the core's.
private let labelsOfLanguages = Dictionary(uniqueKeysWithValues: Language.allCases.map { ($0, CheckoutLabels.of($0)) })

@available(iOS 17, macOS 14, *)
extension CheckoutModel {
    /// The current texts, in the payer's language.
    public var texts: CheckoutTexts { CheckoutTexts.of(state, mayHavePaid: mayHavePaid, in: language) }

    /// The words of buttons and fields, in the payer's language.
    public var labels: CheckoutLabels { labelsOfLanguages[language] ?? CheckoutLabels.of(language) }

    /// The amount, such as `390,50 сом`; nil until the server has answered.
    public var amountText: String? { details?.amountText(in: language) }

    /// The pay button, with the amount as soon as it is known. If the method asks for a phone (`PaymentMethod.asksForPhone`), nothing is
    /// paid before the code, and a button says `labels.proceed` instead.
    public var payText: String { details?.payText(in: language) ?? labels.pay }

    /// The button that queries the status at once (``checkNow()``).
    public var checkNowText: String {
        if case .waiting = state { labels.checkNow } else { labels.havePaid }
    }

    /// The button that opens the page (``page``), or opens it again if the payer has been there.
    public var openPageText: String {
        if case .waiting = state { labels.openPageAgain } else { labels.openPage }
    }

    /// The button that closes the screen (``close()``).
    public var closeText: String { state.isPaid ? labels.done : labels.close }

    /// The button that leaves the open payment (``changeMethod()``). It is for those for whom that does not work, so it should be a quiet
    /// one.
    public var changeMethodText: String { isCodeShown ? labels.otherWay : labels.otherNumber }

    /// What stands below it.
    public var changeMethodHint: String { isCodeShown ? labels.otherThanCodeHint : labels.otherNumberHint }

    private var isCodeShown: Bool {
        if case .showQr = state { true } else { false }
    }
}

extension CheckoutTexts {
    /// All of it, for those who hear the screen.
    public var spoken: String { [message, reason, title, cost, explanation].compactMap { $0 }.joined(separator: ". ") }
}

extension CheckoutLabels {
    /// The name of a field.
    public func name(of field: CheckoutField) -> String {
        switch field {
        case .phone: phone
        case .code: code
        case .cardNumber: cardNumber
        case .cardExpiry: cardExpiry
        case .cardCvc: cardCvc
        case .cardHolder: cardHolder
        }
    }
}
