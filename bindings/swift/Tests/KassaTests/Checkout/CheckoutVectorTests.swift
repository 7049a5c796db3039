import Foundation
import Kassa
import KassaStage
import Testing

/// Most wait for what goes over sockets, and each has a server of its own.
private let atOnce = 8

/// Runs the conformance vectors of a checkout. What a vector means is described in `tests/conformance/checkout/README.md`.
///
/// `KASSA_VECTORS=TEXT` in the environment runs those with TEXT in their name or group only.
@Test func everyVectorOfACheckout() async throws {
    let all = try Vectors.ofACheckout()
    let filter = ProcessInfo.processInfo.environment["KASSA_VECTORS"] ?? ""
    let chosen = all.filter { filter.isEmpty || $0.name.contains(filter) || $0.group.contains(filter) }
    let stage = try await Stage.start()
    let results = await sideBySide(chosen, atOnce: atOnce) { vector in
        do {
            try await Play.run(vector.spec, on: stage)
            return []
        } catch {
            return ["\(vector.group) / \(vector.name): \(error.localizedDescription)"]
        }
    }
    stage.stop()
    for problem in results.values.joined() { Issue.record("\(problem)") }
    #expect(all.count > 60 && Set(all.map(\.name)).count == all.count && results.count == chosen.count)
    // For scripts/swift/test-packages, which fails if a filter matches none.
    print("vectors: \(chosen.count)")
}

/// One vector, with its apps by their devices' names.
private final class Play {
    private let scene: Stage.Scene
    private let never: [JSON]
    private var apps: [String: CheckoutApp] = [:]

    private init(_ scene: Stage.Scene, never: [JSON]) {
        self.scene = scene
        self.never = never
    }

    static func run(_ spec: JSON, on stage: Stage) async throws {
        let scene = try await stage.open(spec["scene"])
        let play = Play(scene, never: spec["never"].array ?? [])
        for (number, step) in (spec["steps"].array ?? []).enumerated() {
            do {
                try await play.step(step)
            } catch {
                throw Problem("step \(number + 1) (\(step["do"].text)): \(error.localizedDescription)")
            }
        }
        play.apps = [:]
        try await scene.close()
    }

    private func step(_ step: JSON) async throws {
        let (name, device) = (step["do"].text, step["device"].string ?? "phone")
        if name == "until" {
            guard let app = apps[device] else { throw Problem("\(device) has not opened it") }
            return try await app.until(step["expect"], never: never)
        }
        let came = try await come(name, device, placed(step["input"]))
        // Each language prints in its own way, but none a token.
        if name == "print" {
            guard matches(["answer": ["$like": "*http://127.0.0.1:*ready*"]], came), !came["answer"].text.contains(scene.clientToken)
            else { throw Problem("must not print \(came)") }
        } else if let expected = step.object["expect"] {
            guard matches(expected, came) else { throw Problem("must be \(expected) and is \(came)") }
        } else if came["error"] != .null {
            throw Problem("must be no error and is \(came)")
        }
    }

    private func come(_ name: String, _ device: String, _ input: JSON) async throws -> JSON {
        do {
            switch name {
            case "open": apps[device] = try CheckoutApp(scene, input)
            case "kill": apps[device] = nil
            default:
                if let answer = try apps[device]?.act(name, input) { return ["answer": answer] }
                return ["answer": try await scene.step(name, input)]
            }
            return ["answer": .null]
        } catch let error as PaymentError {
            return ["error": error.canonical]
        }
    }

    /// `{"$new_token": true}` stands for one.
    private func placed(_ input: JSON) async throws -> JSON {
        guard case .object(var fields) = input else { return input }
        for (key, value) in fields where value["$new_token"] != .null { fields[key] = .string(try await scene.newToken()) }
        return .object(fields)
    }
}

extension Vectors {
    static func ofACheckout() throws -> [Vector] {
        let folder = directory.appending(path: "checkout")
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path()).filter { $0.hasSuffix(".json") }
        return try files.sorted().flatMap { name in
            let file = try JSON(parsing: Data(contentsOf: folder.appending(path: name)))
            return (file["vectors"].array ?? []).map { Vector(group: file["group"].text, name: $0["name"].text, spec: $0) }
        }
    }
}

/// Whether a value is what is expected: every key that is expected must be there and match, others may be as they are.
func matches(_ expected: JSON, _ found: JSON) -> Bool {
    switch expected {
    case .object(let fields) where fields["$like"] != nil: differences(expected, found).isEmpty
    case .object(let fields): fields.allSatisfy { matches($1, found[$0]) }
    case .array(let items): items.count == found.array?.count && zip(items, found.array ?? []).allSatisfy(matches)
    // A Decimal keeps no zeros at its end.
    case .string(let text): expected == found || (decimal(text) != nil && decimal(text) == decimal(found.string ?? ""))
    default: expected == found
    }
}
