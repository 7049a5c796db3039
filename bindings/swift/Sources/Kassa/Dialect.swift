internal import KassaGenerated

/// How to read the gateway's responses: one JSON document, the same in all languages.
///
/// The interface does not document the responses of the mobile bank, of `get-status` and of the QR endpoints, the codes, or all status
/// words. A dialect maps them, so you need not wait for a release of Kassa when the gateway sends something else. `Dialect()` assumes the
/// documented envelope; ``init(named:)`` returns a built-in dialect; ``init(json:)`` replaces only what it names.
///
/// ```swift
/// let dialect = try Dialect(json: #"{"base": "finipay", "charged_words": ["CHARGE", "PAID"]}"#)
/// ```
public struct Dialect: Sendable {
    let core: KassaGenerated.Dialect
    /// The whole dialect as JSON, including defaults: a good start for your own file.
    public let json: String

    init(core: KassaGenerated.Dialect) {
        self.core = core
        json = core.toJson()
    }

    /// The default dialect: the envelope that the interface documents.
    public init() {
        self.init(core: KassaGenerated.Dialect())
    }

    /// Parses the JSON form. What it does not name stays as in its `base`: the name of a built-in dialect, by default `interface`.
    ///
    /// - Throws: ``PaymentError/invalid(violations:)`` with every error: a field that does not exist or that its endpoint does not use,
    ///   an invalid pointer, a code or word in two lists that exclude each other.
    public init(json: String) throws {
        self.init(core: try translated { try .fromJson(text: checked(json, "dialect")) })
    }

    /// A built-in dialect: `interface`, the default, or `finipay`, from the public pages of that gateway. It was never tried against the
    /// live service; override differences with ``init(json:)`` and this `base`.
    ///
    /// - Throws: ``PaymentError/invalid(violations:)`` for any other name.
    public init(named name: String) throws {
        self.init(core: try translated { try .named(name: checked(name, "dialect")) })
    }

    /// The names that ``init(named:)`` and the JSON's `base` accept.
    public static var names: [String] { dialectNames() }

    /// What this dialect reads in the body of an endpoint's response, for authors of dialects. Sends nothing.
    ///
    /// Without the request, no secret can be masked and nothing can be compared. Pass the `raw` of an answer or the `body` of an error,
    /// in which secrets are masked.
    ///
    /// - Parameters:
    ///   - endpoint: The endpoint by its name in the dialect, such as `qr_status`.
    ///   - response: The body of the response.
    /// - Throws: ``PaymentError/invalid(violations:)`` if there is no such endpoint.
    public func explain(endpoint: String, response: String) throws -> DialectReading {
        DialectReading(
            try translated { try core.explain(endpoint: checked(endpoint, "endpoint"), response: checked(response, "response")) })
    }

    /// Settings that this dialect leaves open and that matter for money. It blocks nothing.
    public func advice() -> [Advice] { core.advice().map(Advice.init) }
}

/// What a dialect reads in a response: the result of ``Dialect/explain(endpoint:response:)``.
public struct DialectReading: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The values found, in the order of the endpoint's fields.
    public let fields: [DialectField]
    /// The list that has the response's code: `success`, `refusal`, `unknown` or `duplicate`. None if no list has it, or the response has
    /// no code. A code in no list is a success if the list of success codes is empty.
    public let codeMeans: String?
    /// What the status word means: `charged`, `rejected` or `pending`. None if the response is not an answer, or the endpoint is not a
    /// status query.
    public let statusMeans: String?
    /// JSON pointers to the texts, numbers and booleans of the response that the dialect does not read; only the first ones of a very
    /// long response.
    public let unread: [String]
    /// Why the response is not an answer: it is not JSON, its code is not known as a success, or a required field is missing. None if it
    /// is an answer.
    public let problem: String?

    /// For tests of your own code.
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

/// One value that a dialect finds in a response, and its place.
public struct DialectField: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The dialect's name of the field, such as `status`.
    public let name: String
    /// The place: a JSON pointer, such as `/data/status`, or a tag of an ELQR code, such as `elqr:32.11`.
    public let pointer: String
    /// The value, as text.
    public let value: String

    /// For tests of your own code.
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
    /// True if they read every response in the same way.
    public static func == (one: Dialect, other: Dialect) -> Bool { one.json == other.json }

    /// The hash of its content.
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
