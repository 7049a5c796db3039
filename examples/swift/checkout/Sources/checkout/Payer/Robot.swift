import Foundation
import KassaSandbox

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The fields of one form.
typealias Form = KeyValuePairs<String, String>

/// Plays the payer over real HTTP: opens the sandbox's pages, posts their forms, goes where they send it. It visits pages on this
/// machine only.
struct Robot: Sendable {
    /// How a visit ended.
    enum Visit {
        /// The gateway sent the payer back to the shop, and the payer went.
        case returned
        /// It ended on a page of the gateway.
        case stayed
    }

    private let session: URLSession

    init() {
        let configuration = URLSessionConfiguration.ephemeral
        // A page of the sandbox answers at once.
        configuration.timeoutIntervalForRequest = 15
        session = URLSession(configuration: configuration, delegate: NoRedirects(), delegateQueue: nil)
    }

    /// Opens a page and fills in one form after the other, each on the page that the one before led to.
    func visit(_ page: URL, _ forms: [Form]) async throws -> Visit {
        var page = page
        for form in forms {
            try await open(page)
            let answer = try await ask(page, form)
            switch answer.statusCode {
            // A result page: there is nothing left to fill in.
            case 200: return .stayed
            case 303:
                guard let next = answer.value(forHTTPHeaderField: "Location").flatMap(URL.init) else { throw broken(page, answer) }
                page = next
            default: throw broken(page, answer)
            }
        }
        try await open(page)
        return .returned
    }

    private func open(_ page: URL) async throws {
        let answer = try await ask(page, nil)
        guard answer.statusCode == 200 else { throw broken(page, answer) }
    }

    private func ask(_ page: URL, _ form: Form?) async throws -> HTTPURLResponse {
        guard page.scheme == "http", isLoopback(page.absoluteString) else {
            throw Failure.system("the robot visits pages on this machine only; use --interactive")
        }
        var request = URLRequest(url: page)
        if let form {
            request.httpMethod = "POST"
            request.setValue("application/x-www-form-urlencoded", forHTTPHeaderField: "Content-Type")
            request.httpBody = Data(form.map { "\(Self.encoded($0))=\(Self.encoded($1))" }.joined(separator: "&").utf8)
        }
        do {
            guard let answer = try await session.data(for: request).1 as? HTTPURLResponse else { throw URLError(.badServerResponse) }
            return answer
        } catch {
            // Without the rest of the URL, which opens the payment.
            throw Failure.system("the page at \(page.path) cannot be reached")
        }
    }

    private func broken(_ page: URL, _ answer: HTTPURLResponse) -> Failure {
        .system("the page at \(page.path) answered HTTP \(answer.statusCode)")
    }

    private static func encoded(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    }
}

/// A redirect is an answer.
private final class NoRedirects: NSObject, URLSessionTaskDelegate, Sendable {
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }
}

/// What the robot knows of the sandbox's test payers: what it has to fill in after the choice; nil where it cannot know.
enum TestPayers {
    static func otpForms(ofCard pan: String, given otp: String?) -> [Form]? {
        if let otp { return [["otp": otp]] }
        guard let card = Sandbox.TestCard.all.first(where: { $0.pan == digits(pan) }) else { return nil }
        return card.otp.map { [["otp": $0]] } ?? []
    }

    static func otp(ofPhone phone: String, _ provider: Sandbox.Provider) -> String? {
        Sandbox.TestPhone.all.first { $0.provider == provider && $0.phone == digits(phone) }?.otp
    }

    private static func digits(_ text: String) -> String { text.filter { ("0"..."9").contains($0) } }
}
