import Foundation
import ServerShop
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The upper bound of a wait, in seconds. The environment variable `KASSA_PATIENCE` multiplies it on a slow machine.
let patience: TimeInterval = 60 * (ProcessInfo.processInfo.environment["KASSA_PATIENCE"].map { Double($0)! } ?? 1)

/// What the shop logs, line by line.
final class Log: @unchecked Sendable {
    private let lock = NSLock()
    private var all: [String] = []

    var lines: [String] { lock.withLock { all } }

    @Sendable func add(_ line: String) { lock.withLock { all.append(line) } }
}

/// A shop's application on a free port, and its log.
func makeApplication() throws -> (Application, Log) {
    setenv("no_proxy", "127.0.0.1", 1)
    let log = Log()
    return (try Application(log: log.add), log)
}

/// Sends a request as a browser does, and follows its redirects: the address is that of the last page.
func send(
    _ method: String, _ address: String, _ headers: [String: String] = [:], _ body: Data? = nil
) async throws -> (status: Int, address: String?, text: String) {
    var request = URLRequest(url: try #require(URL(string: address)))
    request.httpMethod = method
    request.httpBody = body
    request.timeoutInterval = patience
    for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
    let (data, response) = try await URLSession.shared.data(for: request)
    let answer = try #require(response as? HTTPURLResponse)
    return (answer.statusCode, answer.url?.absoluteString, String(decoding: data, as: UTF8.self))
}

/// Polls until a condition holds.
func until(_ isThere: () async throws -> Bool) async throws {
    let limit = ContinuousClock.now + .seconds(patience)
    while try await !isThere() {
        try #require(ContinuousClock.now < limit, "it does not come")
        try await Task.sleep(for: .milliseconds(10))
    }
}
