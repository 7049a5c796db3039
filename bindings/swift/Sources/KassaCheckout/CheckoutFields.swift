import Kassa

/// A field that the payer types into.
public enum CheckoutField: String, Hashable, Sendable, CaseIterable, CustomStringConvertible {
    /// The phone of the mobile bank or of the wallet.
    case phone
    /// The code from the SMS.
    case code
    /// The card's number.
    case cardNumber = "card_number"
    /// The card's expiry.
    case cardExpiry = "card_expiry"
    /// The card's security code.
    case cardCvc = "card_cvc"
    /// The name of the card's holder.
    case cardHolder = "card_holder"

    /// Its name, the same in every language.
    public var description: String { rawValue }

    /// The field that a violation of the core's is about.
    init?(of violation: Violation) {
        switch violation.field {
        case "phone": self = .phone
        case "otp": self = .code
        case "pan": self = .cardNumber
        case "expiryMonth", "expiryYear": self = .cardExpiry
        case "cvc": self = .cardCvc
        case "name": self = .cardHolder
        default: return nil
        }
    }
}

/// The payer's input so far; card fields are formatted. Each can be bound to a text field: set it to the text **of the whole field**.
@available(iOS 17, macOS 14, *)
extension CheckoutModel {
    /// The phone of the mobile bank or of the wallet, in any common notation: `0555 000 101`, `+996 (555) 00-01-01`, `555000101`. It stays
    /// as typed, pasted or autofilled, so that nothing is cut off; ``phoneHint`` shows the normalized number.
    public var phone: String {
        get { typedPhone }
        set { edit(.phone) { typedPhone = newValue } }
    }

    /// The hint below the phone field: to which number the code goes, normalized with `normalizedPhone`, or an example until the input is
    /// a phone number. **Always show it**, so that the payer notices a mistake before the code goes to somebody else.
    public var phoneHint: String { Kassa.phoneHint(typedPhone, in: language) ?? labels.phoneExample }

    /// The code from the SMS, without the spaces that come with pasting.
    public var code: String {
        get { typedCode }
        set { edit(.code) { typedCode = newValue.filter { !$0.isWhitespace } } }
    }

    /// The card's number, in groups as its brand prints them.
    public var cardNumber: String {
        get { typedCard.number }
        set { edit(.cardNumber) { typedCard.number = newValue } }
    }

    /// The card's expiry, as `08/31`.
    public var cardExpiry: String {
        get { typedCard.expiry }
        set { edit(.cardExpiry) { typedCard.expiry = newValue } }
    }

    /// The card's security code: three digits.
    public var cardCvc: String {
        get { typedCard.cvc }
        set { edit(.cardCvc) { typedCard.cvc = newValue } }
    }

    /// The name of the card's holder.
    public var cardHolder: String {
        get { typedCard.holderName }
        set { edit(.cardHolder) { typedCard.holderName = newValue } }
    }

    /// The card's brand, as soon as its number shows it.
    public var cardBrand: CardBrand { typedCard.brand }

    /// The error of a field, in the payer's language; nil if there is none (yet). A card is validated while typing (digits,
    /// check digit, expiry), everything else when it is sent.
    public func error(of field: CheckoutField) -> String? {
        guard let violation = violations[field] ?? brokenWhileTyping(field) else { return nil }
        switch (field, violation.rule) {
        case (.phone, _): return labels.phoneWrong
        case (.code, .length): return labels.codeShort
        default: return violation.textIn(language)
        }
    }

    private func brokenWhileTyping(_ field: CheckoutField) -> Violation? {
        let state: FieldState
        switch field {
        case .phone, .code: return nil
        case .cardNumber: state = typedCard.numberState
        case .cardExpiry: state = typedCard.expiryState
        case .cardCvc: state = typedCard.cvcState
        case .cardHolder: state = typedCard.holderNameState
        }
        if case .wrong(let violation) = state { return violation }
        return nil
    }

    /// What was said of a field when it was sent is over as soon as somebody types there.
    private func edit(_ field: CheckoutField, _ change: () -> Void) {
        change()
        violations[field] = nil
    }

    /// What may be kept while the app is not there, such as in a `SceneStorage`: the chosen way and the phone. Never card fields or codes.
    public var draft: CheckoutDraft { CheckoutDraft(method: chosen, phone: typedPhone) }

    /// Restores the saved state of the same screen if the payer has not chosen or typed anything yet. The phone and method that the app
    /// gave stay: the saved state may be of an earlier payer.
    public func restore(_ draft: CheckoutDraft) {
        guard chosen == nil, typedPhone == given.phone else { return }
        if given.method == nil { chosen = draft.method }
        if given.phone.isEmpty { typedPhone = draft.phone }
    }
}
