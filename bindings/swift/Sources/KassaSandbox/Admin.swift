import Foundation

/// The sandbox's admin interface: requests and responses.
struct Admin: Sendable {
    let port: Int
    let token: String

    /// Sends a request and reads the response; throws if the sandbox refused it.
    func request<Answer: Decodable>(
        _ answer: Answer.Type, _ method: String, _ path: String, orderNumber: String? = nil,
        body: (any Encodable & Sendable)? = nil
    ) async throws -> Answer {
        let query = orderNumber.map { "?order_number=\(Self.escaped($0))" } ?? ""
        let text = try await exchange(method, path + query, body)
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom(moment)
        do {
            return try decoder.decode(Answer.self, from: text)
        } catch {
            let said = String(decoding: text.prefix(200), as: UTF8.self)
            throw SandboxError.notThisSandbox(detail: "this is not the sandbox of this package: it said \(said)")
        }
    }

    /// Tells it to do something that has no answer.
    func tell(_ method: String, _ path: String) async throws {
        _ = try await exchange(method, path, nil)
    }

    private func exchange(_ method: String, _ path: String, _ body: (any Encodable & Sendable)?) async throws -> Data {
        let body = try body.map { try JSONEncoder().encode($0) }
        let headers = ["Authorization: Bearer \(token)", "Content-Type: application/json"]
        let response = try await LoopbackHTTP.exchange(port: port, "\(method) /admin/\(path)", headers: headers, body: body)
        guard response.status < 400 else { throw Self.refusal(response) }
        return response.body
    }

    private static func refusal(_ response: LoopbackHTTP.Response) -> SandboxError {
        struct Refusal: Decodable { let errors: [SandboxError.FieldError] }
        let violations = (try? JSONDecoder().decode(Refusal.self, from: response.body))?.errors ?? []
        let sentences = violations.map { $0.field.isEmpty ? $0.message : "\($0.field): \($0.message)" }
        let said = String(decoding: response.body.prefix(200), as: UTF8.self)
        let detail = sentences.isEmpty ? "HTTP \(response.status): \(said)" : sentences.joined(separator: "; ")
        return .refused(httpStatus: response.status, detail: detail, violations: violations)
    }

    /// One segment of a path, or one value of a query.
    static func escaped(_ text: String) -> String {
        let plain = CharacterSet(charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~")
        return text.addingPercentEncoding(withAllowedCharacters: plain) ?? ""
    }
}

/// A moment as RFC 3339 writes it, with or without a fraction of the second.
private func moment(_ decoder: any Decoder) throws -> Date {
    let text = try decoder.singleValueContainer().decode(String.self)
    return try Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: text.contains(".")))
}
