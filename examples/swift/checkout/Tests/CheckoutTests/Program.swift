import Foundation
import KassaSandbox
import Testing

/// The secrets that a run is given. None of them occurs in a number or a URL by chance.
let cvc = "~Q7"
let password = "sesame-Öffne-42"
let cardAtOnce = Sandbox.TestCard.without3DSApproved.pan

/// A sandbox with a password that is not the well-known one.
func startSandbox() async throws -> Sandbox {
    try await Sandbox.start(.init(password: password))
}

/// Waits for what comes in milliseconds; the limit is for a machine that stands still.
func until(_ isThere: () async throws -> Bool) async throws {
    let limit = ContinuousClock.now + .seconds(60)
    while try await !isThere() {
        try #require(ContinuousClock.now < limit, "it does not come")
        try await Task.sleep(for: .milliseconds(10))
    }
}

/// What the gateway has sent as callbacks, of one order or of all, once there is any: it writes a delivery down after its receiver has
/// the answer.
func callbackBodies(of gateway: Sandbox, _ order: String? = nil) async throws -> [String] {
    var bodies: [String] = []
    try await until {
        bodies = try await gateway.callbacks(orderNumber: order).map(\.body)
        return !bodies.isEmpty
    }
    return bodies
}

/// The first of them.
func callbackBody(of gateway: Sandbox, _ order: String? = nil) async throws -> String {
    try await callbackBodies(of: gateway, order)[0]
}

/// Where each shop has its folder, until the tests end.
private let foldersOfThisRun: URL = {
    atexit { try? FileManager.default.removeItem(at: foldersOfThisRun) }
    return FileManager.default.temporaryDirectory.appending(path: "checkout-\(UUID().uuidString)")
}()

/// A folder for the state file, and where the program finds its gateway.
struct Shop: Sendable {
    let folder: URL
    var environment: [String: String]
    var options: [String] = []

    /// With a sandbox of its own.
    static func embedded(in folder: URL? = nil) throws -> Shop {
        let folder = folder ?? foldersOfThisRun.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let environment = ProcessInfo.processInfo.environment.filter {
            !$0.key.hasPrefix("KASSA_") || $0.key == "KASSA_SANDBOX_BINARY"
        }
        return Shop(folder: folder, environment: environment)
    }

    /// With a gateway somewhere on this machine.
    static func at(_ sandbox: Sandbox, password: String = password, in folder: URL? = nil) throws -> Shop {
        try at(sandbox.baseURL, password: password, in: folder)
    }

    static func at(_ url: String, password: String = password, in folder: URL? = nil) throws -> Shop {
        var shop = try embedded(in: folder)
        shop.environment["KASSA_URL"] = url
        shop.environment["KASSA_LOGIN"] = "kassa"
        shop.environment["KASSA_PASSWORD"] = password
        // Of the sandbox's own dialect only what a pay-form cannot be verified without.
        try #"{"qr_numbers": "transaction_id"}"#.write(to: shop.dialect, atomically: true, encoding: .utf8)
        shop.environment["KASSA_DIALECT"] = shop.dialect.path
        shop.options = ["--poll-interval", "200ms"]
        return shop
    }

    var dialect: URL { folder.appending(path: "dialect.json") }

    var state: URL { folder.appending(path: "state.json") }

    var stateText: String { (try? String(contentsOf: state, encoding: .utf8)) ?? "" }

    /// Every payment in the state file: its reference's text, and where it stands.
    func payments() throws -> [[String]] {
        struct Contents: Decodable {
            struct Entry: Decodable { let payment, state: String }
            let payments: [Entry]
        }
        return try JSONDecoder().decode(Contents.self, from: Data(contentsOf: state)).payments.map { [$0.payment, $0.state] }
    }

    func states() throws -> [String] { try payments().map { $0[1] } }

    func start(_ arguments: String..., environment: [String: String] = [:]) throws -> Program {
        try start(arguments, environment: environment)
    }

    func start(_ arguments: [String], environment: [String: String] = [:]) throws -> Program {
        try Program(
            arguments + options + ["--state", state.path], environment: self.environment.merging(environment) { $1 }, in: folder)
    }

    func run(_ arguments: String...) async throws -> Run {
        try await start(arguments).end()
    }

    /// Runs it with `--json` and reads the line.
    func json(_ arguments: String...) async throws -> (Run, JSON) {
        let run = try await start(arguments + ["--json"]).end()
        return (run, try run.line())
    }
}

/// How a run ended.
struct Run {
    let code: Int32
    let output: String
    let errors: String

    /// The line on standard output, which has to be the only one.
    func line() throws -> JSON {
        try #require(output.split(separator: "\n").count == 1, "\(output)\n\(errors)")
        return try JSON(parsing: Data(output.utf8))
    }
}

