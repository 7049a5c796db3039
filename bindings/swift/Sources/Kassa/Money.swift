import Foundation
import struct Foundation.Decimal  // and not the alias of the generated code
internal import KassaGenerated

/// An amount in som as a whole number of tyiyn. It refuses to round.
///
/// - Throws: ``PaymentError/invalid(violations:)`` for an amount with a part of a tyiyn, or one that does not fit.
public func somToTyiyn(_ som: Decimal) throws -> Int {
    Int(try translated { try KassaGenerated.somToTyiyn(som: som) })
}

/// A whole number of tyiyn in som.
public func tyiynToSom(_ tyiyn: Int) -> Decimal {
    KassaGenerated.tyiynToSom(tyiyn: Int64(tyiyn))
}

/// A new order number that no other call will ever return, 32 of the characters 0-9 and a-f.
///
/// It begins with the time, so that order numbers sort by when they were made.
public func newOrderNumber() -> String {
    KassaGenerated.newOrderNumber()
}

/// A phone number as it is sent to the gateway, out of what a person typed, pasted or had filled in; nil where it is none, or where it is
/// not certain which one is meant. A form that shows it lets the payer see a mistake before the one-time password goes to somebody else.
///
/// A number of Kyrgyzstan becomes `996XXXXXXXXX`; one of another country, of 11 to 15 digits, stays as its digits.
public func normalizedPhone(_ typed: String) -> String? {
    canBeHandedOn([typed]) ? KassaGenerated.normalizedPhone(typed: typed) : nil
}
