import Foundation
import Kassa

/// An amount with its currency, as people write it: `390,50 сом`, `1,000 som`. It is never broken over two lines.
func amountText(_ amount: Decimal, _ currency: String, _ language: Language) -> String {
    let noBreak = "\u{a0}"
    let (group, point) = language == .english ? (",", ".") : (noBreak, ",")
    let parts = "\(amount)".split(separator: ".")
    let whole = grouped(String(parts[0]), by: group)
    // A Decimal keeps no zeros at its end.
    let rest = parts.count > 1 ? point + parts[1].padding(toLength: max(2, parts[1].count), withPad: "0", startingAt: 0) : ""
    let name =
        switch (currency, language) {
        case ("KGS", .english): "som"
        case ("KGS", _): "сом"
        default: currency
        }
    return whole + rest + noBreak + name
}

private func grouped(_ digits: String, by separator: String) -> String {
    let first = digits.count % 3
    let head = first == 0 ? [] : [String(digits.prefix(first))]
    let rest = stride(from: first, to: digits.count, by: 3).map { String(digits.dropFirst($0).prefix(3)) }
    return (head + rest).joined(separator: separator)
}
