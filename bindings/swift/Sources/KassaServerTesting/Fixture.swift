import KassaSandbox

/// Runs a test with a server of its own, and a sandbox behind it, and stops both however the test ends.
///
/// ```swift
/// @Test func paidOrderIsDelivered() async throws {
///     try await withKassaServer(.init(eventsURL: "http://127.0.0.1:8000/events")) { server in
///         let shop = Shop(server.url, server.apiKey, server.eventsSecret)
///         try await server.payByForm(shop.buy("order-17"))
///         _ = try await server.waitFor("checkout.paid", reference: "order-17")
///     }
/// }
/// ```
///
/// - Parameters:
///   - settings: How it is started.
///   - isolation: The caller's actor; leave it out.
///   - test: The test.
/// - Returns: What the test returns.
/// - Throws: What the test throws, and as ``KassaServer/start(_:)`` does.
public func withKassaServer<Answer: Sendable>(
    _ settings: KassaServer.Settings = KassaServer.Settings(), isolation: isolated (any Actor)? = #isolation,
    _ test: (KassaServer) async throws -> Answer
) async throws -> Answer {
    let server = try await KassaServer.start(settings)
    do {
        let answer = try await test(server)
        await server.stop()
        return answer
    } catch {
        await server.stop()
        throw error
    }
}

extension KassaServer {
    /// The environment variables of a shop's program: `KASSA_SERVER_URL`, `KASSA_API_KEY` and `KASSA_EVENTS_SECRET`, as
    /// `KassaClient.fromEnvironment()` and the examples read them.
    public nonisolated var environment: [String: String] {
        ["KASSA_SERVER_URL": url, "KASSA_API_KEY": apiKey, "KASSA_EVENTS_SECRET": eventsSecret]
    }
}
