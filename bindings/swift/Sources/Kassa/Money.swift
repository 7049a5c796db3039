import Foundation
import struct Foundation.Decimal  // and not the alias of the generated code
internal import KassaGenerated

/// Converts an amount in som to whole tyiyn. It never rounds.
///
/// - Throws: ``PaymentError/invalid(violations:)`` for an amount with a fraction of a tyiyn, or one that is too large.
public func somToTyiyn(_ som: Decimal) throws -> Int {
    Int(try translated { try KassaGenerated.somToTyiyn(som: som) })
}

/// Converts whole tyiyn to som.
public func tyiynToSom(_ tyiyn: Int) -> Decimal {
    KassaGenerated.tyiynToSom(tyiyn: Int64(tyiyn))
}

/// A new unique order number of 32 hexadecimal characters (0-9 and a-f).
///
/// It begins with the time, so order numbers sort by creation time.
public func newOrderNumber() -> String {
    KassaGenerated.newOrderNumber()
}

/// A phone number as sent to the gateway, from the text that a person typed, pasted or autofilled; nil if the text is not a phone number
/// or is ambiguous. Show the result in the form, so that the payer notices a mistake before the one-time password goes to somebody else.
///
/// A number of Kyrgyzstan becomes `996XXXXXXXXX`; one of another country, of 11 to 15 digits, stays as its digits.
public func normalizedPhone(_ typed: String) -> String? {
    canBeHandedOn([typed]) ? KassaGenerated.normalizedPhone(typed: typed) : nil
}
