import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// How often a request is sent at most.
private let maxAttempts = 8
/// Statuses after which the same request can succeed.
private let retryableStatuses: Set<Int> = [408, 429, 502, 503, 504]
private let problemPrefix = "urn:kassa:problem:"

/// A request to the server.
struct Call: Sendable {
    var method: String
    var path: String
    var query: [(String, String)] = []
    var body: Data?
    /// How long the server waits before it answers.
    var wait: Duration = .zero
    /// Whether it can be sent again if it may have been executed.
    var canRepeat = true
}

/// The backoff between attempts: the pause doubles from the first one, and up to half of it is left out at random (jitter).
struct Backoff: Sendable {
    var first: Duration = .milliseconds(250)
    var longest: Duration = .seconds(5)
}

/// Calls of one server: deadlines, retries, and refusals as errors.
final class Transport: Sendable {
    let url: String
    private let key: String
    private let timeout: Duration
    private let backoff: Backoff
    private let exchanges = Exchanges()

    init(url: String, apiKey: String, timeout: Duration, backoff: Backoff) throws {
        // The message does not contain the key: it may be another secret.
        guard !apiKey.isEmpty, apiKey.utf8.allSatisfy({ 0x21...0x7e ~= $0 }) else {
            throw KassaClientError.invalid(
                field: "apiKey", rule: "must not be empty, and has no spaces, line breaks or letters beyond ASCII")
        }
        guard timeout > .zero, timeout <= .seconds(24 * 60 * 60) else {
            throw KassaClientError.invalid(field: "timeout", rule: "must be more than 0 s, and at most a day")
        }
        self.url = url
        self.timeout = timeout
        self.backoff = backoff
        key = apiKey
    }

    deinit { exchanges.close() }

    func close() { exchanges.close() }

    /// The value that the server answers with.
    func request<Value: Decodable & Sendable>(_: Value.Type, _ call: Call) async throws -> Value {
        let response = try await send(call)
        if 300..<400 ~= response.httpStatus {
            let location = response.location.prefix(200)
            throw bad("\(url) redirects to '\(location)'; set the address of kassa-server itself", response)
        }
        guard response.httpStatus < 400 else { throw problem(response) }
        do {
            return try read(Value.self, from: response.body)
        } catch {
            throw bad("\(url) did not answer as kassa-server does: \(error.text)", response)
        }
    }

    /// Sends a request until there is an answer, the attempts are used up, or the time is over.
    private func send(_ call: Call) async throws -> Response {
        let request = try urlRequest(call)
        let limit = timeout + call.wait
        let deadline = ContinuousClock.now + limit
        // A connection that the server has closed meanwhile must not make the network library repeat what is sent once.
        let exchanges = call.canRepeat ? exchanges : Exchanges()
        defer { if !call.canRepeat { exchanges.close() } }
        var (attempt, pause) = (1, backoff.first)
        while true {
            try Task.checkCancellation()
            let failure: KassaClientError
            var (canRepeat, retryAfter) = (call.canRepeat, Duration.zero)
            do {
                let response = try await inTime(deadline) { try await exchanges.send(request) }
                guard retryableStatuses.contains(response.httpStatus) else { return response }
                retryAfter = response.retryAfter ?? .zero
                failure = unavailable(response, "")
            } catch ExchangeError.closed {
                throw KassaClientError.closed
            } catch ExchangeError.tooLarge(let httpStatus) {
                throw KassaClientError.badResponse(detail: "the response of \(url) is too large", httpStatus: httpStatus, text: "")
            } catch ExchangeError.connection(let error) {
                canRepeat = canRepeat && !isCertificate(error)
                failure = .unavailable(detail: masked("\(url) \(reason(error))"), httpStatus: nil, retryAfter: nil)
            } catch is TimedOut {
                throw KassaClientError.unavailable(
                    detail: "\(url) did not answer within \(limit)", httpStatus: nil, retryAfter: nil)
            }
            let next = max(retryAfter, pause * Double.random(in: 0.5...1))
            guard canRepeat, attempt < maxAttempts, ContinuousClock.now + next < deadline else { throw failure }
            try await Task.sleep(for: next)
            (attempt, pause) = (attempt + 1, min(pause * 2, backoff.longest))
        }
    }

