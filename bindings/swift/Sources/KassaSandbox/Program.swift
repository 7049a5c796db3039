import Foundation

/// Finds a program.
package enum Program {
    package static func find(_ name: String, namedBy variable: String, _ environment: [String: String]) throws -> URL {
        if let named = environment[variable], !named.isEmpty { return URL(filePath: named) }
        let path = environment["PATH"]?.split(separator: ":").map { URL(filePath: String($0)) } ?? []
        let beside = Bundle.main.executableURL.map { [$0.deletingLastPathComponent()] } ?? []
        for folder in beside + path {
            let program = folder.appending(path: name)
            if FileManager.default.isExecutableFile(atPath: program.path(percentEncoded: false)) { return program }
        }
        let detail = "the program \(name) lies neither beside this program nor on the PATH; \(variable) can name it"
        throw SandboxError.notStarted(detail: detail, exitCode: nil, log: "")
    }
}
