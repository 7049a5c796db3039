internal import KassaGenerated

/// How to read the gateway's replies, as one JSON document that is the same in all languages.
///
/// Much of the interface is not shown: the replies of the mobile bank, of `get-status` and of the QR endpoints, the codes, the full
/// set of status words. A dialect names them, so that a merchant need not wait for a release to teach Kassa what the gateway really
/// sends. `Dialect()` assumes the envelope that the interface shows; ``init(json:)`` replaces only what it names.
///
/// ```swift
/// let dialect = try Dialect(json: #"{"charged_words": ["CHARGE", "PAID"]}"#)
/// ```
public struct Dialect: Sendable {
    let core: KassaGenerated.Dialect
    /// The whole dialect as JSON, defaults included: a good start for a file of one's own.
    public let json: String

    init(core: KassaGenerated.Dialect) {
        self.core = core
        json = core.toJson()
    }

    /// The dialect that assumes the envelope which the interface shows.
    public init() {
        self.init(core: KassaGenerated.Dialect())
    }

    /// Reads the JSON form. What it does not name stays as in the default.
    ///
    /// - Throws: ``PaymentError/invalid(violations:)`` naming every part that is not understood: a field that does not exist or that
    ///   its endpoint does not use, a pointer that is not one, a code or a word in two lists that exclude each other.
    public init(json: String) throws {
        self.init(core: try translated { try .fromJson(text: checked(json, "dialect")) })
    }
}

extension Dialect: Hashable, CustomStringConvertible, CustomReflectable {
    /// True where they read every reply alike.
    public static func == (one: Dialect, other: Dialect) -> Bool { one.json == other.json }

    /// The hash of what it says.
    public func hash(into hasher: inout Hasher) { hasher.combine(json) }

    /// Whether it is the default.
    public var description: String { self == Dialect() ? "Dialect()" : "Dialect(json: ...)" }

    /// Its JSON.
    public var customMirror: Mirror { Mirror(self, children: ["json": json]) }
}
