import Foundation

/// A shop's back end at kassa-server: opens checkouts, and reads what became of them.
///
/// ```swift
/// let client = try KassaClient(url: "https://pay.shop.example.kg", apiKey: key)
/// let checkout = try await client.openCheckout(
///     "order-17", amount: 390, description: "Two tickets", returnURL: "https://shop.example.kg/paid")
/// redirect(to: checkout.pageURL)
/// ```
///
/// What becomes of the checkout comes as an event to `events.url`: ``verifyEvent(body:headers:secrets:tolerance:now:)``.
///
/// Make one and keep it: it keeps its connections, and any number of tasks can use it. Every call ends within the timeout, with a value or
/// a ``KassaClientError``, and at once, with a `CancellationError`, if its task is cancelled: whether the server has the request is unknown
/// then. Requests are sent up to 8 times where that is safe, with growing pauses: without a connection, and after 408, 429, 502, 503 and
/// 504. It follows no redirect, and never prints the key. **On Apple's systems it uses no proxy**; on Linux `https_proxy` of the
/// environment is a tunnel for https, and a proxy for plain http is refused.
///
/// It needs Foundation alone, and nothing of Kassa's native library.
public final class KassaClient: Sendable {
    /// The server's address, without a slash at its end.
    public let url: String
    private let transport: Transport
    let pauses = Pauses()

    /// Nothing is sent yet.
    ///
    /// - Parameters:
    ///   - url: The server's address, its `public_url`, without `/v1`: https, or http to a loopback address or to one of
    ///     `plainHTTPHosts`.
    ///   - apiKey: What `kassa-server keys new` printed (`ak_…`).
    ///   - timeout: For a whole call with its retries.
    ///   - plainHTTPHosts: Hosts that may be called by plain http, such as `["kassa-server"]` in a network of your own: whoever listens
    ///     there reads the key.
    /// - Throws: ``KassaClientError/invalid(field:rule:)`` names a setting that is wrong.
    public convenience init(url: String, apiKey: String, timeout: Duration = .seconds(30), plainHTTPHosts: [String] = []) throws {
        try self.init(url: url, apiKey: apiKey, timeout: timeout, plainHTTPHosts: plainHTTPHosts, backoff: Backoff())
    }

