import Foundation
import Testing

#if canImport(Glibc)
    private let stream = Int32(SOCK_STREAM.rawValue)
#else
    private let stream = SOCK_STREAM
#endif

/// A port where nobody listens, and nobody else can: it is taken, and not opened.
struct ClosedPort {
    let port: UInt16
    private let holder: Int32

    init() throws {
        let holder = socket(AF_INET, stream, 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isTaken = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(holder, $0, size) == 0 && getsockname(holder, $0, &size) == 0
            }
        }
        try #require(isTaken, "\(String(cString: strerror(errno)))")
        self.holder = holder
        port = UInt16(bigEndian: address.sin_port)
    }

    func letGo() { _ = close(holder) }
}
