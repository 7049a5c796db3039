import Foundation

/// Runs a test with a sandbox of its own, and stops it however the test ends.
///
/// ```swift
/// @Test func payerPays() async throws {
///     try await withSandbox { sandbox in
///         let shop = try await Shop(environment: sandbox.environment())
///         try await sandbox.payByForm(shop.buy("order-17"))
///         #expect(try await sandbox.ledger().map(\.timesCharged) == [1])
///     }
/// }
/// ```
///
/// - Parameters:
///   - settings: How it is started.
///   - isolation: The caller's actor; leave it out.
///   - test: The test.
/// - Returns: What the test returns.
/// - Throws: What the test throws, and as ``Sandbox/start(_:)`` does.
public func withSandbox<Answer: Sendable>(
    _ settings: Sandbox.Settings = Sandbox.Settings(), isolation: isolated (any Actor)? = #isolation,
    _ test: (Sandbox) async throws -> Answer
) async throws -> Answer {
    let sandbox = try await Sandbox.start(settings)
    do {
        let answer = try await test(sandbox)
        await sandbox.stop()
        return answer
    } catch {
        await sandbox.stop()
        throw error
    }
}

extension Sandbox {
    /// The environment variables of a program that talks to this sandbox: `KASSA_URL`, `KASSA_LOGIN`, `KASSA_PASSWORD` and
    /// `KASSA_DIALECT`, as `GatewayConfig.fromEnvironment()` reads them. The dialect is a temporary file, which is removed when the sandbox is
    /// stopped.
    public func environment() async throws -> [String: String] {
        let dialect = try await switches.read().actsAs
        return [
            "KASSA_URL": baseURL, "KASSA_LOGIN": login, "KASSA_PASSWORD": password,
            "KASSA_DIALECT": try dialects.file(dialect).path(percentEncoded: false),
        ]
    }
}

/// The dialects as files, for programs that read them. They are removed with this.
final class DialectFiles: Sendable {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "kassa-sandbox-\(UUID().uuidString)")

    deinit { remove() }

    func file(_ dialect: Sandbox.DialectName) throws -> URL {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.appending(path: "\(dialect.rawValue)-dialect.json")
        try Data(dialect.json.utf8).write(to: file, options: .atomic)
        return file
    }

    func remove() { try? FileManager.default.removeItem(at: folder) }
}
