import Foundation
import Kassa

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif
#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

let atOnce = 100

/// One way to ask for the status of a payment.
typealias Query = @Sendable () async throws -> Void

enum BenchError: Error { case wrongReport }

@Sendable func withKassa(_ url: String) throws -> Query {
    let gateway = try Gateway(GatewayConfig(baseURL: url, credentials: Credentials(login: "shop", password: "secret")))
    return {
        let report = try await gateway.providerStatus("ORDER-1", provider: .cards)
        guard report.status == .charged else { throw BenchError.wrongReport }
    }
}

private struct Response: Decodable {
    struct Data: Decodable {
        let status: String
        let amount: Decimal
    }

    let data: Data
}

@Sendable func withURLSession(_ url: String) throws -> Query {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.httpMaximumConnectionsPerHost = atOnce
    let session = URLSession(configuration: configuration)
    guard let address = URL(string: url + "/api/v1.1.0/get-status") else { throw BenchError.wrongReport }
    var prepared = URLRequest(url: address)
    prepared.httpMethod = "POST"
    prepared.setValue("Basic " + Data("shop:secret".utf8).base64EncodedString(), forHTTPHeaderField: "Authorization")
    prepared.setValue("application/json", forHTTPHeaderField: "Content-Type")
    prepared.httpBody = Data(#"{"orderNumber":"ORDER-1","provider":"Cards"}"#.utf8)
    let request = prepared
    return {
        let (body, _) = try await session.data(for: request)
        let response = try JSONDecoder().decode(Response.self, from: body)
        guard response.data.status == "CHARGE" else { throw BenchError.wrongReport }
    }
}

/// The floor: one write and one read of bytes that were ready before, on the thread of whoever asks, and nothing looked at.
@Sendable func withSocket(_ url: String) throws -> Query {
    guard let address = URL(string: url), let host = address.host, let port = address.port else { throw BenchError.wrongReport }
    let body = #"{"orderNumber":"ORDER-1","provider":"Cards"}"#
    let authorization = "Basic " + Data("shop:secret".utf8).base64EncodedString()
    let head = "POST /api/v1.1.0/get-status HTTP/1.1\r\nhost: \(host):\(port)\r\nauthorization: \(authorization)\r\n"
    let request = Array("\(head)content-length: \(body.utf8.count)\r\n\r\n\(body)".utf8)
    let sockets = Sockets(host: host, port: UInt16(port))
    return {
        let socket = try sockets.take()
        var response = [UInt8](repeating: 0, count: 4096)
        guard write(socket, request, request.count) == request.count, read(socket, &response, response.count) > 0 else {
            throw BenchError.wrongReport
        }
        sockets.giveBack(socket)
    }
}

/// Open connections that nobody uses at the moment.
private final class Sockets: @unchecked Sendable {
    private let host: String
    private let port: UInt16
    private let lock = NSLock()
    private var idle: [Int32] = []

    init(host: String, port: UInt16) {
        self.host = host
        self.port = port
    }

    func take() throws -> Int32 {
        try lock.withLock { idle.popLast() } ?? connected()
    }

    func giveBack(_ socket: Int32) {
        lock.withLock { idle.append(socket) }
    }

    private func connected() throws -> Int32 {
        #if canImport(Glibc)
        let made = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
        let made = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        inet_pton(AF_INET, host, &address.sin_addr)
        var noDelay: Int32 = 1
        setsockopt(made, Int32(IPPROTO_TCP), TCP_NODELAY, &noDelay, socklen_t(MemoryLayout<Int32>.size))
        let length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(made, $0, length) }
        }
        guard result == 0 else { throw BenchError.wrongReport }
        return made
    }
}

let clients: [(name: String, make: @Sendable (String) throws -> Query)] = [
    ("Kassa", withKassa), ("URLSession", withURLSession), ("a bare socket", withSocket),
]