    init(
        url: String, apiKey: String, timeout: Duration, plainHTTPHosts: [String], backoff: Backoff,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws {
        self.url = try serverAddress(url, plainHTTPHosts: plainHTTPHosts, environment)
        transport = try Transport(url: self.url, apiKey: apiKey, timeout: timeout, backoff: backoff)
    }

    /// A client by `KASSA_SERVER_URL` and `KASSA_API_KEY`. `KASSA_PLAIN_HTTP_HOSTS` can name hosts, separated by commas, that may be called
    /// by plain http.
    ///
    /// - Throws: ``KassaClientError/invalid(field:rule:)`` names a variable that is not set, or a setting that is wrong.
    public static func fromEnvironment(timeout: Duration = .seconds(30)) throws -> KassaClient {
        try fromEnvironment(ProcessInfo.processInfo.environment, timeout)
    }

    static func fromEnvironment(_ environment: [String: String], _ timeout: Duration) throws -> KassaClient {
        func variable(_ name: String) throws -> String {
            guard let value = environment[name], !value.isEmpty else {
                throw KassaClientError.invalid(field: name, rule: "is not set in the environment")
            }
            return value
        }
        let hosts = (environment["KASSA_PLAIN_HTTP_HOSTS"] ?? "").split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        return try KassaClient(
            url: variable("KASSA_SERVER_URL"), apiKey: variable("KASSA_API_KEY"), timeout: timeout, plainHTTPHosts: hosts,
            backoff: Backoff(), environment: environment)
    }

    /// Closes its connections, ends calls that wait, and ends `events` that follow the history. Further calls throw
    /// ``KassaClientError/closed``.
    public func close() {
        pauses.close()
        transport.close()
    }

    /// Whether ``close()`` was called.
    public var isClosed: Bool { pauses.isClosed }

    // MARK: Checkouts

    /// Opens a checkout. Send the payer to its ``Checkout/pageURL``.
    ///
    /// - Parameters:
    ///   - reference: Your order's number. **The same reference with the same content returns the same checkout**, also after it ended,
    ///     so a repetition is safe. With other content it is a ``KassaClientError/conflict(_:)``.
    ///   - amount: In units of the currency, with at most two digits after the point: `390`, `"390.50"`, or a `Decimal`; never a float.
    ///   - description: What the payer reads.
    ///   - returnURL: The page to which the payer returns. That somebody comes there proves nothing.
    ///   - methods: Such as `["qr", "mbank"]`; all that can carry the amount unless given.
    ///   - lifetime: How long it can be paid, from a minute to 30 days; an hour unless given.
    ///   - metadata: Up to 20 texts of your own, which come back with the checkout.
    ///   - currency: `KGS` unless given.
    public func openCheckout(
        _ reference: String, amount: some ExactAmount, description: String, returnURL: String, methods: [String]? = nil,
        lifetime: Duration? = nil, metadata: [String: String]? = nil, currency: String? = nil
    ) async throws -> Checkout {
        let wanted = NewCheckout(
            reference: reference, amount: amount.exactAmountText, description: description, return_url: returnURL, methods: methods,
            lifetime_s: lifetime?.components.seconds, metadata: metadata, currency: currency)
        return try await transport.request(Checkout.self, Call(method: "POST", path: "/v1/checkouts", body: json(wanted)))
    }

    /// A checkout by its identifier (`co_…`).
    ///
    /// - Throws: ``KassaClientError/notFound(_:)`` if there is none.
    public func checkout(_ checkout: String) async throws -> Checkout {
        try await transport.request(Checkout.self, Call(method: "GET", path: path(checkout)))
    }

    /// A checkout by your own reference. Nil if there is none.
    public func findCheckout(reference: String) async throws -> Checkout? {
        do {
            return try await transport.request(
                Checkout.self, Call(method: "GET", path: "/v1/checkouts", query: [("reference", reference)]))
        } catch KassaClientError.notFound(let problem) where problem.detail.hasPrefix("There is no such checkout") {
            // Another 404 says that the address is wrong, and nothing about the checkout.
            return nil
        }
    }

    /// The checkout as soon as its ``Checkout/version`` is above `afterVersion`, or as it is after `wait` (at most a minute).
    ///
    /// Only while somebody waits for an answer: events also tell of money that comes later.
    public func waitForChange(_ checkout: String, afterVersion: Int64, wait: Duration = .seconds(25)) async throws -> Checkout {
        let seconds = min(max(wait.components.seconds, 0), 60)
        let query = [("after", "\(afterVersion)"), ("wait", "\(seconds)")]
        return try await transport.request(
            Checkout.self, Call(method: "GET", path: path(checkout), query: query, wait: .seconds(seconds)))
    }

    /// Cancels a checkout.
    ///
    /// - Throws: ``KassaClientError/conflict(_:)`` if it has ended, or a payment of it may still be charged: wait for its outcome.
    @discardableResult
    public func cancel(_ checkout: String) async throws -> Checkout {
        try await transport.request(Checkout.self, Call(method: "POST", path: path(checkout, "/cancel")))
    }

    /// Has the server query the gateway about the checkout's payments now. An event tells what it finds out.
    public func check(_ checkout: String) async throws {
        _ = try await transport.request(Done.self, Call(method: "POST", path: path(checkout, "/check")))
    }

    /// A client token for the payer's app: it opens this checkout and nothing else.
    public func newToken(_ checkout: String) async throws -> Token {
        try await transport.request(Token.self, Call(method: "POST", path: path(checkout, "/tokens")))
    }

    /// Revokes all client tokens of the checkout; how many there were.
    @discardableResult
    public func revokeTokens(_ checkout: String) async throws -> Int {
        try await transport.request(Count.self, Call(method: "DELETE", path: path(checkout, "/tokens"))).count
    }

    // MARK: Payments

    /// Records how a payment (`pay_…`) ended, for a person who looked at the gateway's own records.
    ///
    /// With ``Outcome/charged`` it pays its checkout. It is sent once: after a
    /// ``KassaClientError/unavailable(detail:httpStatus:retryAfter:)``, look at the checkout before you repeat it.
    ///
    /// - Parameters:
    ///   - payment: The payment's identifier.
    ///   - outcome: How it ended.
    ///   - reason: What the person found.
    ///   - by: The person's name.
    /// - Throws: ``KassaClientError/conflict(_:)`` if the outcome is known, or is still being determined.
    public func resolvePayment(_ payment: String, _ outcome: Outcome, reason: String, by: String) async throws -> Payment {
        let wanted = ["outcome": outcome.rawValue, "reason": reason, "by": by]
        let path = "/v1/payments/\(try named(payment, "payment"))/resolve"
        return try await transport.request(Payment.self, Call(method: "POST", path: path, body: json(wanted), canRepeat: false))
    }

    // MARK: Events

    /// One page of the events after a cursor, for a loop of your own;
    /// ``events(after:limit:follow:interval:onFailure:)`` reads them all.
    public func page(after: String = "0", limit: Int = 100) async throws -> EventPage {
        try await transport.request(
            EventPage.self, Call(method: "GET", path: "/v1/events", query: [("after", after), ("limit", "\(limit)")]))
    }

    /// Delivers events again whose delivery was given up or refused, of one checkout (`co_…`) or of all; how many.
    @discardableResult
    public func replayEvents(checkout: String? = nil) async throws -> Int {
        let wanted = checkout.map { ["checkout": $0] } ?? [:]
        return try await transport.request(Count.self, Call(method: "POST", path: "/v1/events/replay", body: json(wanted))).count
    }
}

extension KassaClient: CustomStringConvertible, CustomReflectable {
    /// Its address, without the key.
    public var description: String { "KassaClient(\(url))" }

