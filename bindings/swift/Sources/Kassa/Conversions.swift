import Foundation
import struct Foundation.Decimal  // and not the alias of the generated code
internal import KassaGenerated

extension Duration {
    /// As the generated code takes it. That would end the process for a duration below zero, which the core refuses by itself when
    /// it is zero. It cuts off what is below a nanosecond, so half of one is added: 2.3 s is no number of a float's, and the nearest
    /// one may be below it.
    var core: TimeInterval {
        let (seconds, attoseconds) = components
        let fraction = attoseconds == 0 ? 0 : TimeInterval(attoseconds) * 1e-18 + 0.5e-9
        return max(0, TimeInterval(seconds) + fraction)
    }

    /// To the nanosecond, and no longer than a duration can be: the number of seconds may come from outside.
    init(core: TimeInterval) {
        guard let seconds = Int64(exactly: core.rounded(.down)) else {
            self.init(secondsComponent: .max, attosecondsComponent: 0)
            return
        }
        let nanoseconds = Int64(((core - TimeInterval(seconds)) * 1e9).rounded())
        self.init(secondsComponent: seconds, attosecondsComponent: nanoseconds * 1_000_000_000)
    }
}

/// `Type(field: value, …)` without the fields that are absent.
func described(_ value: Any) -> String {
    let mirror = Mirror(reflecting: value)
    let fields = mirror.children.compactMap { label, field in
        shown(field).map { "\(label ?? ""): \($0)" }
    }
    return "\(mirror.subjectType)(\(fields.joined(separator: ", ")))"
}

private func shown(_ field: Any) -> String? {
    let mirror = Mirror(reflecting: field)
    guard mirror.displayStyle == .optional else { return String(reflecting: field) }
    return mirror.children.first.map { String(reflecting: $0.value) }
}

/// The generated code cannot hand on a longer text than this, and would end the process for it. It goes when a value that
/// cannot be handed over is an error there: https://github.com/mozilla/uniffi-rs/issues/2416
let longestText = Int(Int32.max)

/// True if the core can get these texts, which were made by hand.
func canBeHandedOn(_ texts: [String]) -> Bool {
    texts.allSatisfy { $0.utf8.count <= longestText }
}

/// Whether the core can represent the amount.
func isRepresentable(_ amount: Decimal) -> Bool {
    (try? KassaGenerated.amountText(amount: amount, currency: "", language: .english)) != nil
}

/// A text from outside, refused where it is too long to be handed on.
func checked(_ text: String, _ field: String) throws -> String {
    guard text.utf8.count <= longestText else {
        let sentence = "\(field) must be shorter than 2 GiB"
        let violation = Violation(field: field, rule: .length, limit: "\(longestText)", text: sentence)
        throw PaymentError.invalid(violations: [violation])
    }
    return text
}
