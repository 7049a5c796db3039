import Foundation

#if canImport(Glibc)
    private let stream = Int32(SOCK_STREAM.rawValue)
#else
    private let stream = SOCK_STREAM
#endif

/// Answers requests without bodies on this machine: enough for a back end with one address.
final class TinyHTTP: Sendable {
    /// The answer to a path; nil where there is none.
    typealias Answer = @Sendable (_ path: String) async throws -> Data?

    let address: URL
    private let listener: Int32

    init(_ answer: @escaping Answer) throws {
        // A caller who has hung up must not end the tests.
        signal(SIGPIPE, SIG_IGN)
        let listener = socket(AF_INET, stream, 0)
        var place = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        place.sin_family = sa_family_t(AF_INET)
        place.sin_addr.s_addr = inet_addr("127.0.0.1")
        let listens = withUnsafeMutablePointer(to: &place) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && listen(listener, 16) == 0 && getsockname(listener, $0, &length) == 0
            }
        }
        guard listens, let address = URL(string: "http://127.0.0.1:\(in_port_t(bigEndian: place.sin_port))") else {
            throw CocoaError(.fileReadUnknown)
        }
        (self.listener, self.address) = (listener, address)
        Thread.detachNewThread {
            while case let connection = accept(listener, nil, nil), connection >= 0 {
                let path = Self.path(of: connection)
                Task {
                    Self.send((try? await answer(path)) ?? nil, to: connection)
                }
            }
            // By the thread that uses it: its number may be another one's at once.
            _ = Foundation.close(listener)
        }
    }

    /// No connection is taken any more.
    func close() {
        shutdown(listener, Int32(SHUT_RDWR))
    }

    private static func path(of connection: Int32) -> String {
        var head = Data()
        var chunk = [UInt8](repeating: 0, count: 4096)
        while head.firstRange(of: Data("\r\n\r\n".utf8)) == nil {
            let count = recv(connection, &chunk, chunk.count, 0)
            guard count > 0 else { return "" }
            head += chunk[..<count]
        }
        let words = String(decoding: head, as: UTF8.self).split(separator: " ")
        return words.count > 1 ? String(words[1]) : ""
    }

    private static func send(_ body: Data?, to connection: Int32) {
        let status = body == nil ? "404 Not Found" : "200 OK"
        let length = "Content-Length: \(body?.count ?? 0)"
        let head = ["HTTP/1.1 \(status)", "Content-Type: application/json", length, "Connection: close"]
        try? FileHandle(fileDescriptor: connection, closeOnDealloc: true)
            .write(contentsOf: Data("\(head.joined(separator: "\r\n"))\r\n\r\n".utf8) + (body ?? Data()))
    }
}
