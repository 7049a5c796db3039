import Foundation

#if canImport(Glibc)
    private let stream = Int32(SOCK_STREAM.rawValue)
#else
    private let stream = SOCK_STREAM
#endif

/// A port on 127.0.0.1 that answers HTTP. Foundation has no server, and no package can be fetched from elsewhere for this example: a
/// shop of your own has a web server.
struct Listener: Sendable {
    struct Request: Sendable {
        let method: String
        /// Path and query.
        let target: String
        let body: Data
    }

    struct Response: Sendable {
        let status: Int
        var html: String?
    }

    let port: Int
    /// Requests that were read whole, and whose answer is not out yet.
    private let underWay = DispatchGroup()

    private static let mostBytesOfHead = 16 * 1024
    /// A callback is a few hundred bytes.
    private static let mostBytesOfBody = 64 * 1024
    /// Seconds that a request may take.
    private static let patience = 15

    /// Opens the port; 0 takes a free one. Each request is answered on a thread of its own, until the program ends.
    init(port: Int, answer: @escaping @Sendable (Request) -> Response) throws {
        let listener = socket(AF_INET, stream, 0)
        guard let wanted = UInt16(exactly: port) else { throw Failure.usage("--callback-port must be a port, 0 to 65535") }
        var reuse: Int32 = 1
        _ = setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &reuse, socklen_t(MemoryLayout<Int32>.size))
        _ = fcntl(listener, F_SETFD, FD_CLOEXEC)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = wanted.bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isOpen = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, size) == 0 && listen(listener, 64) == 0 && getsockname(listener, $0, &size) == 0
            }
        }
        guard isOpen else {
            let problem = String(cString: strerror(errno))
            throw Failure.system("port \(port) on 127.0.0.1 cannot be opened for callbacks: \(problem)")
        }
        self.port = Int(UInt16(bigEndian: address.sin_port))
        Thread.detachNewThread { [underWay] in
            while true {
                let connection = accept(listener, nil, nil)
                if connection < 0 {
                    usleep(1000)  // out of file descriptors, perhaps
                    continue
                }
                Thread.detachNewThread { Self.serve(connection, underWay, answer) }
            }
        }
    }

    /// Waits until what was taken in has been answered: who sent it would send it again otherwise.
    func finish() {
        _ = underWay.wait(timeout: .now() + .seconds(Self.patience))
    }

    private static func serve(_ connection: Int32, _ underWay: DispatchGroup, _ answer: (Request) -> Response) {
        defer { close(connection) }
        _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
        var limit = timeval(tv_sec: patience, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            _ = setsockopt(connection, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
        }
        switch readRequest(connection) {
        case .success(let request):
            underWay.enter()
            defer { underWay.leave() }
            send(answer(request), on: connection)
        case .failure(let refusal):
            send(Response(status: refusal.status), on: connection)
            readTheRest(connection)
        }
    }

    /// Takes what the other side is still sending, for a while: closing over unread bytes resets the connection, and a reset can take the
    /// answer away before it is read.
    private static func readTheRest(_ connection: Int32) {
        shutdown(connection, Int32(SHUT_WR))
        let end = ContinuousClock.now + .seconds(patience)
        var ignored = Data()
        while ContinuousClock.now < end, receive(connection, &ignored) { ignored.removeAll(keepingCapacity: true) }
    }

    private static func send(_ response: Response, on connection: Int32) {
        let body = Data((response.html ?? "").utf8)
        let head = [
            "HTTP/1.1 \(response.status) \(response.status < 300 ? "OK" : "Refused")",
            "Content-Type: text/html; charset=utf-8", "Content-Length: \(body.count)", "Cache-Control: no-store", "Connection: close",
        ]
        var unsent = (Data("\(head.joined(separator: "\r\n"))\r\n\r\n".utf8) + body)[...]
        while !unsent.isEmpty {
            let count = unsent.withUnsafeBytes { write(connection, $0.baseAddress, $0.count) }
            guard count > 0 else { return }
            unsent = unsent.dropFirst(count)
        }
    }

    private struct Refusal: Error {
        let status: Int
    }

    private static func readRequest(_ connection: Int32) -> Result<Request, Refusal> {
        var received = Data()
        let endOfHead = Data("\r\n\r\n".utf8)
        while received.firstRange(of: endOfHead) == nil {
            guard received.count <= mostBytesOfHead, receive(connection, &received) else { return .failure(Refusal(status: 400)) }
        }
        guard let end = received.firstRange(of: endOfHead) else { return .failure(Refusal(status: 400)) }
        let lines = String(decoding: received[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
        let words = lines[0].split(separator: " ").map(String.init)
        guard words.count == 3 else { return .failure(Refusal(status: 400)) }
        let named = lines.dropFirst().first { $0.lowercased().hasPrefix("content-length:") }
        let length = named.map { Int($0.dropFirst("content-length:".count).trimmingCharacters(in: .whitespaces)) }
        guard words[0] != "POST" || length != nil else { return .failure(Refusal(status: 411)) }
        guard let length = length ?? 0, length >= 0 else { return .failure(Refusal(status: 400)) }
        guard length <= mostBytesOfBody else { return .failure(Refusal(status: 413)) }
        while received.count - end.upperBound < length {
            guard receive(connection, &received) else { return .failure(Refusal(status: 400)) }
        }
        return .success(Request(method: words[0], target: words[1], body: Data(received[end.upperBound...].prefix(length))))
    }

    private static func receive(_ connection: Int32, _ received: inout Data) -> Bool {
        var chunk = [UInt8](repeating: 0, count: 4096)
        let count = read(connection, &chunk, chunk.count)
        guard count > 0 else { return false }
        received += chunk[..<count]
        return true
    }
}
