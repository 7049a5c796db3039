import Foundation
import struct Foundation.Decimal  // and not the alias of the generated code

// Serialization: the exact forms of amounts and times. The `Codable` conformances that the compiler writes in this module call these
// instead of the standard ones, because they are the more specific.

extension KeyedEncodingContainer {
    /// An amount is written as a text: a JSON number passes through a float when it is read.
    mutating func encode(_ amount: Decimal, forKey key: Key) throws {
        guard amount.isFinite else {
            let problem = EncodingError.Context(codingPath: codingPath + [key], debugDescription: "\(amount) is no amount")
            throw EncodingError.invalidValue(amount, problem)
        }
        try encode(amount.description, forKey: key)
    }

    mutating func encodeIfPresent(_ amount: Decimal?, forKey key: Key) throws {
        if let amount { try encode(amount, forKey: key) }
    }

    /// A duration is written as its seconds, exact, as a text: Swift's own form is two halves of a number of attoseconds.
    mutating func encode(_ duration: Duration, forKey key: Key) throws {
        try encode(duration.secondsText, forKey: key)
    }

    mutating func encodeIfPresent(_ duration: Duration?, forKey key: Key) throws {
        if let duration { try encode(duration, forKey: key) }
    }
}

extension KeyedDecodingContainer {
    func decode(_: Decimal.Type, forKey key: Key) throws -> Decimal {
        let rule = "an amount is a text, such as \"100.10\": a JSON number would pass through a float"
        let text = try self.text(forKey: key, rule)
        do {
            return try Decimal(exactly: text)
        } catch {
            throw damaged(at: codingPath + [key], "\(error.localizedDescription)", error)
        }
    }

    func decodeIfPresent(_: Decimal.Type, forKey key: Key) throws -> Decimal? {
        try isPresent(key) ? decode(Decimal.self, forKey: key) : nil
    }

    func decode(_: Duration.Type, forKey key: Key) throws -> Duration {
        let rule = "a duration is its seconds as a text, such as \"10\" or \"0.25\""
        guard let duration = Duration(secondsText: try text(forKey: key, rule)) else {
            throw damaged(at: codingPath + [key], rule)
        }
        return duration
    }

    func decodeIfPresent(_: Duration.Type, forKey key: Key) throws -> Duration? {
        try isPresent(key) ? decode(Duration.self, forKey: key) : nil
    }

    private func isPresent(_ key: Key) throws -> Bool { try contains(key) && !decodeNil(forKey: key) }

    private func text(forKey key: Key, _ rule: String) throws -> String {
        do {
            return try decode(String.self, forKey: key)
        } catch DecodingError.typeMismatch(let type, let found) {
            let problem = DecodingError.Context(codingPath: found.codingPath, debugDescription: rule, underlyingError: nil)
            throw DecodingError.typeMismatch(type, problem)
        }
    }
}

// Values that are stored as one text of their own.

extension Decoder {
    /// Reads the text. The error in it is the cause of the `DecodingError`.
    func storedText<Value>(_ read: (String) throws -> Value) throws -> Value {
        let text = try singleValueContainer().decode(String.self)
        do {
            return try read(text)
        } catch {
            throw damaged(at: codingPath, error.localizedDescription, error)
        }
    }
}

extension Encoder {
    /// Writes the text. There is none if an amount is none.
    func store(text: String?, of value: Any) throws {
        guard let text else {
            let problem = EncodingError.Context(codingPath: codingPath, debugDescription: "its amount is no amount")
            throw EncodingError.invalidValue(value, problem)
        }
        var container = singleValueContainer()
        try container.encode(text)
    }
}

/// What is thrown for a text that cannot be what it should be.
func damaged(at path: [any CodingKey], _ text: String, _ cause: (any Error)? = nil) -> DecodingError {
    .dataCorrupted(DecodingError.Context(codingPath: path, debugDescription: text, underlyingError: cause))
}

extension Duration {
    /// Such as `10`, `0.25` or `-1`.
    var secondsText: String {
        let (seconds, attoseconds) = components
        let sign = self < .zero ? "-" : ""
        let digits = String(attoseconds.magnitude)
        let fraction = String(repeating: "0", count: 18 - digits.count) + digits
        let kept = fraction.prefix(18 - fraction.reversed().prefix { $0 == "0" }.count)
        return "\(sign)\(seconds.magnitude)" + (kept.isEmpty ? "" : ".\(kept)")
    }

    /// Nil if the text is not a number of seconds that a duration can have.
    init?(secondsText text: String) {
        guard text.utf8.count <= 64, let parts = text.wholeMatch(of: #/(-?)([0-9]+)(?:\.([0-9]{1,18}))?/#) else { return nil }
        let (sign, fraction) = (parts.1, parts.3 ?? "")
        let padded = fraction + String(repeating: "0", count: 18 - fraction.count)
        guard let seconds = Int64("\(sign)\(parts.2)"), let attoseconds = Int64("\(sign)\(padded)") else { return nil }
        self.init(secondsComponent: seconds, attosecondsComponent: attoseconds)
    }
}
