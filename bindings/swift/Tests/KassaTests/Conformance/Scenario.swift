import Foundation
import Kassa
import KassaStage

/// Runs one vector: its steps one after the other, then what it says about the requests and about what was printed.
final class Scenario {
    private let spec: JSON
    private let server: Server
    private let sandbox: BorrowedSandbox?
    private let journal: JournalFolder?
    private var kept: [String: JSON] = [:]
    private var gateway: Gateway?
    private var watch: StatusWatch?
    private var started: Task<Came?, Never>?
    private var printed = ""

    init(_ spec: JSON, _ sandbox: BorrowedSandbox?) {
        self.spec = spec
        self.sandbox = sandbox
        journal = spec["journal"] == .bool(true) ? JournalFolder() : nil
        server = Server(spec["responses"].array ?? [])
    }

    /// The problems of one vector. It fails after twice the patience, so that a wait inside it times out first.
    static func run(_ vector: Vector) async -> [String] {
        let (ends, end) = AsyncStream.makeStream(of: [String].self)
        let run = Task { _ = end.yield(await problems(of: vector.spec)) }
        let limit = Task {
            try await Task.sleep(for: .seconds(2 * patience))
            _ = end.yield(["does not end"])
        }
        defer { run.cancel(); limit.cancel() }
        for await problems in ends {
            return problems.map { "\(vector.group) / \(vector.name): \($0)" }
        }
        return []
    }

    private static func problems(of spec: JSON) async -> [String] {
        do {
            let sandbox = try await BorrowedSandbox(spec)
            let scenario = Scenario(spec, sandbox)
            let problems = await scenario.run()
            // First the sandbox: the server is where its callbacks go.
            try await sandbox?.giveBack()
            scenario.server.stop()
            return problems
        } catch {
            return ["the sandbox failed: \(error)"]
        }
    }

    private func run() async -> [String] {
        let clock = ContinuousClock()
        let begun = clock.now
        var found: [String] = []
        for (number, step) in (spec["steps"].array ?? [spec]).enumerated() {
            let came = await come(step["do"].text, placed(step["input"]))
            printed += came.printed
            if step["expect"] != .null {
                let problems = differences(placed(step["expect"]), came.result)
                found += problems.map { "step \(number + 1) (\(step["do"].text)) \($0)" }
            }
            keep(step["keep"], of: came.result)
        }
        if let least = spec["took_at_least_ms"].int, clock.now - begun < .milliseconds(least) {
            found.append("took only \(clock.now - begun)")
        }
        found += await requestProblems()
        return found + printProblems(spec, printed)
    }

    /// With a sandbox: the addresses and what was kept, where they are named.
    private func placed(_ value: JSON) -> JSON {
        guard let sandbox else { return value }
        switch value {
        case .string(let text):
            let withSandbox = text.replacingOccurrences(of: "{sandbox}", with: sandbox.url)
            return .string(withSandbox.replacingOccurrences(of: "{server}", with: server.url))
        case .array(let items): return .array(items.map(placed))
        case .object(let fields):
            guard let name = fields["$kept"]?.text else { return .object(fields.mapValues(placed)) }
            guard let part = kept[name] else { fatalError("\(name) was not kept") }
            return part
        default: return value
        }
    }

    /// Remembers parts of a result, each by the path of keys and indexes that leads to it.
    private func keep(_ wanted: JSON, of result: JSON) {
        for (name, path) in wanted.object {
            kept[name] = (path.array ?? []).reduce(result) { part, key in
                if let name = key.string { return part[name] }
                let items = part.array ?? []
                return items.indices.contains(key.whole) ? items[key.whole] : .null
            }
        }
    }

    private func come(_ name: String, _ input: JSON) async -> Came {
        switch name {
        case "new_gateway": return attempt { _ = try theGateway() }
        case "watch":
            return attempt {
                let gateway = try Inputs.within(theGateway(), input)
                let watch = try gateway.watch(Inputs.paymentRef(input["payment"]), policy: Inputs.policy(input))
                printed += everyForm(of: watch)
                self.watch = watch
            }
        case "start":
            started = begin(input["do"].text, input["input"])
            return .nothing
        case "abandon":
            started?.cancel()
            let ended = await started?.value
            return .answer(ended == nil)
        case "finish": return await started?.value ?? .error(CancellationError())
        case "new_process":
            await gateway?.close()
            gateway = nil
            return .nothing
        case "wait_for_requests": return .answer(await server.waitForRequests(input["count"].whole))
        case "release":
            server.release()
            return .nothing
        case "sent": return .answer(server.received.count)
        case "answered": return .answer(server.answered)
        case "received": return .answer(server.received[input["number"].whole - 1].body)
        default:
            do {
                if let came = try journal?.step(name, input) { return came }
                if let answer = try await sandbox?.step(name, input) {
                    return Came(result: ["answer": answer], printed: "\(answer)")
                }
            } catch {
                return .error(error)
            }
            return await begin(name, input).value ?? .error(CancellationError())
        }
    }

    private func attempt(_ act: () throws -> Void) -> Came {
        do {
            try act()
            return .nothing
        } catch {
            return .error(error)
        }
    }

    /// The vector's gateway, made when it is first needed.
    private func theGateway() throws -> Gateway {
        let known = try gateway ?? Gateway(Inputs.config(placed(spec["config"]), server.url), journal: journal?.open())
        gateway = known
        return known
    }

    /// A task for everything that a gateway, a watch or a function answers; it ends with nil where it was cancelled.
    private func begin(_ name: String, _ input: JSON) -> Task<Came?, Never> {
        do {
            if let came = try Operations.function(name, input) { return Task { came } }
            let (gateway, watch) = (try Inputs.within(theGateway(), input), watch)
            return Task {
                do {
                    if let watch, let came = try await Operations.onWatch(watch, name) { return came }
                    if let came = try await Operations.onGateway(gateway, name, input) { return came }
                    fatalError("no step is named \(name)")
                } catch {
                    return error is CancellationError ? nil : .error(error)
                }
            }
        } catch {
            let came = Came.error(error)
            return Task { came }
        }
    }

    /// Closing waits for payments on their way. A request whose caller gave up may still have to be read.
    private func requestProblems() async -> [String] {
        server.release()
        await gateway?.close()
        let expected = spec["requests"].array
        let count = expected?.count ?? spec["sent"].int
        _ = await server.waitForRequests(count ?? 0)
        let received = server.received
        var found: [String] = []
        if let count, count != received.count {
            found.append("\(received.count) requests were sent, not \(count)")
        }
        for (number, (expected, request)) in zip(expected ?? [], received).enumerated() {
            found += problems(expected, request).map { "request \(number + 1) \($0)" }
        }
        return found
    }

    private func problems(_ expected: JSON, _ request: Received) -> [String] {
        var found: [String] = []
        for (key, came) in [("method", request.method), ("target", request.target), ("body", request.body)]
        where expected[key] != .null {
            found += differences(expected[key], .string(came)).map { "\(key) \($0)" }
        }
        for (name, value) in expected["headers"].object {
            found += differences(value, JSON(request.headers[name])).map { "header \(name) \($0)" }
        }
        for (name, value) in expected["numbers"].object where number(name, in: request.body) != decimal(value.text) {
            found.append("number \(name): expected \(value), body \(request.body)")
        }
        return found
    }

    /// The number after `"name":`, which must be one without quotes.
    private func number(_ name: String, in body: String) -> Decimal? {
        guard let found = body.range(of: "\"\(name)\":") else { return nil }
        return decimal(String(body[found.upperBound...].prefix { $0 != "," && $0 != "}" }))
    }
}
