internal import KassaGenerated

/// What a payer has typed into a card form so far, so that no app parses `08/31` by itself.
///
/// Set each field to what stands **in the whole field**, and it comes back formatted, so it can be the state of a SwiftUI form:
///
/// ```swift
/// @State private var card = CardInput()
/// TextField("08/31", text: $card.expiry)
/// ```
///
/// What was formatted stays as it is. Where the cursor stands is the app's own.
///
/// Digits of any script are read; spaces, hyphens and other characters that come with pasting are left out of number, expiry and
/// CVC. An expiry is judged against today's month (UTC), or the one that ``asOf(year:month:)`` gives. **A CVC has three digits,
/// because that is what the gateway takes**: American Express prints four, and cannot be paid with here.
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

    /// The expiry as `08/31`, or as much of it as was typed.
    public var expiry: String {
        get { core.expiry() }
        set { self = withExpiry(newValue) }
    }

    /// The digits of the security code.
    public var cvc: String {
        get { core.cvc() }
        set { self = withCvc(newValue) }
    }

    /// The holder's name as it was typed.
    public var holderName: String {
        get { core.holderName() }
        set { self = withHolderName(newValue) }
    }

    /// The same with this number: what stands in the whole field.
    public func withNumber(_ typed: String) -> CardInput { with(typed) { core.withNumber(typed: $0) } }

    /// The same with this expiry, month first: `08/31`, `8/31`, `0831`, `08-31`, `08 / 2031`.
    public func withExpiry(_ typed: String) -> CardInput { with(typed) { core.withExpiry(typed: $0) } }

    /// The same with this security code (CVC, CVV).
    public func withCvc(_ typed: String) -> CardInput { with(typed) { core.withCvc(typed: $0) } }

    /// The same with this holder's name, as it is.
    public func withHolderName(_ typed: String) -> CardInput { with(typed) { core.withHolderName(typed: $0) } }

    /// The same, with the expiry judged against this month and not against today. The month is 1 to 12.
    public func asOf(year: Int, month: Int) -> CardInput {
        CardInput(core.asOf(year: Int32(clamping: year), month: UInt8(clamping: month)))
    }

    /// The brand, as soon as the digits tell it.
    public var brand: CardBrand { CardBrand(core.brand()) }

    /// How many digits a number of this brand can have, the fewest first; 13 to 20 unless the brand is known.
    public var numberLengths: [Int] { core.numberLengths().map(Int.init) }

    /// How far the number is.
    public var numberState: FieldState { FieldState(core.numberState()) }

    /// How far the expiry is.
    public var expiryState: FieldState { FieldState(core.expiryState()) }

    /// How far the security code is. It has three digits, whatever the brand: the gateway takes no more.
    public var cvcState: FieldState { FieldState(core.cvcState()) }

    /// How far the holder's name is: anything but spaces will do.
    public var holderNameState: FieldState { FieldState(core.holderNameState()) }

    /// The card.
    ///
    /// - Throws: ``PaymentError/invalid(violations:)`` with all violations at once, by the names that the fields have in a card
    ///   payment: `pan`, `expiryMonth`, `expiryYear`, `cvc` and `name`.
    public func card() throws -> Card { Card(core: try translated { try core.card() }) }

    /// A text that cannot be handed on changes nothing: no card has it.
    private func with(_ typed: String, _ change: (String) -> KassaGenerated.CardInput) -> CardInput {
        canBeHandedOn([typed]) ? CardInput(change(typed)) : self
    }
}

extension CardInput: CustomStringConvertible, CustomReflectable {
    /// Nothing of what was typed.
    public var description: String { "CardInput(***)" }

    /// Nothing of what is inside.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// What a form shows at a field while the payer types.
public enum FieldState: Hashable, Sendable {
    /// Nothing is wrong yet, and something is missing: go on typing.
    case incomplete
    /// The field can be sent as it is. A number of a brand that has several lengths may still go on.
    case complete
    /// No typing at the end can make it right: the rule that is broken, with its text.
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

/// The brand of a payment card, as its first digits tell it.
///
/// Only ranges that are beyond doubt are known here; everything else is ``unknown``, which is no reason to refuse a card.
public enum CardBrand: String, Hashable, Sendable, CaseIterable, CustomStringConvertible {
    /// 4; 16 digits, and 13 or 19 on some cards.
    case visa
    /// 51 to 55 and 2221 to 2720; 16 digits.
    case mastercard
    /// 2200 to 2204; 16 to 19 digits.
    case mir
    /// 62; 16 to 19 digits.
    case unionPay = "union_pay"
    /// 9417, the national system of Kyrgyzstan; 16 digits.
    case elcart
    /// 34 and 37; 15 digits. Its security code has four digits, and the gateway takes three.
    case amex
    /// 5018, 5020, 5038, 5893, 6304, 6759 and 6761 to 6763; 13 to 19 digits here.
    case maestro
    /// 3528 to 3589; 16 to 19 digits.
    case jcb
    /// None of these, or too few digits to tell.
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
