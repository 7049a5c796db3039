import Foundation

#if canImport(Glibc)
    import Glibc
    private let stream = Int32(SOCK_STREAM.rawValue)
#else
    import Darwin
    private let stream = SOCK_STREAM
#endif

/// A request, as it came to a ``Server``.
package struct Received: Sendable {
    package let method: String
    package let target: String
    /// Names in lower case.
    package let headers: [String: String]
    package let body: String
}

/// Serves scripted bytes from a loopback socket, each connection in a thread of its own, and records each request as it came.
///
/// Unchecked, because the compiler does not see that all that changes is behind the condition.
package final class Server: @unchecked Sendable {
    package let url: String
    private let listener: Int32
    private let respond: @Sendable (Received, Int) -> JSON?
    private let changed = NSCondition()
    private var requests: [Received] = []
    private var begun = 0
    private var released = false

    /// Answers with these one after the other, and with the last one from then on.
    package convenience init(_ responses: [JSON]) {
        self.init { _, number in responses.indices.contains(number - 1) ? responses[number - 1] : responses.last }
    }

    /// Answers each request by what it is, and by its number, which begins at 1. Without an answer the connection ends.
    package init(_ respond: @escaping @Sendable (Received, Int) -> JSON?) {
        signal(SIGPIPE, SIG_IGN)
        self.respond = respond
        listener = socket(AF_INET, stream, 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let port = withUnsafeMutablePointer(to: &address) { [listener] pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                precondition(bind(listener, generic, size) == 0 && listen(listener, 1024) == 0, "no socket")
                precondition(getsockname(listener, generic, &size) == 0, "no port")
            }
            return UInt16(bigEndian: pointer.pointee.sin_port)
        }
        url = "http://127.0.0.1:\(port)"
        Thread.detachNewThread { self.accept() }
    }

    /// Ends the listening thread and lets go of what is held.
    package func stop() {
        release()
        _ = shutdown(listener, Int32(SHUT_RDWR))
    }

    package var received: [Received] { changed.withLock { requests } }

    package var answered: Int { changed.withLock { begun } }

    /// Lets the responses go that were held back.
    package func release() {
        change { released = true }
    }

    /// Waits for that many requests in a thread of its own; false where they do not come.
    package func waitForRequests(_ count: Int) async -> Bool {
        await withCheckedContinuation { waiting in
            Thread.detachNewThread { waiting.resume(returning: self.wait { self.requests.count >= count }) }
        }
    }

    private func change(_ change: () -> Void) {
        changed.withLock {
            change()
            changed.broadcast()
        }
    }

    private func wait(until isThere: () -> Bool) -> Bool {
        changed.withLock {
            let limit = Date(timeIntervalSinceNow: patience)
            while !isThere() {
                if !changed.wait(until: limit) { return isThere() }
            }
            return true
        }
    }

    private func accept() {
        while true {
            #if canImport(Glibc)
                let connection = Glibc.accept(listener, nil, nil)
            #else
                let connection = Darwin.accept(listener, nil, nil)
            #endif
            if connection < 0, [EMFILE, ENFILE, EINTR, ECONNABORTED].contains(errno) {
                usleep(1000)
                continue
            }
            guard connection >= 0 else { break }
            _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
            Thread.detachNewThread { self.serve(Connection(connection)) }
        }
        _ = close(listener)
    }

    private func serve(_ connection: Connection) {
        defer { connection.close() }
        while let request = connection.readRequest() {
            var number = 0
            change {
                requests.append(request)
                number = requests.count
            }
            guard let response = respond(request, number) else { return }
            if response["hold"] == .bool(true) {
                _ = wait { released }
            }
            change { begun += 1 }
            guard connection.write(bytes(of: response)), act(response["then"].string ?? "keep", on: connection) else { return }
        }
    }

    /// False where the connection ends with it.
    private func act(_ then: String, on connection: Connection) -> Bool {
        switch then {
        case "keep": return true
        case "close": connection.closeSending()
        case "reset":
            connection.resetWhenClosed()
            return false
        case "silence": break
        default: fatalError("a response cannot \(then)")
        }
        // Read on, so that bytes still under way do not turn the end into a reset.
        connection.readToEnd()
        return false
    }

    private func bytes(of response: JSON) -> Data {
        guard let status = response["status"].int else { return response["raw"].bytes }
        let body = response["body"].bytes
        let headers = response["headers"].object.map { "\($0): \($1.text)\r\n" }.joined()
        return Data("HTTP/1.1 \(status) X\r\n\(headers)Content-Length: \(body.count)\r\n\r\n".utf8) + body
    }
}

/// One connection, read by the line and by the byte.
private struct Connection {
    private let socket: Int32
    private let buffer = Buffer()

    private final class Buffer {
        var unread: [UInt8] = []
    }

    init(_ socket: Int32) {
        self.socket = socket
        set(IPPROTO_TCP, TCP_NODELAY, Int32(1))
    }

    func readRequest() -> Received? {
        guard let words = readLine()?.split(separator: " "), words.count >= 2 else { return nil }
        var headers: [String: String] = [:]
        while true {
            guard let line = readLine() else { return nil }
            if line.isEmpty { break }
            guard let colon = line.firstIndex(of: ":") else { return nil }
            let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
            headers[line[..<colon].lowercased()] = value
        }
        let length = headers["content-length"].flatMap(Int.init) ?? 0
        guard fill({ buffer.unread.count >= length }) else { return nil }
        defer { buffer.unread.removeFirst(length) }
        guard let body = String(validating: buffer.unread.prefix(length), as: UTF8.self) else { return nil }
        return Received(method: String(words[0]), target: String(words[1]), headers: headers, body: body)
    }

    func write(_ data: Data) -> Bool {
        var rest = Array(data)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { send(socket, $0.baseAddress, $0.count, 0) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    func readToEnd() {
        while fill({ false }) {}
    }

    func closeSending() {
        _ = shutdown(socket, Int32(SHUT_WR))
    }

    func resetWhenClosed() {
        set(SOL_SOCKET, SO_LINGER, linger(l_onoff: 1, l_linger: 0))
    }

    func close() {
        #if canImport(Glibc)
            _ = Glibc.close(socket)
        #else
            _ = Darwin.close(socket)
        #endif
    }

    private func readLine() -> String? {
        let newLine = UInt8(ascii: "\n")
        guard fill({ buffer.unread.contains(newLine) }), let end = buffer.unread.firstIndex(of: newLine) else { return nil }
        defer { buffer.unread.removeFirst(end + 1) }
        let line = String(decoding: buffer.unread[..<end], as: UTF8.self)
        return line.hasSuffix("\r") ? String(line.dropLast()) : line
    }

    /// Reads until there is enough; false where the end came before.
    private func fill(_ isEnough: () -> Bool) -> Bool {
        var chunk = [UInt8](repeating: 0, count: 16_384)
        while !isEnough() {
            let count = recv(socket, &chunk, chunk.count, 0)
            guard count > 0 else { return false }
            buffer.unread.append(contentsOf: chunk[..<count])
        }
        return true
    }

    private func set<Value>(_ level: some BinaryInteger, _ name: Int32, _ value: Value) {
        withUnsafeBytes(of: value) { bytes in
            _ = setsockopt(socket, Int32(level), name, bytes.baseAddress, socklen_t(bytes.count))
        }
    }
}
