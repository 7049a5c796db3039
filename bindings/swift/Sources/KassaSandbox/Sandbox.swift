import Foundation

/// The payment gateway's side on this machine, for tests: endpoints, pages, callbacks, a ledger, and faults on demand. No real money
/// moves.
///
/// ```swift
/// let sandbox = try await Sandbox.start()
/// let credentials = Credentials(login: sandbox.login, password: sandbox.password)
/// let gateway = try Gateway(GatewayConfig(baseURL: sandbox.baseURL, credentials: credentials))
/// let fault = try await sandbox.faults.add(.responseLost, orderNumber: "order-17", times: 1)
/// // ... pay order-17 ...
/// #expect(try await fault.struck == 1)
/// #expect(try await sandbox.payment(orderNumber: "order-17").timesCharged == 1)
/// await sandbox.stop()
/// ```
///
/// It is a separate process that never outlives the one that started it. It also ends when this object is released.
///
/// The program is `kassa-sandbox`: the one in `KASSA_SANDBOX_BINARY`, else the one next to the running program, else the one on the
/// `PATH`.
public actor Sandbox {
    /// Its address, without a trailing slash. It stays the same after a restart.
    public nonisolated let baseURL: String
    /// The merchant's login.
    public nonisolated let login: String
    /// The merchant's password.
    public nonisolated let password: String
    /// The token for the admin interface. It is made for this sandbox, and stays the same after a restart.
    public nonisolated let adminToken: String

    nonisolated let admin: Admin
    let dialects = DialectFiles()
    private let launch: Launch
    /// Changes wait for the one before, whoever asked for it.
    private var latest: Task<Child?, any Error>

    private init(_ launch: Launch, _ child: Child) {
        var launch = launch
        launch.settings.port = child.port
        self.launch = launch
        baseURL = child.url
        login = launch.settings.login
        password = launch.settings.password
        adminToken = launch.adminToken
        admin = Admin(port: child.port, token: launch.adminToken)
        latest = Task { child }
    }

    // MARK: Its life

    /// Starts a sandbox; it is ready when this returns.
    ///
    /// - Throws: ``SandboxError/notStarted(detail:exitCode:log:)`` with the program's own words, and
    ///   ``SandboxError/invalid(field:rule:)`` for a setting that cannot even be handed over.
    public static func start(_ settings: Settings = Settings()) async throws -> Sandbox {
        let launch = Launch(settings: settings)
        return Sandbox(launch, try await Child.start(launch.start()))
    }

    /// Whether it runs.
    public var isRunning: Bool {
        get async { await processID != nil }
    }

    /// The number of its process, while it runs.
    public var processID: Int32? {
        get async { await (try? latest.value)?.processID }
    }

    /// Stops it if it runs, after answering the running requests.
    public func stop() async {
        _ = try? await change { child in
            await child?.stop()
            return nil
        }
        dialects.remove()
    }

    /// Kills it, as a crash would. ``restart()`` starts it again.
    public func kill() async {
        _ = try? await change { child in
            await child?.kill()
            return nil
        }
    }

    /// Stops it if it runs, and starts it on the same port with the same database. Faults are removed, and switches have their initial
    /// values.
    ///
    /// Without a database it comes back empty. After ``kill()`` it is a start after a crash.
    ///
    /// - Throws: ``SandboxError/notStarted(detail:exitCode:log:)``
    public func restart() async throws {
        _ = try await change { [launch] child in
            await child?.stop()
            return try await Child.start(launch.start())
        }
    }

    private func change(_ change: @escaping @Sendable (Child?) async throws -> Child?) async throws -> Child? {
        let before = latest
        latest = Task { try await change(try? await before.value) }
        return try await latest.value
    }

    // MARK: What is in it

    /// Every payment, or those with this order number, the newest last: what really happened.
    public nonisolated func ledger(orderNumber: String? = nil) async throws -> [Payment] {
        struct Answer: Decodable { let payments: [Payment] }
        return try await admin.request(Answer.self, "GET", "ledger", orderNumber: orderNumber).payments
    }

    /// The payment with this order number; the newest if there are several.
    ///
    /// - Throws: ``SandboxError/unknownPayment(number:)`` if there is no such payment.
    public nonisolated func payment(orderNumber: String) async throws -> Payment {
        guard let payment = try await ledger(orderNumber: orderNumber).last else {
            throw SandboxError.unknownPayment(number: orderNumber)
        }
        return payment
    }

    /// Every request that reached an endpoint, or those that named this order number, in order.
    public nonisolated func requests(orderNumber: String? = nil) async throws -> [Request] {
        struct Answer: Decodable { let requests: [Request] }
        return try await admin.request(Answer.self, "GET", "requests", orderNumber: orderNumber).requests
    }

    /// Every attempt to deliver a callback, or those for this order number, in order.
    ///
    /// An attempt is listed after its receiver has answered or failed.
    public nonisolated func callbacks(orderNumber: String? = nil) async throws -> [CallbackAttempt] {
        struct Answer: Decodable { let callbacks: [CallbackAttempt] }
        return try await admin.request(Answer.self, "GET", "callbacks", orderNumber: orderNumber).callbacks
    }

    // MARK: What changes it

    /// Fault injection.
    public nonisolated var faults: Faults { Faults(admin: admin) }

    /// Its behaviour where the gateway's interface is not specified.
    public nonisolated var switches: Switches { Switches(admin: admin) }

    /// What time it is there, and what that makes of pending payments.
    public nonisolated var clock: Clock { Clock(admin: admin) }

    /// Pays a payment that is open, as its payer would.
    ///
    /// - Parameters:
    ///   - number: The merchant's order number, the gateway's, or a transaction id.
    ///   - sumTyiyn: The amount that the payer enters for a QR code without an amount.
    /// - Throws: ``SandboxError/unknownPayment(number:)`` if there is no such payment, and
    ///   ``SandboxError/refused(httpStatus:detail:violations:)`` if it is already decided.
    @discardableResult
    public nonisolated func approve(_ number: String, sumTyiyn: Int? = nil) async throws -> Payment {
        try await decide(number, "approve", sumTyiyn.map { ["amount": $0] })
    }

    /// Declines a payment that is open, as its payer would.
    ///
    /// - Throws: As ``approve(_:sumTyiyn:)`` does.
    @discardableResult
    public nonisolated func decline(_ number: String) async throws -> Payment {
        try await decide(number, "decline", nil)
    }

    /// Forgets payments, requests, callbacks and faults; switches and clock go back to those of the start.
    public nonisolated func reset() async throws {
        try await admin.tell("POST", "reset")
    }

    private nonisolated func decide(_ number: String, _ decision: String, _ body: [String: Int]?) async throws -> Payment {
        do {
            return try await admin.request(Payment.self, "POST", "payments/\(Admin.escaped(number))/\(decision)", body: body)
        } catch SandboxError.refused(httpStatus: 404, _, _) {
            throw SandboxError.unknownPayment(number: number)
        }
    }
}

extension Sandbox: CustomStringConvertible, CustomReflectable {
    /// Its address.
    public nonisolated var description: String { "Sandbox(\(baseURL))" }

    /// Its address.
    public nonisolated var customMirror: Mirror { Mirror(self, children: ["baseURL": baseURL]) }
}
