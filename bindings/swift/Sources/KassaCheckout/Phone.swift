import Kassa

private let country = "996"
private let nationalDigits = 9
/// None in the world has more (E.164).
private let mostDigits = 15

/// A phone number as people write it, however much of it was typed. What was formatted stays as it is, and can be deleted from its end.
func formattedPhone(_ typed: String) -> String {
    let read = typed.compactMap(\.wholeNumberValue).filter { (0...9).contains($0) }.map(String.init).joined()
    // As it is dialled from abroad.
    let isFromAbroad = read.hasPrefix("00")
    let digits = isFromAbroad ? String(read.dropFirst(2)) : read
    let hasPlus = isFromAbroad || typed.first { !$0.isWhitespace } == "+"
    if digits.isEmpty { return hasPlus ? "+" : "" }
    if hasPlus && !digits.hasPrefix(country) { return "+\(digits.prefix(mostDigits))" }
    var national = hasPlus ? String(digits.dropFirst(country.count)) : digits
    // Numbers of the country may begin with 996 themselves; with more digits than one has, it is the country's code.
    if national.count > nationalDigits && national.hasPrefix(country) { national.removeFirst(country.count) }
    // As it is dialled inside the country.
    if national.hasPrefix("0") { national.removeFirst() }
    // All that was typed is shown, so that nobody pays by a number that was cut off.
    if !hasPlus && national.count > nationalDigits { return "+\(national.prefix(mostDigits))" }
    return (["+\(country)"] + groups(of: national.prefix(mostDigits - country.count))).joined(separator: " ")
}

private func groups(of digits: Substring) -> [String] {
    stride(from: 0, to: digits.count, by: 3).map { String(digits.dropFirst($0).prefix(3)) }
}

/// The number as it is sent, in the form of the interface's own: digits alone, the country's code first.
///
/// - Throws: `PaymentError.invalid` where it has not as many digits as a number of the country.
func checkedPhone(_ formatted: String) throws -> String {
    let digits = formatted.filter(\.isNumber)
    if digits.hasPrefix(country) && digits.count != country.count + nationalDigits {
        let text = "phone must have nine digits behind 996"
        throw PaymentError.invalid(violations: [Violation(field: "phone", rule: .format, text: text)])
    }
    return digits
}
