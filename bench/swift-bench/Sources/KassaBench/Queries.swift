import Foundation
import Kassa

#if canImport(FoundationNetworking)
import FoundationNetworking
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

private struct Reply: Decodable {
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
        let reply = try JSONDecoder().decode(Reply.self, from: body)
        guard reply.data.status == "CHARGE" else { throw BenchError.wrongReport }
    }
}

let clients: [(name: String, make: @Sendable (String) throws -> Query)] = [("Kassa", withKassa), ("URLSession", withURLSession)]
