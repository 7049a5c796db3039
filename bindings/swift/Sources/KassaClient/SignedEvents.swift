import Foundation

// Events that the server signs, by the scheme of Standard Webhooks.

private let (idHeader, timestampHeader, signatureHeader) = ("webhook-id", "webhook-timestamp", "webhook-signature")
private let secretPrefix = "whsec_"

extension KassaClient {
    /// The event of a request to `events.url`, if the server has signed it.
    ///
    /// ```swift
    /// let event = try KassaClient.verifyEvent(body: request.body, headers: request.headers, secrets: [eventsSecret])
    /// if event.isPaid { deliver(event.reference) }  // once for each order
    /// ```
    ///
    /// An event can come twice, with the same ``Event/id``, and after a restore of the server with a new one: deliver once for each order.
    /// Answer with 2xx after the transaction that deals with it.
    ///
    /// - Parameters:
    ///   - body: The bytes of the request as they came, **not** JSON that was parsed and written again.
    ///   - headers: The request's headers, with names in any case.
    ///   - secrets: `events.secret` of the server (`whsec_…`); several while it is replaced.
    ///   - tolerance: How far the time of sending may be from now, to either side.
    ///   - now: The time to compare with, for tests.
    /// - Throws: ``EventError`` says why it is not accepted.
    public static func verifyEvent(
        body: some Collection<UInt8>, headers: [String: String], secrets: [String], tolerance: Duration = .seconds(300),
        now: Date = Date()
    ) throws -> Event {
        let named = Dictionary(headers.map { ($0.key.lowercased(), $0.value) }) { first, _ in first }
        return try verifyEvent(body: body, header: { named[$0] }, secrets: secrets, tolerance: tolerance, now: now)
    }

    /// The same for a web framework that looks a header up by its name, in any case: in Vapor
    /// `verifyEvent(body: body.readableBytesView, header: { request.headers.first(name: $0) }, secrets: secrets)`.
    ///
    /// - Throws: As the other one does.
    public static func verifyEvent(
        body: some Collection<UInt8>, header: (String) -> String?, secrets: [String], tolerance: Duration = .seconds(300),
        now: Date = Date()
    ) throws -> Event {
        let keys = try keys(of: secrets)
        let values = try [idHeader, timestampHeader, signatureHeader].map { name in
            guard let value = header(name), !value.isEmpty else {
                throw EventError(reason: .missingHeader, detail: "the header \(name) is missing. Is this a request of kassa-server?")
            }
            return value
        }
        try checkTime(values[1], tolerance, now)
        try checkSignature(values[2], signed(values[0], values[1], body), keys)
        do {
            return try read(Event.self, from: Data(body))
        } catch {
            throw EventError(
                reason: .malformedEvent, detail: "the signature is right, but the body is not an event: \(error.text)")
        }
    }

    /// An event **for your tests**, signed with the secret (`whsec_…`) that your receiver verifies with.
    ///
    /// ```swift
    /// let signed = try KassaClient.signEvent(secret: secret, reference: "order-17")
    /// #expect(try await post("/events", signed.body, signed.headers) == 204)
    /// ```
    ///
    /// - Parameters:
    ///   - secret: The secret to sign with.
    ///   - kind: What happened, such as `checkout.expired`.
    ///   - reference: The shop's own reference of the checkout.
    ///   - amount: The checkout's amount.
    ///   - checkout: The checkout's identifier; a new one unless given.
    ///   - checkoutState: The checkout's state; the one that follows from the kind unless given.
    ///   - eventID: The event's identifier; a new one unless given. Give the same one twice to test a repeated delivery.
    ///   - after: The checkout's state before, such as `expired` for a charge that came late.
    ///   - now: When it is sent. Give an old time to test a replay.
    /// - Throws: ``EventError`` if the secret is none.
    public static func signEvent(
        secret: String, kind: String = "checkout.paid", reference: String = "order-17", amount: some ExactAmount = 390,
        checkout: String? = nil, checkoutState: String? = nil, eventID: String? = nil, after: String? = nil, now: Date = Date()
    ) throws -> SignedEvent {
        let keys = try keys(of: [secret])
        let ended = ["checkout.expired": "expired", "checkout.cancelled": "cancelled"]
        let body = EventBody(
            id: eventID ?? "evt_\(randomDigits())", type: kind, timestamp_ms: Int64((now.timeIntervalSince1970 * 1000).rounded()),
            data: EventBody.About(
                checkout: checkout ?? "co_\(randomDigits())", reference: reference, amount: amount.exactAmountText, currency: "KGS",
                checkout_state: checkoutState ?? ended[kind] ?? (kind.hasPrefix("checkout.") ? "paid" : "open"), version: 5, number: 1,
                after: after))
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let json = try encoder.encode(body)
        let timestamp = String(Int64(now.timeIntervalSince1970.rounded(.down)))
        let code = hmacSHA256(key: keys[0], signed(body.id, timestamp, json))
        let headers = [
            "Content-Type": "application/json", idHeader: body.id, timestampHeader: timestamp,
            signatureHeader: "v1,\(Data(code).base64EncodedString())",
        ]
        return SignedEvent(headers: headers, body: json)
    }

