import Foundation
import KassaStage

/// One vector, with everything that it says spelled out.
struct Vector: Sendable {
    let group: String
    let name: String
    let spec: JSON
}

enum Vectors {
    static let directory = URL(filePath: #filePath).appending(path: "../../../../../../tests/conformance").standardized

    /// The vectors of each file.
    static func load() throws -> [String: [Vector]] {
        let common = try read("common.json")
        let files = try FileManager.default.contentsOfDirectory(atPath: directory.path())
            .filter { $0.hasSuffix(".json") && $0 != "common.json" }
        return try Dictionary(uniqueKeysWithValues: files.map { ($0, expanded(try read($0), common)) })
    }

    private static func read(_ file: String) throws -> JSON {
        try JSON(parsing: Data(contentsOf: directory.appending(path: file)))
    }

    private static func expanded(_ file: JSON, _ common: JSON) -> [Vector] {
        let constants = common["constants"].object.merging(file["constants"].object) { $1 }
        let defaults = merged(common["defaults"], file["defaults"])
        return (file["vectors"].array ?? []).map { vector in
            let spec = resolved(merged(defaults, vector), constants)
            return Vector(group: file["group"].text, name: vector["name"].text, spec: spec)
        }
    }

    /// A key that the vector lacks comes from the defaults; `config` is filled up key by key.
    private static func merged(_ defaults: JSON, _ vector: JSON) -> JSON {
        var whole = defaults.object.merging(vector.object) { $1 }
        whole["config"] = .object(defaults["config"].object.merging(vector["config"].object) { $1 })
        return .object(whole)
    }

    /// `$use` with `$with`, `$repeat` with `times`, and `$concat` are spelled out.
    private static func resolved(_ value: JSON, _ constants: [String: JSON]) -> JSON {
        switch value {
        case .array(let items): return .array(items.map { resolved($0, constants) })
        case .object(let fields):
            if let name = fields["$use"]?.text {
                guard let constant = constants[name] else { fatalError("no constant is named \(name)") }
                let known = resolved(constant, constants)
                guard let changes = fields["$with"] else { return known }
                return .object(known.object.merging(resolved(changes, constants).object) { $1 })
            }
            if let text = fields["$repeat"]?.text {
                return .string(String(repeating: text, count: value["times"].whole))
            }
            if let parts = fields["$concat"] {
                return .string((resolved(parts, constants).array ?? []).map(\.text).joined())
            }
            return .object(fields.mapValues { resolved($0, constants) })
        default: return value
        }
    }
}
