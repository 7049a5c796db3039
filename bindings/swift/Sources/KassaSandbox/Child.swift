import Foundation

/// How long the announcement may take. A start takes milliseconds; the rest is for an overloaded machine.
private let startPatience = Duration.seconds(60)
/// How long an end in order may take: the sandbox lets go of what is under way after a few seconds.
private let stopPatience = Duration.seconds(15)

/// What a child is started with.
package struct Start: Sendable {
    /// What it is called where it fails, such as "the sandbox".
    let name: String
    let program: URL
    let arguments: [String]
    let environment: [String: String]
    let log: (@Sendable (String) -> Void)?

    package init(
        name: String, program: URL, arguments: [String], environment: [String: String], log: (@Sendable (String) -> Void)?
    ) {
        self.name = name
        self.program = program
        self.arguments = arguments
        self.environment = environment
        self.log = log
    }
}

/// A running sandbox, or a running server. It lives as long as the pipe to its standard input, and only this process holds that: the
/// system closes it when this process ends, also where it is killed.
package final class Child: Sendable {
    package let url: String
    package let port: Int
    private let running: Running

    private init(_ running: Running, url: String, port: Int) {
        self.running = running
        self.url = url
        self.port = port
    }

    deinit {
        running.letGo()
    }

    /// Starts it and waits until it is ready.
    package static func start(_ start: Start) async throws -> Child {
        let running = try Running(start)
        let impatience = Task {
            try await Task.sleep(for: startPatience)
            running.kill()
        }
        defer { impatience.cancel() }
        // A line that is there already is handed out to a task that was cancelled, too.
        guard let line = await running.firstLine(), !Task.isCancelled else {
            running.letGo()
            let exitCode = await running.end.value
            let log = await running.log.value
            try Task.checkCancellation()
            throw SandboxError.notStarted(detail: "\(start.name) did not start", exitCode: exitCode, log: log)
        }
        struct Announcement: Decodable { let url: String }
        guard let announced = try? JSONDecoder().decode(Announcement.self, from: Data(line.utf8)),
            let port = URL(string: announced.url)?.port
        else {
            running.kill()
            throw SandboxError.notThisSandbox(detail: "\(start.name) is of another version: its announcement cannot be read")
        }
        return Child(running, url: announced.url, port: port)
    }

    /// Runs a program to its end; the first line that it prints.
    package static func firstLine(of start: Start) async throws -> String {
        let running = try Running(start)
        let line = await running.firstLine()
        running.letGo()
        let (exitCode, log) = (await running.end.value, await running.log.value)
        guard let line, exitCode == 0 else {
            throw SandboxError.notStarted(detail: "\(start.name) failed", exitCode: exitCode, log: log)
        }
        return line
    }

    package var processID: Int32? { running.processID }

    /// Shuts it down gracefully: running requests are answered first.
    package func stop() async {
        running.letGo()
        let impatience = Task { [running] in
            try await Task.sleep(for: stopPatience)
            running.kill()
        }
        _ = await running.end.value
        impatience.cancel()
    }

    /// Ends it without giving it a chance to put anything in order.
    package func kill() async {
        running.kill()
        _ = await running.end.value
        running.letGo()
    }
}

#if os(macOS) || os(Linux)
    /// The process and what it is held by.
    ///
    /// Unchecked, because a process and a file handle are not known to be safe from several threads on every system; both are
    /// touched under the lock only.
    private final class Running: @unchecked Sendable {
        /// What it ended with.
        let end: Task<Int32, Never>
        /// The end of its log, once it has ended.
        let log: Task<String, Never>
        private let lock = NSLock()
        private let process = Process()
        private let life: FileHandle
        private let output: AsyncStream<String>

        /// Held from its pipes to its start, so that no other child of this kind takes them along.
        private static let starting = NSLock()

        init(_ start: Start) throws {
            Self.starting.lock()
            defer { Self.starting.unlock() }
            let (input, output, errors) = (Pipe(), Pipe(), Pipe())
            process.executableURL = start.program
            process.arguments = start.arguments
            process.environment = start.environment
            // Not the pipes themselves: the process would hold on to their other ends.
            process.standardInput = input.fileHandleForReading
            process.standardOutput = output.fileHandleForWriting
            process.standardError = errors.fileHandleForWriting
            life = input.fileHandleForWriting
            self.output = lines(of: output.fileHandleForReading)
            log = Self.handOn(lines(of: errors.fileHandleForReading), to: start.log)
            let (statuses, status) = AsyncStream.makeStream(of: Int32.self)
            end = Task { await statuses.first { _ in true } ?? -1 }
            process.terminationHandler = {
                status.yield($0.terminationStatus)
                status.finish()
            }
            // The child has its own copies; these would keep the streams from ending.
            defer {
                for copy in [input.fileHandleForReading, output.fileHandleForWriting, errors.fileHandleForWriting] {
                    try? copy.close()
                }
            }
            do {
                // Nor does any other program that is started from here get it.
                _ = fcntl(life.fileDescriptor, F_SETFD, FD_CLOEXEC)
                try process.run()
            } catch {
                status.finish()
                let detail = "\(start.program.path(percentEncoded: false)) cannot be started: \(error.localizedDescription)"
                throw SandboxError.notStarted(detail: detail, exitCode: nil, log: "")
            }
        }

        private static func handOn(_ lines: AsyncStream<String>, to log: (@Sendable (String) -> Void)?) -> Task<String, Never> {
            Task {
                var last: [String] = []
                for await line in lines {
                    log?(line)
                    last = last.suffix(49) + [line]
                }
                return last.joined(separator: "\n")
            }
        }

        /// The first line on its standard output; nil if it ended before.
        func firstLine() async -> String? {
            await output.first { _ in true }
        }

        var processID: Int32? { lock.withLock { process.isRunning ? process.processIdentifier : nil } }

        /// Closes the pipe that keeps it alive.
        func letGo() {
            lock.withLock { try? life.close() }
        }

        func kill() {
            lock.withLock {
                if process.isRunning { _ = Foundation.kill(process.processIdentifier, SIGKILL) }
            }
        }
    }

    /// Reads a stream without pause on a thread of its own, so that who writes to it never waits for a reader.
    private func lines(of stream: FileHandle) -> AsyncStream<String> {
        let (lines, line) = AsyncStream.makeStream(of: String.self)
        let descriptor = stream.fileDescriptor
        Thread.detachNewThread {
            var rest: [UInt8] = []
            var chunk = [UInt8](repeating: 0, count: 4096)
            while true {
                let count = read(descriptor, &chunk, chunk.count)
                if count < 0 && errno == EINTR { continue }
                guard count > 0 else { break }
                rest += chunk[..<count]
                while let newLine = rest.firstIndex(of: UInt8(ascii: "\n")) {
                    line.yield(String(decoding: rest[..<newLine], as: UTF8.self))
                    rest.removeFirst(newLine + 1)
                }
            }
            if !rest.isEmpty { line.yield(String(decoding: rest, as: UTF8.self)) }
            line.finish()
            try? stream.close()
        }
        return lines
    }
#else
    /// A phone starts no processes.
    private final class Running: Sendable {
        let end = Task { Int32(-1) }
        let log = Task { "" }
        let processID: Int32? = nil

        init(_ start: Start) throws {
            throw SandboxError.notStarted(detail: "this system starts no processes", exitCode: nil, log: "")
        }

        func firstLine() async -> String? { nil }
        func letGo() {}
        func kill() {}
    }
#endif
