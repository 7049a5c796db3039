import Foundation
import KassaStage

/// The places where what came differs from what a vector expects. A missing key and a null are the same.
func differences(_ expected: JSON, _ actual: JSON, at place: String = "") -> [String] {
    let matches: Bool
    switch expected {
    case .object(let fields) where fields["$any"] != nil: matches = actual != .null
    case .object(let fields) where fields["$one_of"] != nil:
        matches = (fields["$one_of"]?.array ?? []).contains { differences($0, actual).isEmpty }
    case .object(let fields) where fields["$like"] != nil: matches = isLike(expected["$like"].text, actual.string)
    case .object(let fields) where fields["$decimal"] != nil:
        let number = decimal(expected["$decimal"].text)
        matches = number != nil && number == decimal(actual["$decimal"].string ?? "")
    case .object(let fields):
        guard case .object(let others) = actual else { matches = false; break }
        return Set(fields.keys).union(others.keys).sorted().flatMap { key in
            differences(expected[key], actual[key], at: "\(place).\(key)")
        }
    case .array(let items):
        guard let others = actual.array, others.count == items.count else { matches = false; break }
        return items.indices.flatMap { differences(items[$0], others[$0], at: "\(place)[\($0)]") }
    default: matches = expected == actual
    }
    return matches ? [] : ["\(place): expected \(short(expected)), came \(short(actual))"]
}

/// The number that a text is, digit for digit; nil where it is none.
func decimal(_ text: String) -> Decimal? {
    let number = #/-?[0-9]+(\.[0-9]+)?/#
    return text.wholeMatch(of: number) == nil ? nil : Decimal(string: text)
}

/// A star stands for any text.
private func isLike(_ pattern: String, _ text: String?) -> Bool {
    var parts = pattern.components(separatedBy: "*")
    guard let text, let last = parts.popLast() else { return false }
    guard !parts.isEmpty else { return text == pattern }
    let first = parts.removeFirst()
    guard text.hasPrefix(first) else { return false }
    var rest = text.dropFirst(first.count)
    for part in parts where !part.isEmpty {
        guard let found = rest.range(of: part) else { return false }
        rest = rest[found.upperBound...]
    }
    return rest.hasSuffix(last)
}

private func short(_ value: JSON) -> String {
    let text = value.description
    return text.count > 600 ? text.prefix(600) + "…" : text
}
