import Foundation
import KassaSandbox

/// To find a port: one that was free may be taken a moment later.
private let attempts = 5

/// kassa-server on this machine, with an API key and a secret for events, and a sandbox as its gateway: for the tests of a shop.
///
/// ```swift
/// let server = try await KassaServer.start(.init(eventsURL: "http://127.0.0.1:8000/events"))
/// let shop = Shop(server.url, server.apiKey, server.eventsSecret)
/// try await server.payByForm(shop.buy("order-17"))
/// _ = try await server.waitFor("checkout.paid", reference: "order-17")
/// await server.stop()
/// ```
///
/// It is a separate process with an SQLite file in a temporary folder, and never outlives the one that started it. It also ends when this
/// object is released.
///
/// The program is `kassa-server`: the one in `KASSA_SERVER_BINARY`, else the one next to the running program, else the one on the `PATH`.
public actor KassaServer {
    /// Its address, without a trailing slash. It stays the same after a restart.
    public nonisolated let url: String
    /// The API key that was made for the shop.
    public nonisolated let apiKey: String
    /// The secret that signs events (Standard Webhooks).
    public nonisolated let eventsSecret: String
    /// The gateway's side: real charges, faults, and the payer's actions.
    public nonisolated let sandbox: Sandbox

    private nonisolated let port: Int
    private let launch: Launch
    private var child: Child?

    private init(_ launch: Launch, _ child: Child, apiKey: String) {
        self.launch = launch
        self.child = child
        self.apiKey = apiKey
        url = child.url
        port = child.port
        eventsSecret = launch.eventsSecret
        sandbox = launch.sandbox
    }

    // MARK: Its life

    /// Starts a server, and a sandbox behind it; both are ready when this returns.
    ///
    /// - Throws: ``KassaServerError/notStarted(detail:exitCode:log:)`` with the program's own words.
    public static func start(_ settings: Settings = Settings()) async throws -> KassaServer {
        var sandbox = settings.sandbox
        if sandbox == nil { sandbox = try await asServer { try await Sandbox.start() } }
        guard let sandbox else { throw KassaServerError.notRunning(detail: "there is no sandbox") }
        let launch = try await Launch(settings, sandbox)
        do {
            return try await asServer {
                let child = try await firstChild(launch)
                let apiKey = try await Child.firstLine(of: launch.start(["keys", "new", "--name", "tests"], port: child.port))
                return KassaServer(launch, child, apiKey: apiKey)
            }
        } catch {
            await launch.cleanUp()
            throw error
        }
    }

    private static func firstChild(_ launch: Launch) async throws -> Child {
        if launch.settings.port != 0 { return try await launch.child(port: launch.settings.port) }
        for _ in 1..<attempts {
            do {
                return try await launch.child(port: LoopbackHTTP.freePort())
            } catch SandboxError.notStarted(_, _, let log) where log.contains("in use") {}
        }
        return try await launch.child(port: LoopbackHTTP.freePort())
    }

    /// The number of its process, while it runs.
    public var processID: Int32? { child?.processID }

    /// Whether it runs.
    public var isRunning: Bool { processID != nil }

    /// Shuts it down gracefully if it runs, with its own sandbox, and deletes its database.
    public func stop() async {
        await child?.stop()
        child = nil
        await launch.cleanUp()
    }

    /// Kills only the server, as a crash would. ``restart()`` starts it again.
    public func kill() async {
        await child?.kill()
        child = nil
    }

    /// Stops only the server if it runs, and starts it on the same port with the same database. After ``kill()`` it is a start after a
    /// crash.
    ///
    /// - Throws: ``KassaServerError/notStarted(detail:exitCode:log:)``
    public func restart() async throws {
        await child?.stop()
        child = try await asServer { [launch, port] in try await launch.child(port: port) }
    }

    // MARK: What is in it

    /// Sends a request as a shop, or as a payer's app with a client token; returns the response as JSON. The path is such as
    /// `/v1/checkouts`; the key is by default ``apiKey``.
    ///
    /// - Throws: ``KassaServerError/refused(httpStatus:problem:)`` if the server refuses.
    public nonisolated func request(
        _ method: String, _ path: String, body: String? = nil, key: String? = nil, idempotencyKey: String? = nil
    ) async throws -> Data {
        let once = idempotencyKey.map { ["Idempotency-Key: \($0)"] } ?? []
        let headers = ["Authorization: Bearer \(key ?? apiKey)", "Content-Type: application/json"] + once
        let response = try await asServer {
            try await LoopbackHTTP.exchange(
                port: port, "\(method) \(path)", headers: headers, body: body.map { Data($0.utf8) })
        }
        guard response.status < 400 else {
            throw KassaServerError.refused(httpStatus: response.status, problem: String(decoding: response.body, as: UTF8.self))
        }
        return response.body
    }

    /// Every event, or those of this kind or about this reference, in the order in which they happened.
    public nonisolated func events(_ kind: String? = nil, reference: String? = nil) async throws -> [Event] {
        var all: [Event] = []
        var (after, next) = ("", "0")
        while next != after {
            after = next
            let told = try await request("GET", "/v1/events?after=\(after)&limit=1000")
            guard let page = try? JSONDecoder().decode(EventPage.self, from: told) else {
                throw KassaServerError.notThisServer(detail: "this is not the server of this package: its events cannot be read")
            }
            all += page.events.map(\.told)
            next = page.next
        }
        return all.filter { (kind == nil || $0.kind == kind) && (reference == nil || $0.reference == reference) }
    }

    /// The first event of this kind, as soon as there is one.
    ///
    /// - Throws: ``KassaServerError/tooLate(detail:)`` if there is none in time.
    public nonisolated func waitFor(
        _ kind: String, reference: String? = nil, timeout: Duration = .seconds(30)
    ) async throws -> Event {
        let until = ContinuousClock.now + timeout
        while true {
            if let found = try await events(kind, reference: reference).first { return found }
            guard ContinuousClock.now < until else {
                let about = reference.map { " about \($0)" } ?? ""
                throw KassaServerError.tooLate(detail: "there was no event \(kind)\(about) within \(timeout)")
            }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    // MARK: The payer's part

    /// Pays on the sandbox's pay-form, as a payer with that wallet does; the address that the payer is sent back to, if any.
    ///
    /// - Throws: ``KassaServerError/notPayable(detail:)`` if it does not take this phone, or is paid already.
    @discardableResult
    public nonisolated func payByForm(_ pageURL: String, phone: Sandbox.TestPhone = .mbankApproved) async throws -> String? {
        try await asServer { try await sandbox.payByForm(pageURL, phone: phone) }
    }
}
