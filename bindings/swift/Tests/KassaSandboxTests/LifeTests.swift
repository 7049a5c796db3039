import Foundation
import Kassa
import KassaSandbox
import Testing

@Suite struct LifeTests {
    @Test func itRunsUntilItIsStopped() async throws {
        let sandbox = try await Sandbox.start(.init(login: "shop", password: "planted-77"))
        #expect(await sandbox.isRunning)
        #expect((sandbox.login, sandbox.password) == ("shop", "planted-77"))
        #expect(try await sandbox.ledger() == [])
        let process = try #require(await sandbox.processID)
        await sandbox.stop()
        #expect(await !sandbox.isRunning)
        #expect(isGone(process))
        guard case .notRunning = await refusal({ try await sandbox.ledger() }) else {
            Issue.record("it answers after its end")
            return
        }
        await sandbox.stop()
    }

    @Test func oneThatNobodyHoldsEnds() async throws {
        let process = try await Sandbox.start().processID
        let number = try #require(process)
        try await until { isGone(number) }
    }

    @Test func crashKeepsWhatIsInTheDatabase() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let sandbox = try await Sandbox.start(.init(database: folder.appending(path: "sandbox.db")))
        try await Shop(sandbox).pay("order-1", by: .approved)
        let before = try await sandbox.ledger()
        let process = try #require(await sandbox.processID)
        await sandbox.kill()
        #expect(await !sandbox.isRunning)
        #expect(isGone(process))
        try await sandbox.restart()
        #expect(try await sandbox.ledger() == before)
        #expect(try await sandbox.approve("order-1").isCharged)
        await sandbox.stop()
    }

    @Test func restartInMemoryComesBackEmpty() async throws {
        let sandbox = try await Sandbox.start(.init(switches: .init(redirectDeclines: true)))
        try await Shop(sandbox).pay("order-1")
        try await sandbox.switches.change { $0.redirectDeclines = false }
        try await sandbox.faults.add(.unavailable)
        let first = await sandbox.processID
        try await sandbox.restart()
        #expect(await sandbox.processID != first)
        #expect(try await sandbox.ledger() == [])
        #expect(try await sandbox.faults.list() == [])
        #expect(try await sandbox.switches.read().redirectDeclines)
        try await Shop(sandbox).pay("order-1")
        await sandbox.stop()
    }

    @Test func inventedHistoryIsThereOnce() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let sandbox = try await Sandbox.start(.init(database: folder.appending(path: "sandbox.db"), demoPayments: 30))
        let invented = try await sandbox.ledger()
        #expect(invented.count == 30)
        try await sandbox.restart()
        #expect(try await sandbox.ledger() == invented)
        await sandbox.stop()
    }

    @Test func changesOfManyTasksComeOneAfterTheOther() async throws {
        let sandbox = try await Sandbox.start()
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<9 {
                group.addTask {
                    if number.isMultiple(of: 3) { await sandbox.kill() } else { try? await sandbox.restart() }
                }
            }
        }
        try await sandbox.restart()
        #expect(try await sandbox.ledger() == [])
        let process = try #require(await sandbox.processID)
        await sandbox.stop()
        #expect(isGone(process))
    }

    @Test func manyAtOnceDoNotKeepEachOtherAlive() async throws {
        let sandboxes = try await withThrowingTaskGroup(of: Sandbox.self) { group in
            for _ in 0..<6 { group.addTask { try await Sandbox.start() } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        for sandbox in sandboxes {
            let process = try #require(await sandbox.processID)
            await sandbox.stop()
            #expect(isGone(process))
        }
    }

    @Test func settingsReachTheSandbox() async throws {
        let switches = Sandbox.SwitchValues(
            reusedOrderNumber: .replay, statusNumbers: .any, threeDS1Page: true, redirectDeclines: true, language: .kyrgyz,
            actsAs: .other, mbankQuid: .notSent)
        let sandbox = try await Sandbox.start(
            .init(switches: switches, callbackPauses: [.seconds(1), .seconds(60)], callbackTimeout: .seconds(3)))
        #expect(try await sandbox.switches.read() == switches)
        await sandbox.stop()
    }

    @Test(arguments: [
        (Sandbox.Settings(login: "a:b"), "login"),
        (Sandbox.Settings(database: URL(filePath: "/no/such/folder/sandbox.db")), "/no/such/folder/sandbox.db"),
        (Sandbox.Settings(port: 70_000), "70000"),
        (Sandbox.Settings(demoPayments: 1_000_001), "1000001"),
        (Sandbox.Settings(demoPayments: -1), "-1"),
        (Sandbox.Settings(callbackPauses: []), "callbackPauses"),
        (Sandbox.Settings(callbackTimeout: .milliseconds(1500)), "callbackTimeout"),
    ])
    func aWrongSettingIsNamed(settings: Sandbox.Settings, words: String) async {
        let refused = await refusal { try await Sandbox.start(settings) }
        #expect(refused?.localizedDescription.contains(words) == true, "\(String(describing: refused))")
    }

    @Test func portThatIsTakenIsNamed() async throws {
        let sandbox = try await Sandbox.start()
        let port = try #require(URL(string: sandbox.baseURL)?.port)
        let refused = await refusal { try await Sandbox.start(.init(port: port)) }
        guard case .notStarted(_, exitCode: 1, let log) = refused else {
            Issue.record("\(String(describing: refused))")
            return
        }
        #expect(log.contains("cannot listen on 127.0.0.1:\(port)"))
        await sandbox.stop()
    }

    @Test func startThatIsGivenUpSaysSo() async {
        let starting = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await Sandbox.start()
        }
        await #expect(throws: CancellationError.self) { try await starting.value }
    }

    @Test func logIsHandedOn() async throws {
        let lines = Lines()
        let sandbox = try await Sandbox.start(.init(log: { lines.add($0) }))
        try await Shop(sandbox).pay("order-1")
        await sandbox.stop()
        try await until { lines.all.contains { $0.contains("/payment") } }
        #expect(!lines.all.contains { $0.contains(sandbox.adminToken) })
    }

    @Test func noSecretIsPrintedOrInItsArguments() async throws {
        let sandbox = try await Sandbox.start(.init(password: "planted-77"))
        var printed = ""
        dump(sandbox, to: &printed)
        printed += "\(sandbox) \(String(reflecting: sandbox))"
        let process = try #require(await sandbox.processID)
        if let arguments = try? String(contentsOfFile: "/proc/\(process)/cmdline", encoding: .utf8) {
            #expect(arguments.contains("--announce"))
            printed += arguments
        }
        #expect(!printed.contains(sandbox.adminToken) && !printed.contains("planted-77"), "\(printed)")
        await sandbox.stop()
    }
}

/// What was logged.
///
/// Unchecked, because the compiler does not see that the lines are behind the lock.
private final class Lines: @unchecked Sendable {
    private let lock = NSLock()
    private var lines: [String] = []

    var all: [String] { lock.withLock { lines } }

    func add(_ line: String) { lock.withLock { lines.append(line) } }
}

private func isGone(_ process: Int32) -> Bool {
    kill(process, 0) != 0 && errno == ESRCH
}
