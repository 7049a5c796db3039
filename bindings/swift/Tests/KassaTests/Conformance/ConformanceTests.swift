import Foundation
import Kassa
import Testing

/// Most vectors wait for sockets and pauses, so many of them share a core.
private let atOnce = 16

/// There is one log for a whole program, so what listens to it runs one after the other.
@Suite(.serialized) struct OneLog {}

/// Runs the conformance vectors against the Swift package. What a vector means is described in `tests/conformance/README.md`.
///
/// `KASSA_VECTORS=TEXT` in the environment runs those with TEXT in their name or group only.
extension OneLog {
    @Test func everyVector() async throws {
        let log = Log()
        KassaLog.send { log.append($0) }
        let files = try Vectors.load()
        let filter = ProcessInfo.processInfo.environment["KASSA_VECTORS"] ?? ""
        let all = files.values.joined()
        let chosen = all.filter { filter.isEmpty || $0.name.contains(filter) || $0.group.contains(filter) }

        let results = await sideBySide(chosen, atOnce: atOnce) { await Scenario.run($0) }
        let nobody = GatewayConfig(baseURL: "http://127.0.0.1:1", credentials: Credentials(login: "a", password: "b"))
        await #expect(throws: PaymentError.self) { try await Gateway(nobody).qrStatus("the-last-transaction") }
        await log.holds("the-last-transaction")
        KassaLog.send(to: nil)
        #expect(log.first(holding: "events were dropped") == nil, "the log is not whole")
        await BorrowedSandbox.stopAll()

        for problem in results.values.joined() { Issue.record("\(problem)") }
        for vector in chosen where results[vector.name] == nil { Issue.record("was not run: \(vector.name)") }
        for text in Set(chosen.flatMap { texts($0.spec["forbidden"]) }) {
            if let line = log.first(holding: text) { Issue.record("\(text) is logged: \(line)") }
        }
        for (file, vectors) in files.sorted(by: { $0.key < $1.key }) {
            #expect(!vectors.isEmpty, "\(file) has no vectors")
        }
        #expect(Set(all.map(\.name)).count == all.count, "two vectors have one name")
        #expect(!log.isEmpty, "nothing was logged, so nothing was searched")
        let groups = Dictionary(grouping: chosen, by: \.group).mapValues(\.count).sorted { $0.key < $1.key }
        // For scripts/swift/test-packages, which fails if a filter matches none.
        print("vectors: \(chosen.count)")
        print("conformance: " + groups.map { "\($0.key) \($0.value)" }.joined(separator: ", "))
    }
}

/// Everything that is logged during the run.
///
/// Unchecked, because the compiler does not see that all that changes is behind the lock.
final class Log: @unchecked Sendable {
    private let lock = NSLock()
    private var lines: [String] = []
    private var awaited: (text: String, found: CheckedContinuation<Void, Never>)?

    var isEmpty: Bool { lock.withLock { lines.isEmpty } }

    func append(_ event: LogEvent) {
        let line = everyForm(of: event)
        let found: CheckedContinuation<Void, Never>? = lock.withLock {
            lines.append(line)
            guard let awaited, line.contains(awaited.text) else { return nil }
            self.awaited = nil
            return awaited.found
        }
        found?.resume()
    }

    /// Waits for a line with a text, one waiter at a time: events are logged in their order, but later than they happen.
    func holds(_ text: String) async {
        await withCheckedContinuation { found in
            let isThere = lock.withLock {
                if lines.contains(where: { $0.contains(text) }) { return true }
                awaited = (text, found)
                return false
            }
            if isThere { found.resume() }
        }
    }

    func first(holding text: String) -> String? {
        // A few digits as a word: numbers that are made up have any digits in them.
        let word = text.count < 8 && text.allSatisfy(\.isNumber) ? try? Regex("\\b\(text)\\b").wordBoundaryKind(.simple) : nil
        return lock.withLock { lines.first { line in word.map { line.contains($0) } ?? line.contains(text) } }
    }
}
