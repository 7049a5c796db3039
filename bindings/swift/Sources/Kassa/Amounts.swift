import Foundation
import struct Foundation.Decimal  // and not the alias of the generated code

/// The type of the amount of a request or a ``PaymentRef``: a whole number, or a `Decimal`.
///
/// `Double` does not conform, so a floating-point amount in a request does not compile:
///
/// ```swift
/// PayForm(amount: 250, …)  // a whole number
/// PayForm(amount: try Decimal(exactly: "100.10"), …)
/// PayForm(amount: 100.10, …)  // does not compile: Double is no ExactAmount
/// ```
///
/// It guards only that place. A `Decimal` literal still passes through a float, because Foundation's `Decimal` is expressible by a float
/// literal: after `let price: Decimal = 19.99` the price is 19.98999999999999488, and a request compiles with `amount: 2 * 19.99`. Such
/// an amount has more decimals than its currency and is refused before sending; one of more than 15 digits may change silently. So write
/// amounts with a fraction only with `Decimal(exactly:)`.
public protocol ExactAmount: Sendable {
    /// The same as a decimal.
    var exactAmount: Decimal { get }
}

extension Int: ExactAmount {
    /// The same as a decimal.
    public var exactAmount: Decimal { Decimal(self) }
}

extension Decimal: ExactAmount {
    /// Itself.
    public var exactAmount: Decimal { self }

    /// The number that a text is, digit for digit: ASCII digits with at most one point between them, a minus before a negative one.
    /// The language of the device changes nothing.
    ///
    /// ```swift
    /// let price = try Decimal(exactly: "100.10")
    /// ```
    ///
    /// `Decimal(string:)` reads `12,50` as 12, and `1O0` as 1; this refuses both.
    ///
    /// - Throws: ``PaymentError/invalid(violations:)``, by the rule ``Rule/format`` if the text is no such number, and by ``Rule/exact``
    ///   if a `Decimal` cannot hold all of its digits.
    public init(exactly text: String) throws {
        guard let digits = exactDigits(of: text) else {
            throw refused(.format, "amount must be digits with at most one point between them, such as 100.10")
        }
        guard let number = Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")), number.description == digits else {
            throw refused(.exact, "amount has more digits than a Decimal can hold")
        }
        self = number
    }
}

private func refused(_ rule: Rule, _ sentence: String) -> PaymentError {
    .invalid(violations: [Violation(field: "amount", rule: rule, text: sentence)])
}

/// A number as `Decimal` prints it: without redundant zeros. Nil if the text is not a number.
private func exactDigits(of text: String) -> String? {
    // Longer than any number that a Decimal can hold, digit for digit.
    guard text.utf8.count <= 512, let parts = text.wholeMatch(of: #/(-?)0*([0-9]+)(?:\.([0-9]+))?/#) else { return nil }
    let (sign, whole, fraction) = (parts.1, parts.2, parts.3 ?? "")
    let kept = fraction.prefix(fraction.count - fraction.reversed().prefix { $0 == "0" }.count)
    let number = kept.isEmpty ? "\(whole)" : "\(whole).\(kept)"
    return number == "0" ? number : sign + number
}
