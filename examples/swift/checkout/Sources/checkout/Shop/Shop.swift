import Foundation
import Kassa
import KassaSandbox

/// What every command works with: the gateway, the store, the port, the payer.
struct Shop: Sendable {
    /// What the store calls the gateway of payments that do not outlive this program.
    static let sandboxInMemory = "sandbox in memory"

    let gateway: Gateway
    /// What the store calls the gateway.
    let gatewayName: String
    let narrator: Narrator
    let store: Store
    let policy: PollPolicy
    let callbackWait: Duration
    let payer: Payer
    let receiver: Receiver
    /// False where the gateway has no way to this program's port.
    let callbacksArrive: Bool
    /// True where a person asked to be the payer.
    let isInteractive: Bool
    private let sandbox: Sandbox?

    /// Opens everything. A sandbox is started where no base URL is given.
    static func open(_ given: Given) async throws -> Shop {
        // What is wrong on the command line is said before anything is started.
        let wait = try given.time(FollowingOptions.callbackWait) ?? .seconds(10)
        let port = try given.whole(FollowingOptions.callbackPort) ?? 0
        let publicCallback = try given.text(FollowingOptions.callbackURL).map(publicURL)
        let baseURL = given.text(ConnectionOptions.baseURL)
        if baseURL != nil, given.has(ConnectionOptions.sandboxDB) {
            throw Failure.usage("--sandbox-db is for the sandbox that is started without --base-url")
        }
        let policy = try policy(given, isSandbox: baseURL == nil)
        let receiver = try Receiver(port: port, publicCallback: publicCallback)
        let sandbox = baseURL == nil ? try await startSandbox(given) : nil
        let config = try config(given, baseURL, sandbox)
        let isLocal = isLoopback(config.baseURL)
        let isInteractive = given.has(FollowingOptions.interactive)
        return Shop(
            gateway: try Gateway(config), gatewayName: gatewayName(given, config.baseURL, isSandbox: sandbox != nil),
            narrator: Narrator(json: given.has(FollowingOptions.json)), store: Store(path: try given.needed(FollowingOptions.state)),
            policy: policy, callbackWait: wait, payer: isLocal && !isInteractive ? .robot(Robot()) : .person, receiver: receiver,
            callbacksArrive: isLocal || publicCallback != nil, isInteractive: isInteractive, sandbox: sandbox)
    }

    /// True where the gateway is a sandbox of this program's own.
    var isSandbox: Bool { sandbox != nil }

    /// Says what this run works with.
    func introduce() {
        narrator.print("Kassa checkout with \(sandbox.map { "a sandbox of its own at \($0.baseURL)" } ?? gatewayName)")
        if callbacksArrive { narrator.print("Callbacks at \(receiver.shownCallbackURL)") }
        narrator.print("Payments are kept in \(store.path)")
    }

    /// The callback URL of a payment, where the gateway has a way to it.
    func callbackURL(_ reference: String) -> String? { callbacksArrive ? receiver.callbackURL(reference) : nil }

    /// The callback URL of a payment where the interface demands one.
    func requiredCallbackURL(_ reference: String) throws -> String {
        guard let url = callbackURL(reference) else {
            throw Failure.usage(
                "this gateway is not on this machine and cannot reach the callback port: give a public URL that leads to it with "
                    + "--callback-url (and fix the port with --callback-port)")
        }
        return url
    }

    /// Waits for what is on its way, and stops the sandbox.
    func close() async {
        receiver.finish()
        await gateway.close()
        await sandbox?.stop()
    }

    private static func startSandbox(_ given: Given) async throws -> Sandbox {
        do {
            return try await Sandbox.start(.init(database: given.text(ConnectionOptions.sandboxDB).map { URL(filePath: $0) }))
        } catch {
            throw Failure.system("the sandbox does not start: \(error.localizedDescription)")
        }
    }

    private static func config(_ given: Given, _ baseURL: String?, _ sandbox: Sandbox?) throws -> GatewayConfig {
        var config: GatewayConfig
        if let sandbox {
            let credentials = Credentials(login: sandbox.login, password: sandbox.password)
            config = GatewayConfig(baseURL: sandbox.baseURL, credentials: credentials)
            config.dialect = try Dialect(json: Sandbox.DialectName.shown.json)
        } else {
            guard let login = given.text(ConnectionOptions.login), let password = given.text(ConnectionOptions.password) else {
                throw Failure.usage("a gateway needs KASSA_LOGIN and KASSA_PASSWORD (or --login and --secrets-stdin)")
            }
            config = GatewayConfig(baseURL: baseURL ?? "", credentials: Credentials(login: login, password: password))
        }
        if let file = given.text(ConnectionOptions.dialect) { config.dialect = try Dialect(json: read(file)) }
        if let deadline = try given.time(ConnectionOptions.timeout) { (config.paymentDeadline, config.queryDeadline) = (deadline, deadline) }
        if given.has(ConnectionOptions.statusAsQuery) { config.statusQuery = .queryString }
        config.extraRootCertificates = try given.texts(ConnectionOptions.rootCertificates).map(read)
        config.userAgentSuffix = "kassa-checkout-swift"
        return config
    }

    private static func policy(_ given: Given, isSandbox: Bool) throws -> PollPolicy {
        var policy = PollPolicy()
        if isSandbox {
            policy.interval = .seconds(1)
            if !given.has(FollowingOptions.interactive) { policy.deadline = .seconds(60) }
        }
        if let interval = try given.time(FollowingOptions.pollInterval) { policy.interval = interval }
        if let deadline = try given.time(FollowingOptions.deadline) { policy.deadline = deadline }
        return policy
    }

    private static func gatewayName(_ given: Given, _ baseURL: String, isSandbox: Bool) -> String {
        guard isSandbox else { return baseURL.hasSuffix("/") ? String(baseURL.dropLast()) : baseURL }
        guard let file = given.text(ConnectionOptions.sandboxDB) else { return sandboxInMemory }
        return "sandbox in \(URL(filePath: file).standardizedFileURL.resolvingSymlinksInPath().path(percentEncoded: false))"
    }

    private static func publicURL(_ text: String) throws -> String {
        let url = URLComponents(string: text)
        guard let scheme = url?.scheme, ["http", "https"].contains(scheme), url?.host?.isEmpty == false else {
            throw Failure.usage("--callback-url must be an absolute http or https URL")
        }
        return text
    }
}

/// A file, as text; `-` is standard input.
func read(_ file: String) throws -> String {
    do {
        let bytes = file == "-" ? try FileHandle.standardInput.readToEnd() ?? Data() : try Data(contentsOf: URL(filePath: file))
        guard let text = String(data: bytes, encoding: .utf8) else { throw CocoaError(.fileReadInapplicableStringEncoding) }
        return text
    } catch {
        throw Failure.usage("\(file) cannot be read: \(error.localizedDescription)")
    }
}

/// True where a URL leads to this machine.
func isLoopback(_ url: String) -> Bool {
    guard let host = URLComponents(string: url)?.host?.lowercased().trimmingCharacters(in: CharacterSet(charactersIn: "[]")) else {
        return false
    }
    var (four, six) = (in_addr(), in6_addr())
    if inet_pton(AF_INET, host, &four) == 1 { return host.hasPrefix("127.") }
    if inet_pton(AF_INET6, host, &six) == 1 { return withUnsafeBytes(of: six) { $0.dropLast().allSatisfy { $0 == 0 } && $0.last == 1 } }
    return host == "localhost" || host == "localhost."
}