/// A running program, which can be read line by line.
final class Program: Sendable {
    private let process: Process
    private let input: FileHandle
    private let output: AsyncStream<String>
    private let errors: AsyncStream<String>
    private let status: Task<Int32, Never>

    init(_ arguments: [String], environment: [String: String], in folder: URL) throws {
        let beside = try #require(Bundle.main.executableURL).deletingLastPathComponent()
        let (input, output, errors) = (Pipe(), Pipe(), Pipe())
        process = Process()
        process.executableURL = beside.appending(path: "checkout")
        process.arguments = arguments
        process.environment = environment
        process.currentDirectoryURL = folder
        process.standardInput = input.fileHandleForReading
        process.standardOutput = output.fileHandleForWriting
        process.standardError = errors.fileHandleForWriting
        let (codes, code) = AsyncStream.makeStream(of: Int32.self)
        process.terminationHandler = {
            code.yield($0.terminationStatus)
            code.finish()
        }
        status = Task { await codes.first { _ in true } ?? -1 }
        self.input = input.fileHandleForWriting
        self.output = lines(of: output.fileHandleForReading)
        self.errors = lines(of: errors.fileHandleForReading)
        _ = fcntl(self.input.fileDescriptor, F_SETFD, FD_CLOEXEC)
        try process.run()
        for copy in [input.fileHandleForReading, output.fileHandleForWriting, errors.fileHandleForWriting] { try copy.close() }
    }

    var processID: Int32 { process.processIdentifier }

    func type(_ line: String) throws {
        try input.write(contentsOf: Data("\(line)\n".utf8))
    }

    /// Reads on to the line with these words.
    func line(with words: String) async throws -> String {
        for await line in output where line.contains(words) { return line }
        throw Missing(words: words, errors: await errors.reduce(into: "") { $0 += "\($1)\n" })
    }

    func url(after label: String) async throws -> String {
        let line = try await line(with: label)
        return String(try #require(line.firstMatch(of: #/http://\S+/#)).0)
    }

    /// Waits for its end, and reads what is left.
    func end(closingInput: Bool = true) async throws -> Run {
        if closingInput { try input.close() }
        async let errors = errors.reduce(into: "") { $0 += "\($1)\n" }
        let output = await output.reduce(into: "") { $0 += "\($1)\n" }
        return Run(code: await status.value, output: output, errors: await errors)
    }

    func kill() async {
        _ = Foundation.kill(process.processIdentifier, SIGKILL)
        _ = await status.value
    }
}

struct Missing: Error {
    let words: String
    let errors: String
}

private func lines(of stream: FileHandle) -> AsyncStream<String> {
    let (lines, line) = AsyncStream.makeStream(of: String.self)
    let descriptor = stream.fileDescriptor
    Thread.detachNewThread {
        var rest: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(descriptor, &chunk, chunk.count)
            guard count > 0 else { break }
            rest += chunk[..<count]
            while let newLine = rest.firstIndex(of: UInt8(ascii: "\n")) {
                line.yield(String(decoding: rest[..<newLine], as: UTF8.self))
                rest.removeFirst(newLine + 1)
            }
        }
        line.finish()
        try? stream.close()
    }
    return lines
}

/// A JSON document that was read.
enum JSON: Decodable, Equatable {
    case null
    case bool(Bool)
    case number(Decimal)
    case string(String)
    case array([JSON])
    case object([String: JSON])

    init(parsing text: Data) throws {
        self = try JSONDecoder().decode(JSON.self, from: text)
    }

    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if value.decodeNil() {
            self = .null
        } else if let bool = try? value.decode(Bool.self) {
            self = .bool(bool)
        } else if let number = try? value.decode(Decimal.self) {
            self = .number(number)
        } else if let text = try? value.decode(String.self) {
            self = .string(text)
        } else if let items = try? value.decode([JSON].self) {
            self = .array(items)
        } else {
            self = .object(try value.decode([String: JSON].self))
        }
    }

    subscript(key: String) -> JSON {
        if case .object(let fields) = self { fields[key] ?? .null } else { .null }
    }

    subscript(index: Int) -> JSON { items.indices.contains(index) ? items[index] : .null }

    var items: [JSON] {
        if case .array(let items) = self { items } else { [] }
    }

    var text: String? {
        if case .string(let text) = self { text } else { nil }
    }
}

extension JSON: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral, ExpressibleByNilLiteral {
    init(stringLiteral text: String) { self = .string(text) }

    init(booleanLiteral bool: Bool) { self = .bool(bool) }

    init(integerLiteral number: Int) { self = .number(Decimal(number)) }

    init(nilLiteral: ()) { self = .null }
}
