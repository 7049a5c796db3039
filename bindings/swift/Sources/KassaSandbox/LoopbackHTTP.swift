import Foundation

#if canImport(Glibc)
    private let stream = Int32(SOCK_STREAM.rawValue)
    private let noSignal = Int32(MSG_NOSIGNAL)
#else
    private let stream = SOCK_STREAM
    private let noSignal: Int32 = 0
#endif

/// One request to this machine over a connection of its own. URLSession would ask the proxy that the environment names, and on
/// Linux cannot be kept from it.
package enum LoopbackHTTP {
    package struct Response: Sendable {
        package let status: Int
        /// Where it leads to.
        package let location: String?
        package let body: Data
    }

    /// The timeout of a response in seconds. It takes milliseconds; the rest is for an overloaded machine.
    private static let patience = 30

    package static func exchange(port: Int, _ target: String, headers: [String], body: Data?) async throws -> Response {
        let length = body.map { ["Content-Length: \($0.count)"] } ?? []
        let lines = ["\(target) HTTP/1.1", "Host: 127.0.0.1:\(port)", "Connection: close"] + headers + length
        let request = Data("\(lines.joined(separator: "\r\n"))\r\n\r\n".utf8) + (body ?? Data())
        let answer = try await withCheckedThrowingContinuation { waiting in
            // Sockets block, and the threads of tasks are few.
            DispatchQueue.global().async { waiting.resume(with: Result { try exchange(port: port, request) }) }
        }
        guard let response = parse(answer) else { throw SandboxError.notRunning(detail: "the sandbox broke off its answer") }
        return response
    }

    private static func exchange(port: Int, _ request: Data) throws -> Data {
        let connection = socket(AF_INET, stream, 0)
        guard connection >= 0 else { throw lost() }
        defer { close(connection) }
        set(connection, SO_RCVTIMEO, timeval(tv_sec: patience, tv_usec: 0))
        set(connection, SO_SNDTIMEO, timeval(tv_sec: patience, tv_usec: 0))
        #if !canImport(Glibc)
            set(connection, SO_NOSIGPIPE, Int32(1))
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let connected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(connection, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard connected == 0 else { throw lost() }
        var unsent = request[...]
        while !unsent.isEmpty {
            let count = unsent.withUnsafeBytes { send(connection, $0.baseAddress, $0.count, noSignal) }
            guard count > 0 else { throw lost() }
            unsent = unsent.dropFirst(count)
        }
        var answer = Data()
        var chunk = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = recv(connection, &chunk, chunk.count, 0)
            guard count >= 0 else { throw lost() }
            if count == 0 { return answer }
            answer += chunk[..<count]
        }
    }

    /// The sandbox names the length of its answers, and closes the connection after one.
    private static func parse(_ answer: Data) -> Response? {
        guard let end = answer.firstRange(of: Data("\r\n\r\n".utf8)) else { return nil }
        let head = String(decoding: answer[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
        guard let words = head.first?.split(separator: " "), words.count > 1, let status = Int(words[1]) else { return nil }
        let body = Data(answer[end.upperBound...])
        func header(_ name: String) -> String? {
            head.first { $0.lowercased().hasPrefix("\(name):") }?.split(separator: " ").last.map { String($0) }
        }
        let length = header("content-length").flatMap { Int($0) }
        return length ?? 0 == body.count ? Response(status: status, location: header("location"), body: body) : nil
    }

    /// A free port.
    package static func freePort() throws -> Int {
        let connection = socket(AF_INET, stream, 0)
        guard connection >= 0 else { throw lost() }
        defer { close(connection) }
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let found = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(connection, $0, length) == 0 && getsockname(connection, $0, &length) == 0
            }
        }
        guard found else { throw lost() }
        return Int(in_port_t(bigEndian: address.sin_port))
    }

    private static func set<Value>(_ connection: Int32, _ name: Int32, _ value: Value) {
        withUnsafeBytes(of: value) { _ = setsockopt(connection, SOL_SOCKET, name, $0.baseAddress, socklen_t($0.count)) }
    }

    private static func lost() -> SandboxError {
        .notRunning(detail: "the sandbox does not answer: \(String(cString: strerror(errno)))")
    }
}