    /// Its address, without the key.
    public var customMirror: Mirror { Mirror(self, children: ["url": url]) }
}

extension KassaClient {
    /// The type of an amount: a whole number, a text such as `"390.50"`, or a `Decimal`. `Double` does not conform, so `amount: 100.10`
    /// does not compile: it would pass through a float.
    public protocol ExactAmount: Sendable {
        /// The amount as the server takes it.
        var exactAmountText: String { get }
    }
}

extension Int: KassaClient.ExactAmount {
    /// Its digits.
    public var exactAmountText: String { String(self) }
}

extension String: KassaClient.ExactAmount {
    /// Itself; the server refuses what is no amount.
    public var exactAmountText: String { self }
}

extension Decimal: KassaClient.ExactAmount {
    /// Its digits.
    public var exactAmountText: String { description }
}

/// A checkout to open, with its names on the wire.
private struct NewCheckout: Encodable {
    let reference: String
    let amount: String
    let description: String
    let return_url: String
    let methods: [String]?
    let lifetime_s: Int64?
    let metadata: [String: String]?
    let currency: String?
}

/// How many records a request affected.
private struct Count: Decodable {
    let count: Int
}

/// An empty object.
private struct Done: Decodable {}

private func json(_ value: some Encodable) throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return try encoder.encode(value)
}

private func path(_ checkout: String, _ action: String = "") throws -> String {
    "/v1/checkouts/\(try named(checkout, "checkout"))\(action)"
}

private func named(_ identifier: String, _ field: String) throws -> String {
    guard !identifier.isEmpty else { throw KassaClientError.invalid(field: field, rule: "must be an identifier") }
    return escaped(identifier)
}