    private func urlRequest(_ call: Call) throws -> URLRequest {
        let query = call.query.map { "\($0)=\(escaped($1))" }.joined(separator: "&")
        guard let url = URL(string: "\(url)\(call.path)\(query.isEmpty ? "" : "?\(query)")") else {
            throw KassaClientError.invalid(field: "url", rule: "must be an address")
        }
        var request = URLRequest(url: url)
        request.httpMethod = call.method
        request.httpBody = call.body
        // The deadline is that of the call; this one of the library begins anew with each byte.
        request.timeoutInterval = 2 * 24 * 60 * 60
        request.setValue("Bearer \(key)", forHTTPHeaderField: "Authorization")
        request.setValue("application/json", forHTTPHeaderField: "Accept")
        request.setValue("kassa-swift", forHTTPHeaderField: "User-Agent")
        if call.body != nil { request.setValue("application/json", forHTTPHeaderField: "Content-Type") }
        return request
    }

    /// Why there is no response.
    private func reason(_ error: URLError) -> String {
        switch error.code {
        case .networkConnectionLost: "closed the connection before the response ended"
        case .badServerResponse, .cannotParseResponse: "did not answer with HTTP"
        default: "could not be reached: \(error.localizedDescription)"
        }
    }

    private func problem(_ response: Response) -> KassaClientError {
        guard let body = try? read(ProblemBody.self, from: response.body), body.type.hasPrefix(problemPrefix) else {
            return bad("\(url) did not answer as kassa-server does", response)
        }
        let detail = masked(body.detail ?? body.title)
        guard response.httpStatus < 500 else { return unavailable(response, ": \(detail)") }
        let problem = KassaClientError.Problem(
            httpStatus: response.httpStatus, kind: String(body.type.dropFirst(problemPrefix.count)), detail: detail,
            violations: (body.violations ?? []).map { .init(field: $0.field, rule: $0.rule, text: masked($0.text)) },
            state: body.state)
        switch (response.httpStatus, body.next) {
        case (401, _): return .wrongKey(problem)
        case (404, _): return .notFound(problem)
        case (409, _), (422, _): return .conflict(problem)
        case (410, let next?): return .historyGone(problem, next: next)
        case (410, nil): return bad("\(url) did not answer as kassa-server does: next is missing", response)
        default: return .refused(problem)
        }
    }

    private func unavailable(_ response: Response, _ detail: String) -> KassaClientError {
        let hint = response.retryAfter.map { "; it asks to wait \($0.components.seconds) s" } ?? ""
        return .unavailable(
            detail: "\(url) answered HTTP \(response.httpStatus)\(detail)\(hint)", httpStatus: response.httpStatus,
            retryAfter: response.retryAfter)
    }

    private func bad(_ detail: String, _ response: Response) -> KassaClientError {
        let text = masked(String(decoding: response.body, as: UTF8.self))
        return .badResponse(detail: masked(detail), httpStatus: response.httpStatus, text: String(text.prefix(200)))
    }

    private func masked(_ text: String) -> String {
        text.replacing(key, with: "***").replacing(#/\b(ak_|sk_|ct_|whsec_|pay/)[\w+\/=\-]+/#) { "\($0.1)***" }
    }
}

/// Problem details (RFC 9457), as they come.
private struct ProblemBody: Decodable {
    let type: String
    let title: String
    let detail: String?
    let violations: [Violation]?
    let state: String?
    let next: String?

    struct Violation: Decodable {
        let field: String
        let rule: String
        let text: String
    }
}

private struct TimedOut: Error {}

/// Ends with an error when the time is over.
private func inTime<Value: Sendable>(
    _ deadline: ContinuousClock.Instant, _ work: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    try await withThrowingTaskGroup(of: Value.self) { group in
        defer { group.cancelAll() }
        group.addTask(operation: work)
        group.addTask {
            try await Task.sleep(until: deadline)
            throw TimedOut()
        }
        guard let first = try await group.next() else { throw TimedOut() }
        return first
    }
}

/// Another attempt would find the same certificate.
private func isCertificate(_ error: URLError) -> Bool {
    let codes: Set<URLError.Code> = [
        .serverCertificateUntrusted, .serverCertificateHasBadDate, .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid,
        .clientCertificateRejected, .clientCertificateRequired,
    ]
    return codes.contains(error.code)
}
