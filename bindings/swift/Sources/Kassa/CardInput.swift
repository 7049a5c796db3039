internal import KassaGenerated

/// The input of a card form so far, so that your app need not parse `08/31` itself.
///
/// Set each property to the text **of the whole field**, and read it back formatted, so it can be the state of a SwiftUI form:
///
/// ```swift
/// @State private var card = CardInput()
/// TextField("08/31", text: $card.expiry)
/// ```
///
/// Formatted text is stable: formatting it again changes nothing. The app keeps the cursor position.
///
/// Digits of any script are accepted; spaces, hyphens and other pasted characters are removed from number, expiry and CVC. The expiry is
/// compared with the current month (UTC), or the one that ``asOf(year:month:)`` sets. **A CVC has three digits, because that is what the
/// gateway takes**: American Express cards have four and cannot be used.
///
/// It is never printed, not even its last digits. See ``Card`` on PCI DSS.
///
/// ```swift
/// let typed = CardInput().asOf(year: 2026, month: 11).withNumber("4111-1111 11111111").withExpiry("8/2031")
/// print(typed.number, typed.expiry)  // 4111 1111 1111 1111 08/31
/// ```
public struct CardInput: Sendable {
    private var core: KassaGenerated.CardInput

    private init(_ core: KassaGenerated.CardInput) {
        self.core = core
    }

    /// An empty form.
    public init() {
        core = KassaGenerated.CardInput()
    }

    /// The number, with spaces between groups as the brand prints them.
    public var number: String {
        get { core.number() }
        set { self = withNumber(newValue) }
    }

    /// The expiry as `08/31`, as far as typed.
    public var expiry: String {
        get { core.expiry() }
        set { self = withExpiry(newValue) }
    }

    /// The digits of the security code.
    public var cvc: String {
        get { core.cvc() }
        set { self = withCvc(newValue) }
    }

    /// The holder's name as typed.
    public var holderName: String {
        get { core.holderName() }
        set { self = withHolderName(newValue) }
    }

    /// The same input with this number: the text of the whole field.
    public func withNumber(_ typed: String) -> CardInput { with(typed) { core.withNumber(typed: $0) } }

    /// The same input with this expiry, month first: `08/31`, `8/31`, `0831`, `08-31`, `08 / 2031`.
    public func withExpiry(_ typed: String) -> CardInput { with(typed) { core.withExpiry(typed: $0) } }

    /// The same input with this security code (CVC, CVV).
    public func withCvc(_ typed: String) -> CardInput { with(typed) { core.withCvc(typed: $0) } }

    /// The same input with this holder's name, unchanged.
    public func withHolderName(_ typed: String) -> CardInput { with(typed) { core.withHolderName(typed: $0) } }

    /// The same input, with the expiry compared with this month instead of the current one. The month is 1 to 12.
    public func asOf(year: Int, month: Int) -> CardInput {
        CardInput(core.asOf(year: Int32(clamping: year), month: UInt8(clamping: month)))
    }

    /// The brand, as soon as the digits show it.
    public var brand: CardBrand { CardBrand(core.brand()) }

    /// The possible numbers of digits for this brand, in ascending order; 13 to 20 if the brand is unknown.
    public var numberLengths: [Int] { core.numberLengths().map(Int.init) }

    /// The state of the number.
    public var numberState: FieldState { FieldState(core.numberState()) }

    /// The state of the expiry.
    public var expiryState: FieldState { FieldState(core.expiryState()) }

    /// The state of the security code. It has three digits for every brand: the gateway takes no more.
    public var cvcState: FieldState { FieldState(core.cvcState()) }

    /// The state of the holder's name: anything but spaces is valid.
    public var holderNameState: FieldState { FieldState(core.holderNameState()) }

    /// The card.
    ///
    /// - Throws: ``PaymentError/invalid(violations:)`` with all violations at once, by the field names of a card payment: `pan`,
    ///   `expiryMonth`, `expiryYear`, `cvc` and `name`.
    public func card() throws -> Card { Card(core: try translated { try core.card() }) }

    /// A text that is too long to pass on changes nothing: no card has one.
    private func with(_ typed: String, _ change: (String) -> KassaGenerated.CardInput) -> CardInput {
        canBeHandedOn([typed]) ? CardInput(change(typed)) : self
    }
}

extension CardInput: CustomStringConvertible, CustomReflectable {
    /// A mask: nothing of the input.
    public var description: String { "CardInput(***)" }

    /// A mask: nothing of the content.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// The state of a form's field while the payer types.
public enum FieldState: Hashable, Sendable {
    /// Incomplete, and nothing is wrong yet.
    case incomplete
    /// Complete: the field can be sent. The number may still get longer if its brand has several lengths.
    case complete
    /// Wrong: further digits cannot make it valid. It has the broken rule, with its text.
    case wrong(Violation)

    init(_ core: KassaGenerated.FieldState) {
        self =
            switch core {
            case .incomplete: .incomplete
            case .complete: .complete
            case .wrong(let violation): .wrong(Violation(violation))
            }
    }
}

/// The brand of a payment card, as its first digits show.
///
/// Only unambiguous ranges are listed; everything else is ``unknown``, which is no reason to refuse a card.
public enum CardBrand: String, Hashable, Sendable, CaseIterable, CustomStringConvertible {
    /// 4; 16 digits, and 13 or 19 on some cards.
    case visa
    /// 51 to 55 and 2221 to 2720; 16 digits.
    case mastercard
    /// 2200 to 2204; 16 to 19 digits.
    case mir
    /// 62; 16 to 19 digits.
    case unionPay = "union_pay"
    /// 9417, Kyrgyzstan's national card system; 16 digits.
    case elcart
    /// 34 and 37; 15 digits. Its security code has four digits, and the gateway takes three.
    case amex
    /// 5018, 5020, 5038, 5893, 6304, 6759 and 6761 to 6763; 13 to 19 digits here.
    case maestro
    /// 3528 to 3589; 16 to 19 digits.
    case jcb
    /// None of these, or too few digits.
    case unknown

    /// Its name, the same in every language.
    public var description: String { rawValue }

    init(_ core: KassaGenerated.CardBrand) {
        self =
            switch core {
            case .visa: .visa
            case .mastercard: .mastercard
            case .mir: .mir
            case .unionPay: .unionPay
            case .elcart: .elcart
            case .amex: .amex
            case .maestro: .maestro
            case .jcb: .jcb
            case .unknown: .unknown
            }
    }
}
