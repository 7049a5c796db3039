import Foundation
internal import KassaGenerated

/// A date and a time of day **without a zone**: the interface does not say which zone its dates are in, so neither does Kassa.
///
/// ``dateComponents`` converts it for Foundation, also without a time zone; a `Date` needs the time zone of the gateway, which you have
/// to know.
public struct LocalDateTime: Hashable, Sendable {
    /// The year.
    public let year: Int
    /// The month, 1 to 12.
    public let month: Int
    /// The day of the month, 1 to 31.
    public let day: Int
    /// The hour, 0 to 23.
    public let hour: Int
    /// The minute, 0 to 59.
    public let minute: Int
    /// The second, 0 to 59; 0 if not given.
    public let second: Int
    /// The fraction of the second in nanoseconds; 0 if not given.
    public let nanosecond: Int

    /// The same for Foundation: without a calendar, and without a zone.
    public var dateComponents: DateComponents {
        DateComponents(
            year: year, month: month, day: day, hour: hour, minute: minute, second: second, nanosecond: nanosecond)
    }
}

extension LocalDateTime: LosslessStringConvertible, Comparable {
    /// Reads `2026-11-20T09:05`, with or without seconds and their fraction; nil if the text has another form.
    public init?(_ text: String) {
        guard text.utf8.count <= longestText, let core = parseLocalDateTime(text: text) else { return nil }
        self.init(core)
    }

    /// Such as `2026-11-20T09:05:07.25`.
    public var description: String { core.asText() }

    /// True if the first is earlier, in the same time zone.
    public static func < (one: LocalDateTime, other: LocalDateTime) -> Bool {
        one.inOrder.lexicographicallyPrecedes(other.inOrder)
    }

    private var inOrder: [Int] { [year, month, day, hour, minute, second, nanosecond] }
}

/// Serialization: its text, as ``description`` writes it.
extension LocalDateTime: Codable {
    /// Reads the text.
    public init(from decoder: any Decoder) throws {
        guard let moment = LocalDateTime(try decoder.singleValueContainer().decode(String.self)) else {
            throw damaged(at: decoder.codingPath, "a date and time is a text, such as \"2026-11-20T09:05:07\"")
        }
        self = moment
    }

    /// Writes the text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

extension LocalDateTime {
    init(_ core: KassaGenerated.LocalDateTime) {
        self.init(
            year: Int(core.year), month: Int(core.month), day: Int(core.day), hour: Int(core.hour), minute: Int(core.minute),
            second: Int(core.second), nanosecond: Int(core.nanosecond))
    }

    /// It came from there, so every number fits.
    var core: KassaGenerated.LocalDateTime {
        KassaGenerated.LocalDateTime(
            year: Int32(year), month: UInt8(month), day: UInt8(day), hour: UInt8(hour), minute: UInt8(minute),
            second: UInt8(second), nanosecond: UInt32(nanosecond))
    }
}
