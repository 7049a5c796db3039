import Foundation
import KassaSandbox

extension KassaServer {
    /// How a server is started. The server itself checks the values.
    public struct Settings: Sendable {
        /// A running sandbox; by default the server starts its own, and stops it.
        public var sandbox: Sandbox?
        /// The shop's URL for events; without it they are only listed.
        public var eventsURL: String?
        /// The port to listen on, on this machine only; 0 takes a free one.
        public var port: Int
        /// Others of the program's, by their names, such as `payment_wait` with `5s`.
        public var others: [String: String]
        /// Takes the log, line by line and in order. It should return soon. Without one there is no log.
        public var log: (@Sendable (String) -> Void)?

        /// Nothing is started yet.
        public init(
            sandbox: Sandbox? = nil, eventsURL: String? = nil, port: Int = 0, others: [String: String] = [:],
            log: (@Sendable (String) -> Void)? = nil
        ) {
            self.sandbox = sandbox
            self.eventsURL = eventsURL
            self.port = port
            self.others = others
            self.log = log
        }
    }
}

/// What its processes are started with.
struct Launch: Sendable {
    let settings: KassaServer.Settings
    let sandbox: Sandbox
    let eventsSecret: String
    private let folder: URL

    init(_ settings: KassaServer.Settings, _ sandbox: Sandbox) async throws {
        self.settings = settings
        self.sandbox = sandbox
        let secret = (0..<32).map { _ in UInt8.random(in: .min ... .max) }
        eventsSecret = "whsec_\(Data(secret).base64EncodedString())"
        folder = FileManager.default.temporaryDirectory.appending(path: "kassa-server-\(UUID().uuidString)")
        let onlyMine: [FileAttributeKey: Any] = [.posixPermissions: 0o700]
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true, attributes: onlyMine)
        let dialect = try await sandbox.switches.read().actsAs.json
        try Data(dialect.utf8).write(to: folder.appending(path: "dialect.json"))
    }

    func child(port: Int) async throws -> Child {
        try await Child.start(start(["serve", "--announce", "json", "--exit-with-stdin"], port: port))
    }

    func start(_ arguments: [String], port: Int) throws -> Start {
        let own = ProcessInfo.processInfo.environment
        let program = try Program.find("kassa-server", namedBy: "KASSA_SERVER_BINARY", own)
        // Settings of the user's own server must not affect this one.
        let environment = own.filter { !$0.key.hasPrefix("KASSA_SERVER_") }.merging(variables(port)) { $1 }
        return Start(
            name: "the server", program: program, arguments: arguments, environment: environment, log: settings.log)
    }

    /// Secrets go by the environment: everybody can read the arguments of a process.
    private func variables(_ port: Int) -> [String: String] {
        var named = [
            "listen": "127.0.0.1:\(port)",
            "public_url": "http://127.0.0.1:\(port)",
            "database": folder.appending(path: "kassa-server.db").path(percentEncoded: false),
            "gateway.url": sandbox.baseURL,
            "gateway.login": sandbox.login,
            "gateway.password": sandbox.password,
            "gateway.dialect": folder.appending(path: "dialect.json").path(percentEncoded: false),
            "events.secret": eventsSecret,
        ]
        named["events.url"] = settings.eventsURL
        named.merge(settings.others) { $1 }
        let pairs = named.map { ("KASSA_SERVER_" + $0.key.replacing(".", with: "_").uppercased(), $0.value) }
        return Dictionary(uniqueKeysWithValues: pairs)
    }

    /// Stops the sandbox that was started for it, and removes its files.
    func cleanUp() async {
        if settings.sandbox == nil { await sandbox.stop() }
        try? FileManager.default.removeItem(at: folder)
    }
}
