internal import KassaGenerated

/// How to read the gateway's responses, as one JSON document that is the same in all languages.
///
/// Much of the interface is not shown: the responses of the mobile bank, of `get-status` and of the QR endpoints, the codes, the full
/// set of status words. A dialect names them, so that a merchant need not wait for a release to teach Kassa what the gateway really
/// sends. `Dialect()` assumes the envelope that the interface shows; ``init(named:)`` gives one that Kassa knows; ``init(json:)``
/// replaces only what it names.
///
/// ```swift
/// let dialect = try Dialect(json: #"{"base": "finipay", "charged_words": ["CHARGE", "PAID"]}"#)
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

    /// Reads the JSON form. What it does not name stays as in its `base`: the name of a known dialect, which is `interface` unless
    /// given.
    ///
    /// - Throws: ``PaymentError/invalid(violations:)`` naming every part that is not understood: a field that does not exist or that
    ///   its endpoint does not use, a pointer that is not one, a code or a word in two lists that exclude each other.
    public init(json: String) throws {
        self.init(core: try translated { try .fromJson(text: checked(json, "dialect")) })
    }

    /// A dialect that Kassa knows: `interface`, the default, or `finipay`, which the public pages of that gateway show. It was never
    /// tried against the live service; what differs is replaced by ``init(json:)`` with this `base`.
    ///
    /// - Throws: ``PaymentError/invalid(violations:)`` for any other name.
    public init(named name: String) throws {
        self.init(core: try translated { try .named(name: checked(name, "dialect")) })
    }

    /// The names that ``init(named:)`` and the JSON's `base` take.
    public static var names: [String] { dialectNames() }

    /// What this dialect reads in the body of a response to an endpoint's requests, for whoever writes a dialect. Nothing is sent.
    ///
    /// The request is not known, so no secret can be masked, and nothing is compared with what was asked for: give it the `raw` of an
    /// answer or the `body` of an error, in which secrets are masked.
    ///
    /// - Parameters:
    ///   - endpoint: The endpoint by its name in the dialect, such as `qr_status`.
    ///   - response: The body of the response.
    /// - Throws: ``PaymentError/invalid(violations:)`` where there is no such endpoint.
    public func explain(endpoint: String, response: String) throws -> DialectReading {
        DialectReading(
            try translated { try core.explain(endpoint: checked(endpoint, "endpoint"), response: checked(response, "response")) })
    }

    /// What this dialect leaves open that matters to money, and what to set. It blocks nothing.
    public func advice() -> [Advice] { core.advice().map(Advice.init) }
}

/// What a dialect reads in a response: the answer of ``Dialect/explain(endpoint:response:)``.
public struct DialectReading: Hashable, Sendable, Codable, CustomStringConvertible {
    /// What was found, in the order of the endpoint's fields.
    public let fields: [DialectField]
    /// The list that has the response's code: `success`, `refusal`, `unknown` or `duplicate`. None where no list has it, or the response has
    /// no code. A code in no list is a success where the list of success codes is empty.
    public let codeMeans: String?
    /// What the status word means: `charged`, `rejected` or `pending`. None where the response is no answer, or the endpoint is no status
    /// query.
    public let statusMeans: String?
    /// The JSON pointers of the texts, numbers and booleans of the response that the dialect does not look at. Of a very long response the
    /// first ones.
    public let unread: [String]
    /// Why the response is no answer: it is not JSON, its code is not known as a success, what the endpoint needs is missing. None where it
    /// is one.
    public let problem: String?

    /// One made by hand, for tests of your own.
    public init(
        fields: [DialectField], codeMeans: String? = nil, statusMeans: String? = nil, unread: [String] = [], problem: String? = nil
    ) {
        self.fields = fields
        self.codeMeans = codeMeans
        self.statusMeans = statusMeans
        self.unread = unread
        self.problem = problem
    }

    /// All fields that are there.
    public var description: String { described(self) }
}

/// One thing that a dialect finds in a response, and where.
public struct DialectField: Hashable, Sendable, Codable, CustomStringConvertible {
    /// What was looked for, as the dialect's JSON names it, such as `status`.
    public let name: String
    /// Where it was found: a JSON pointer, such as `/data/status`, or a tag of an ELQR code, such as `elqr:32.11`.
    public let pointer: String
    /// The value, as text.
    public let value: String

    /// One made by hand, for tests of your own.
    public init(name: String, pointer: String, value: String) {
        self.name = name
        self.pointer = pointer
        self.value = value
    }

    /// All fields.
    public var description: String { described(self) }
}

extension DialectReading {
    init(_ core: KassaGenerated.DialectReading) {
        self.init(
            fields: core.fields.map { DialectField(name: $0.name, pointer: $0.pointer, value: $0.value) },
            codeMeans: core.codeMeans, statusMeans: core.statusMeans, unread: core.unread, problem: core.problem)
    }
}

extension Dialect: Hashable, CustomStringConvertible, CustomReflectable {
    /// True where they read every response alike.
    public static func == (one: Dialect, other: Dialect) -> Bool { one.json == other.json }

    /// The hash of what it says.
    public func hash(into hasher: inout Hasher) { hasher.combine(json) }

    /// Which known one it is, if any.
    public var description: String {
        if self == Dialect() { return "Dialect()" }
        let name = Dialect.names.first { (try? Dialect(named: $0)) == self }
        return name.map { "Dialect(named: \"\($0)\")" } ?? "Dialect(json: ...)"
    }

    /// Its JSON.
    public var customMirror: Mirror { Mirror(self, children: ["json": json]) }
}
