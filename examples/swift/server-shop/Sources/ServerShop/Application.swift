import Foundation

#if canImport(Glibc)
    private let stream = Int32(SOCK_STREAM.rawValue)
#else
    private let stream = SOCK_STREAM
#endif

/// A web framework of a hundred lines, in the shape of Vapor, so that the example needs no other package. A shop uses a real one.
public final class Application: @unchecked Sendable {
    public struct Request: Sendable {
        public let headers: Headers
        public let body: Data
        /// The part of the path that a route leaves open.
        public let parameter: String
    }

    public struct Headers: Sendable {
        let lines: [(name: String, value: String)]

        public func first(name: String) -> String? { lines.first { $0.name == name.lowercased() }?.value }
    }

    public struct Response: Sendable {
        var status: Int
        var headers: [String] = []
        var body = ""

        public static func html(_ body: String) -> Response {
            Response(status: 200, headers: ["Content-Type: text/html; charset=utf-8"], body: "<!doctype html><title>Shop</title>\(body)")
        }

        public static func redirect(to address: String) -> Response { Response(status: 303, headers: ["Location: \(address)"]) }
    }

    public typealias Handler = @Sendable (Request) async throws -> Response

    public let log: @Sendable (String) -> Void
    /// Where it listens.
    public let address: String
    private let listener: Int32
    private let lock = NSLock()
    private var routes: [Route] = []

    private struct Route {
        let method: String
        let path: [String]
        let handler: Handler

        func fits(_ method: String, _ parts: [String]) -> Bool {
            self.method == method && path.count == parts.count && zip(path, parts).allSatisfy { $0 == $1 || $0.hasPrefix(":") }
        }
    }

    /// Listens on this machine; port 0 is any free one. No request is taken before ``start()``.
    public init(port: UInt16 = 0, log: @escaping @Sendable (String) -> Void = { print($0) }) throws {
        // A caller who has hung up must not end the program.
        signal(SIGPIPE, SIG_IGN)
        self.log = log
        listener = socket(AF_INET, stream, 0)
        var (reuse, place) = (Int32(1), sockaddr_in())
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &reuse, socklen_t(MemoryLayout<Int32>.size))
        place.sin_family = sa_family_t(AF_INET)
        place.sin_port = port.bigEndian
        place.sin_addr.s_addr = inet_addr("127.0.0.1")
        let listens = withUnsafeMutablePointer(to: &place) { [listener] pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && listen(listener, 64) == 0 && getsockname(listener, $0, &length) == 0
            }
        }
        guard listens else { throw CocoaError(.fileWriteUnknown) }
        address = "http://127.0.0.1:\(in_port_t(bigEndian: place.sin_port))"
    }

    public func get(_ path: String..., handler: @escaping Handler) { add("GET", path, handler) }

    public func post(_ path: String..., handler: @escaping Handler) { add("POST", path, handler) }

    private func add(_ method: String, _ path: [String], _ handler: @escaping Handler) {
        lock.withLock { routes.append(Route(method: method, path: path.filter { !$0.isEmpty }, handler: handler)) }
    }

    public func start() {
        Thread.detachNewThread { [self] in
            while case let connection = accept(listener, nil, nil), connection >= 0 {
                Thread.detachNewThread { self.serve(FileHandle(fileDescriptor: connection, closeOnDealloc: true)) }
            }
            // By the thread that uses it: its number may be another one's at once.
            _ = close(listener)
        }
    }

    public func stop() { shutdown(listener, Int32(SHUT_RDWR)) }

    private func serve(_ connection: FileHandle) {
        guard let (method, path, headers, body) = Self.read(connection) else { return }
        let parts = path.prefix { $0 != "?" }.split(separator: "/").map(String.init)
        let route = lock.withLock { routes.first { $0.fits(method, parts) } }
        Task { [log] in
            var response = Response(status: 404)
            if let route {
                let open = zip(route.path, parts).first { $0.0.hasPrefix(":") }?.1 ?? ""
                do {
                    response = try await route.handler(Request(headers: headers, body: body, parameter: open))
                } catch {
                    log("a request failed: \(error)")
                    response = Response(status: 500)
                }
            }
            let head = ["HTTP/1.1 \(response.status) -", "Content-Length: \(response.body.utf8.count)", "Connection: close"]
            let text = (head + response.headers).joined(separator: "\r\n") + "\r\n\r\n" + response.body
            try? connection.write(contentsOf: Data(text.utf8))
        }
    }

    private static func read(_ connection: FileHandle) -> (String, String, Headers, Data)? {
        var read = Data()
        func fill() -> Bool {
            guard let more = try? connection.read(upToCount: 1), !more.isEmpty, read.count < 1_000_000 else { return false }
            read += more
            return true
        }
        while !read.suffix(4).elementsEqual(Data("\r\n\r\n".utf8)) { guard fill() else { return nil } }
        let lines = String(decoding: read, as: UTF8.self).components(separatedBy: "\r\n")
        let words = lines[0].split(separator: " ").map(String.init)
        guard words.count == 3 else { return nil }
        let headers = lines.dropFirst().compactMap { line in
            line.firstIndex(of: ":").map { end in
                (name: line[..<end].lowercased(), value: line[line.index(after: end)...].trimmingCharacters(in: .whitespaces))
            }
        }
        let length = headers.first { $0.name == "content-length" }.flatMap { Int($0.value) } ?? 0
        read = Data()
        while read.count < length { guard fill() else { return nil } }
        return (words[0], words[1], Headers(lines: headers), read)
    }
}
