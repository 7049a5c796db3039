import Foundation

extension Sandbox {
    /// How a sandbox is started. The sandbox itself checks the values.
    public struct Settings: Sendable {
        /// An SQLite file that keeps payments and undelivered callbacks; in memory without one.
        public var database: URL?
        /// The port to listen on, on this machine only; 0 takes a free one.
        public var port: Int
        /// The merchant's login.
        public var login: String
        /// The merchant's password.
        public var password: String
        /// The values of the switches at the start, and after a ``Sandbox/reset()``.
        public var switches: SwitchValues
        /// Between attempts to deliver a callback, in whole seconds; the last one repeats. Unless set, it starts with a second and
        /// grows to an hour.
        public var callbackPauses: [Duration]?
        /// How long a callback's receiver may take, in whole seconds; ten unless set.
        public var callbackTimeout: Duration?
        /// The number of generated payments at the start if the database is empty; up to a million.
        public var demoPayments: Int
        /// Takes the log, line by line and in order. It should return soon. Without one there is no log.
        public var log: (@Sendable (String) -> Void)?

        /// Nothing is started yet.
        public init(
            database: URL? = nil, port: Int = 0, login: String = "kassa", password: String = "sandbox-password",
            switches: SwitchValues = SwitchValues(), callbackPauses: [Duration]? = nil, callbackTimeout: Duration? = nil,
            demoPayments: Int = 0, log: (@Sendable (String) -> Void)? = nil
        ) {
            self.database = database
            self.port = port
            self.login = login
            self.password = password
            self.switches = switches
            self.callbackPauses = callbackPauses
            self.callbackTimeout = callbackTimeout
            self.demoPayments = demoPayments
            self.log = log
        }
    }
}

/// What a process is started with.
struct Launch: Sendable {
    var settings: Sandbox.Settings
    let adminToken = (0..<4).map { _ in String(UInt64.random(in: .min ... .max), radix: 36) }.joined()

    func start() throws -> Start {
        let environment = environment()
        let program = try Program.find("kassa-sandbox", namedBy: "KASSA_SANDBOX_BINARY", environment)
        return Start(
            name: "the sandbox", program: program, arguments: try arguments(), environment: environment, log: settings.log)
    }

    private func arguments() throws -> [String] {
        var arguments = [
            "--announce", "json", "--exit-with-stdin", "--listen", "127.0.0.1:\(settings.port)",
            "--language", settings.switches.language.rawValue,
            "--reused-order-number", settings.switches.reusedOrderNumber.rawValue,
            "--status-numbers", settings.switches.statusNumbers.rawValue,
            "--as", settings.switches.actsAs.rawValue,
            "--mbank-quid", settings.switches.mbankQuid.rawValue,
        ]
        if settings.switches.threeDS1Page { arguments.append("--three-ds-1-page") }
        if settings.switches.redirectDeclines { arguments.append("--redirect-declines") }
        if let database = settings.database { arguments.append("--db=\(database.path(percentEncoded: false))") }
        if let pauses = settings.callbackPauses {
            let field = "callbackPauses"
            guard !pauses.isEmpty else { throw SandboxError.invalid(field: field, rule: "at least one is needed") }
            let seconds = try pauses.map { "\(try whole($0, of: .seconds(1), field))" }
            arguments.append("--callback-pauses=\(seconds.joined(separator: ","))")
        }
        if let timeout = settings.callbackTimeout {
            arguments.append("--callback-timeout=\(try whole(timeout, of: .seconds(1), "callbackTimeout"))")
        }
        if settings.demoPayments != 0 { arguments.append("--seed-demo=\(settings.demoPayments)") }
        return arguments
    }

    /// Secrets go by the environment: everybody can read the arguments of a process.
    private func environment() -> [String: String] {
        var environment = ProcessInfo.processInfo.environment
        environment["KASSA_SANDBOX_LOGIN"] = settings.login
        environment["KASSA_SANDBOX_PASSWORD"] = settings.password
        environment["KASSA_SANDBOX_ADMIN_TOKEN"] = adminToken
        return environment
    }
}

/// A duration in whole units; one that is not whole is refused, not rounded.
func whole(_ duration: Duration, of unit: Duration, _ field: String) throws -> Int64 {
    let unitIsSecond = unit == .seconds(1)
    let (seconds, attoseconds) = duration.components
    let perMillisecond: Int64 = 1_000_000_000_000_000
    let isWhole = attoseconds.isMultiple(of: unitIsSecond ? 1000 * perMillisecond : perMillisecond)
    let (milliseconds, isTooLong) = seconds.multipliedReportingOverflow(by: 1000)
    guard isWhole, !isTooLong else {
        throw SandboxError.invalid(field: field, rule: "must be a whole number of \(unitIsSecond ? "seconds" : "milliseconds")")
    }
    return unitIsSecond ? seconds : milliseconds + attoseconds / perMillisecond
}
