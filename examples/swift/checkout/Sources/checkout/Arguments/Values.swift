import Foundation
import Kassa

// Values that are typed in a form of their own. No complaint repeats what was typed.

extension Given {
    /// An amount, exactly as its digits say.
    func amount(_ option: Option) throws -> Decimal? {
        guard let text = text(option) else { return nil }
        guard text.count(where: \.isNumber) <= 28, let amount = try? Decimal(exactly: text) else {
            throw Failure.usage("--\(option.name) must be a decimal number such as 100.10, of at most 28 digits")
        }
        return amount
    }

    /// A whole number.
    func whole(_ option: Option) throws -> Int? {
        guard let text = text(option) else { return nil }
        guard let number = Int(text) else { throw Failure.usage("--\(option.name) must be a whole number") }
        return number
    }

    /// A time: seconds, or a number with `ms`, `s` or `m`.
    func time(_ option: Option) throws -> Duration? {
        guard let text = text(option) else { return nil }
        let units = ["ms": 0.001, "s": 1, "": 1, "m": 60]
        guard let parts = text.wholeMatch(of: #/(\d+(?:\.\d+)?)(ms|s|m|)/#), let number = Double(parts.1),
            let unit = units[String(parts.2)]
        else {
            throw Failure.usage("--\(option.name) must be a number of seconds, or a number with ms, s or m")
        }
        let seconds = number * unit
        guard seconds > 0, seconds <= 365 * 24 * 60 * 60 else {
            throw Failure.usage("--\(option.name) must be longer than zero and no longer than a year")
        }
        return .seconds(seconds)
    }

    /// What must be there, by a default or by hand.
    func needed(_ option: Option) throws -> String {
        guard let text = text(option) else { throw Failure.usage("--\(option.name) is missing") }
        return text
    }
}

extension Duration {
    var inSeconds: Double { Double(components.seconds) + Double(components.attoseconds) * 1e-18 }
}
