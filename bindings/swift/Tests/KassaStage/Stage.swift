import Foundation
import KassaSandbox

/// What the vectors of a checkout are played on: the program `kassa-stage`, which plays everybody around the app. It lives as long as
/// this holds its standard input.
///
/// Unchecked, because a process and a file handle are not known to be safe from several threads on every system; only `stop` touches
/// them.
package final class Stage: @unchecked Sendable {
    private let process: Process
    private let life: FileHandle
    private let port: Int

    private init(_ process: Process, _ life: FileHandle, port: Int) {
        self.process = process
        self.life = life
        self.port = port
    }

    package static func start() async throws -> Stage {
        let program = try Program.find("kassa-stage", namedBy: "KASSA_STAGE_BINARY", ProcessInfo.processInfo.environment)
        let (process, input, output) = (Process(), Pipe(), Pipe())
        process.executableURL = program
        process.standardInput = input.fileHandleForReading
        process.standardOutput = output.fileHandleForWriting
        // No other program that is started from here gets it, or the stage would outlive this process.
        _ = fcntl(input.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC)
        try process.run()
        try input.fileHandleForReading.close()
        try output.fileHandleForWriting.close()
        var line = Data()
        while line.last != UInt8(ascii: "\n") {
            guard let byte = try output.fileHandleForReading.read(upToCount: 1) else { throw Problem("the stage did not start") }
            line += byte
        }
        guard let port = URL(string: String(decoding: line.dropLast(), as: UTF8.self))?.port else {
            throw Problem("this is not the stage")
        }
        return Stage(process, input.fileHandleForWriting, port: port)
    }

    /// Sets a scene up, as the `scene` of a vector says.
    package func open(_ plan: JSON) async throws -> Scene {
        let opened = try await Self.request(port, "POST /scenes", plan)
        let path = "/scenes/\(opened["scene"].whole)"
        return Scene(
            port: port, path: path, serverURL: opened["server_url"].text, clientToken: opened["client_token"].text)
    }

    package func stop() {
        try? life.close()
        process.waitUntilExit()
    }

    fileprivate static func request(_ port: Int, _ target: String, _ body: JSON) async throws -> JSON {
        let answer = try await LoopbackHTTP.exchange(
            port: port, target, headers: ["Content-Type: application/json"], body: Data(body.description.utf8))
        guard answer.status == 200 else { throw Problem(String(decoding: answer.body, as: UTF8.self)) }
        return try JSON(parsing: answer.body)
    }

    /// One vector's server, its gateway, its network.
    package struct Scene: Sendable {
        fileprivate let port: Int
        fileprivate let path: String
        package let serverURL: String
        package let clientToken: String

        /// What somebody around the app does, and what comes of it.
        package func step(_ name: String, _ input: JSON = .null) async throws -> JSON {
            try await Stage.request(port, "POST \(path)/steps", ["do": .string(name), "input": input])
        }

        package func newToken() async throws -> String { try await step("new_token").text }

        package func close() async throws { _ = try await Stage.request(port, "DELETE \(path)", .null) }
    }
}

/// What goes wrong in a test, in words.
package struct Problem: LocalizedError {
    package let errorDescription: String?

    package init(_ text: String) { errorDescription = text }
}
