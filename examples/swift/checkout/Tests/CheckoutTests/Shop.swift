import Foundation
import KassaSandbox
import Testing

/// A sandbox, and a folder for the journal of the programs that use it.
struct Shop {
    let sandbox: Sandbox
    private let folder = FileManager.default.temporaryDirectory.appending(path: "checkout-\(UUID().uuidString)")
    private let environment: [String: String]

    init() async throws {
        sandbox = try await Sandbox.start()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let dialect = folder.appending(path: "dialect.json")
        try Sandbox.DialectName.interface.json.write(to: dialect, atomically: true, encoding: .utf8)
        let settings = [
            "KASSA_URL": sandbox.baseURL, "KASSA_LOGIN": sandbox.login, "KASSA_PASSWORD": sandbox.password,
            "KASSA_DIALECT": dialect.path, "CHECKOUT_JOURNAL": folder.appending(path: "journal").path,
            "CHECKOUT_CALLBACK_URL": "http://127.0.0.1:9/callback", "CHECKOUT_RETURN_URL": "http://127.0.0.1:9/return",
            "CHECKOUT_SECRET": "a secret of this test alone, long enough",
        ]
        environment = ProcessInfo.processInfo.environment.merging(settings) { $1 }
    }

    /// What is typed into the card's form.
    static func card(_ card: Sandbox.TestCard) -> String { "\(card.pan)\n12/99\n123\nAibek Asanov" }

    func start(_ arguments: String..., typed: String = "") throws -> Program {
        try Program(arguments, environment: environment, typed: typed)
    }

    func close() async {
        await sandbox.stop()
        try? FileManager.default.removeItem(at: folder)
    }
}

/// A running program, which can be read line by line.
final class Program: Sendable {
    struct Run: Equatable {
        let code: Int32
        let output: String
    }

    private let process = Process()
    private let output: AsyncStream<String>
    private let code: Task<Int32, Never>

    init(_ arguments: [String], environment: [String: String], typed: String) throws {
        let (input, output) = (Pipe(), Pipe())
        process.executableURL = try #require(Bundle.main.executableURL).deletingLastPathComponent().appending(path: "checkout")
        process.arguments = arguments
        process.environment = environment
        process.standardInput = input
        (process.standardOutput, process.standardError) = (output, output)
        let (codes, code) = AsyncStream.makeStream(of: Int32.self)
        process.terminationHandler = { _ = code.yield($0.terminationStatus) }
        self.code = Task { await codes.first { _ in true } ?? -1 }
        self.output = lines(of: output.fileHandleForReading)
        try process.run()
        try output.fileHandleForWriting.close()
        try input.fileHandleForWriting.write(contentsOf: Data(typed.utf8))
        try input.fileHandleForWriting.close()
    }

    /// Reads on to the line with these words.
    func line(with words: String) async throws -> String {
        for await line in output where line.contains(words) { return line }
        throw CocoaError(.fileReadUnknown)
    }

    /// Waits for its end, and reads what is left.
    func end() async -> Run {
        let output = await output.reduce(into: "") { $0 += "\($1)\n" }
        return Run(code: await code.value, output: output)
    }

    func kill() async {
        _ = Foundation.kill(process.processIdentifier, SIGKILL)
        _ = await code.value
    }
}

/// Polls until a condition holds.
func until(_ isThere: () async throws -> Bool) async throws {
    let limit = ContinuousClock.now + .seconds(patience)
    while try await !isThere() {
        try #require(ContinuousClock.now < limit, "it does not come")
        try await Task.sleep(for: .milliseconds(10))
    }
}

private func lines(of stream: FileHandle) -> AsyncStream<String> {
    let (lines, line) = AsyncStream.makeStream(of: String.self)
    Thread.detachNewThread {
        var rest = Data()
        while let chunk = try? stream.read(upToCount: 1), !chunk.isEmpty {
            guard chunk == Data("\n".utf8) else { rest += chunk; continue }
            line.yield(String(decoding: rest, as: UTF8.self))
            rest = Data()
        }
        line.finish()
    }
    return lines
}