    /// A request of the server to `events.url`.
    public struct SignedEvent: Hashable, Sendable {
        /// `webhook-id`, `webhook-timestamp`, `webhook-signature` and `Content-Type`.
        public let headers: [String: String]
        /// The event as JSON.
        public let body: Data
    }
}

/// An event as the server writes it.
private struct EventBody: Encodable {
    let id: String
    let type: String
    let timestamp_ms: Int64
    let data: About

    struct About: Encodable {
        let checkout: String
        let reference: String
        let amount: String
        let currency: String
        let checkout_state: String
        let version: Int64
        let number: Int64
        let after: String?
    }
}

private func randomDigits() -> String {
    (0..<32).map { _ in String(UInt8.random(in: 0..<16), radix: 16) }.joined()
}

private func signed(_ id: String, _ timestamp: String, _ body: some Collection<UInt8>) -> [UInt8] {
    Array("\(id).\(timestamp).".utf8) + Array(body)
}

/// The keys that secrets stand for.
private func keys(of secrets: [String]) throws -> [[UInt8]] {
    guard !secrets.isEmpty else {
        throw EventError(reason: .malformedSecret, detail: "there is no secret: give the server's events.secret")
    }
    return try secrets.enumerated().map { at, secret in
        guard secret.hasPrefix(secretPrefix), let key = Data(base64Encoded: String(secret.dropFirst(secretPrefix.count))),
            24...64 ~= key.count
        else {
            // Its text is not part of the message: it may be another secret.
            let place = secrets.count == 1 ? "the secret" : "secret \(at + 1) of \(secrets.count)"
            let rule = "must be whsec_ and base64 of 24 to 64 bytes, as `kassa-server secret` prints it"
            throw EventError(reason: .malformedSecret, detail: "\(place) \(rule)")
        }
        return Array(key)
    }
}

private func checkTime(_ timestamp: String, _ tolerance: Duration, _ now: Date) throws {
    guard timestamp.wholeMatch(of: #/[0-9]{1,12}/#) != nil, let sent = Int64(timestamp) else {
        let rule = "must be seconds since 1970, not '\(timestamp.prefix(20))'"
        throw EventError(reason: .malformedTimestamp, detail: "\(timestampHeader) \(rule)")
    }
    let age = sent - Int64(now.timeIntervalSince1970.rounded(.down))
    guard Duration.seconds(age.magnitude) > tolerance else { return }
    let advice =
        "check the clocks of both machines. An event that waits in a queue is verified when it arrives, before it waits"
    let side = age < 0 ? "ago" : "ahead"
    throw EventError(
        reason: age < 0 ? .tooOld : .tooNew,
        detail: "the event was sent \(age.magnitude) s \(side), and \(tolerance) are allowed: \(advice)")
}

private func checkSignature(_ header: String, _ message: [UInt8], _ keys: [[UInt8]]) throws {
    let signatures = header.split(separator: " ").compactMap { each -> [UInt8]? in
        guard each.hasPrefix("v1,"), let code = Data(base64Encoded: String(each.dropFirst(3))), code.count == 32 else { return nil }
        return Array(code)
    }
    guard !signatures.isEmpty else {
        throw EventError(
            reason: .malformedSignature, detail: "\(signatureHeader) must have a signature of the form v1,BASE64 of 32 bytes")
    }
    let right = keys.map { hmacSHA256(key: $0, message) }
    guard right.contains(where: { code in signatures.contains { isEqual($0, code) } }) else {
        let cause = keys.count == 1 ? "the secret is not this server's" : "none of the \(keys.count) secrets is this server's"
        let advice = "pass the bytes as they came, not JSON that was parsed and written again"
        throw EventError(
            reason: .wrongSignature, detail: "the signature does not match: \(cause), or the body was changed (\(advice))")
    }
}
