import Foundation

// How the values of the server are read from JSON: members that are not known are ignored, and an error names the one that is missing or
// wrong.

/// Why a text is not what it should be, such as `payments[0].id is missing`.
struct Unreadable: Error {
    let text: String

    init(_ text: String) { self.text = text }

    /// What a decoder complains of.
    init(_ error: any Error) {
        switch error {
        case let error as Unreadable: self = error
        case DecodingError.keyNotFound(let key, let problem): self.init("\(Self.name(problem.codingPath + [key])) is missing")
        case DecodingError.valueNotFound(_, let problem): self.init("\(Self.name(problem.codingPath)) is missing")
        case DecodingError.typeMismatch(let type, let problem):
            self.init("\(Self.name(problem.codingPath)) must be \(Self.jsonName(type))")
        case DecodingError.dataCorrupted(let problem) where !problem.codingPath.isEmpty:
            self.init("\(Self.name(problem.codingPath)) \(problem.debugDescription)")
        default: self.init("it is not JSON")
        }
    }

    private static func name(_ path: [any CodingKey]) -> String {
        let name = path.reduce("") { name, key in
            if let index = key.intValue { return "\(name)[\(index)]" }
            return name.isEmpty ? key.stringValue : "\(name).\(key.stringValue)"
        }
        return name.isEmpty ? "the response" : name
    }

    private static func jsonName(_ type: any Any.Type) -> String {
        switch type {
        case is String.Type: "a string"
        case is Bool.Type: "true or false"
        case is Int.Type, is Int64.Type: "an integer"
        case is any RandomAccessCollection.Type: "a list"
        default: "a JSON object"
        }
    }
}

/// A value of the server, read from its response.
func read<Value: Decodable>(_: Value.Type, from body: Data) throws(Unreadable) -> Value {
    do {
        return try JSONDecoder().decode(Value.self, from: body)
    } catch {
        throw Unreadable(error)
    }
}

extension KeyedDecodingContainer {
    func text(_ key: Key) throws -> String { try decode(String.self, forKey: key) }

    func textIfPresent(_ key: Key) throws -> String? { try decodeIfPresent(String.self, forKey: key) }

    /// An amount is a text: a JSON number passes through a float when it is read.
    func decimal(_ key: Key) throws -> Decimal {
        guard let amount = try decimalIfPresent(key) else {
            throw DecodingError.valueNotFound(String.self, .init(codingPath: codingPath + [key], debugDescription: ""))
        }
        return amount
    }

    func decimalIfPresent(_ key: Key) throws -> Decimal? {
        guard let text = try textIfPresent(key) else { return nil }
        guard let number = Decimal(digits: text) else {
            throw DecodingError.dataCorruptedError(forKey: key, in: self, debugDescription: "must be a decimal number")
        }
        return number
    }

    /// A time, whose name on the wire ends in its unit.
    func time(_ key: Key) throws -> Date {
        Date(timeIntervalSince1970: Double(try decode(Int64.self, forKey: key)) / 1000)
    }

    func timeIfPresent(_ key: Key) throws -> Date? {
        try decodeIfPresent(Int64.self, forKey: key).map { Date(timeIntervalSince1970: Double($0) / 1000) }
    }
}

extension Decimal {
    /// Nil if the text is not digits with at most one point between them, or has more than a `Decimal` can hold: `Decimal(string:)`
    /// reads `12,50` as 12.
    init?(digits text: String) {
        guard text.wholeMatch(of: #/-?[0-9]{1,24}(?:\.[0-9]{1,12})?/#) != nil,
            let number = Decimal(string: text, locale: Locale(identifier: "en_US_POSIX"))
        else { return nil }
        self = number
    }
}
