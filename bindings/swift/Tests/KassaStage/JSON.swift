import Foundation

/// A JSON document whose numbers are exact: 100.10 is a decimal, never a float.
package enum JSON: Hashable, Sendable {
    case null
    case bool(Bool)
    case number(Decimal)
    case string(String)
    case array([JSON])
    case object([String: JSON])

    /// - Throws: Where the text is not JSON.
    package init(parsing text: Data) throws {
        self = try JSONDecoder().decode(JSON.self, from: text)
    }

    package subscript(key: String) -> JSON { object[key] ?? .null }

    package var object: [String: JSON] {
        if case .object(let fields) = self { fields } else { [:] }
    }

    package var array: [JSON]? {
        if case .array(let items) = self { items } else { nil }
    }

    package var string: String? {
        if case .string(let text) = self { text } else { nil }
    }

    package var decimal: Decimal? {
        if case .number(let number) = self { number } else { nil }
    }

    package var int: Int? { decimal.flatMap { Int("\($0)") } }

    /// What must be there, and be a text.
    package var text: String {
        guard let string else { fatalError("not a text: \(self)") }
        return string
    }

    /// A text stands for its UTF-8, `{"$bytes": …}` for any bytes, and nothing for none.
    package var bytes: Data {
        if let string { return Data(string.utf8) }
        return self == .null ? Data() : Data(base64Encoded: self["$bytes"].text)!
    }

    /// What must be there, and be a whole number.
    package var whole: Int {
        guard let int else { fatalError("not a whole number: \(self)") }
        return int
    }
}

extension JSON: Codable {
    package init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if let text = try? value.decode(String.self) {
            self = .string(text)
        } else if let fields = try? value.decode([String: JSON].self) {
            self = .object(fields)
        } else if let items = try? value.decode([JSON].self) {
            self = .array(items)
        } else if let number = try? value.decode(Decimal.self) {
            self = .number(number)
        } else if let bool = try? value.decode(Bool.self) {
            self = .bool(bool)
        } else if value.decodeNil() {
            self = .null
        } else {
            throw DecodingError.dataCorruptedError(in: value, debugDescription: "not exact")
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        switch self {
        case .null: try value.encodeNil()
        case .bool(let bool): try value.encode(bool)
        case .number(let number): try value.encode(number)
        case .string(let text): try value.encode(text)
        case .array(let items): try value.encode(items)
        case .object(let fields): try value.encode(fields)
        }
    }
}

extension JSON: CustomStringConvertible {
    /// The document as text.
    package var description: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let text = try? encoder.encode(self) else { fatalError("cannot be written") }
        return String(decoding: text, as: UTF8.self)
    }
}

extension JSON: ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral {
    package init(stringLiteral text: String) { self = .string(text) }

    package init(arrayLiteral items: JSON...) { self = .array(items) }

    package init(dictionaryLiteral fields: (String, JSON)...) { self = .object(Dictionary(uniqueKeysWithValues: fields)) }

    package init(_ text: String?) { self = text.map(JSON.string) ?? .null }

    package init(_ number: Int?) { self = number.map { .number(Decimal($0)) } ?? .null }
}
