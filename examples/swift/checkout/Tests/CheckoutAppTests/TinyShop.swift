import CheckoutApp
import Foundation
import KassaSandbox
import KassaServerTesting

/// A shop's back end, as small as one can be: it opens checkouts at its server for its app, and delivers by the server's events. It is
/// what a merchant writes in whatever language their shop is in (`examples/shops`).
final class TinyShop: Sendable {
    let server: KassaServer
    let backend: Backend
    private let http: TinyHTTP

    init() async throws {
        let server = try await KassaServer.start()
        let http = try TinyHTTP { path in
            let parts = path.split(separator: "/")
            guard parts.count == 3, parts[0] == "orders", parts[2] == "checkout" else { return nil }
            return try await Self.openCheckout(of: String(parts[1]), at: server)
        }
        (self.server, self.http) = (server, http)
        backend = Backend(http.address)
    }

    /// The back end's whole part: two calls with the API key.
    private static func openCheckout(of order: String, at server: KassaServer) async throws -> Data {
        let wanted = #"{"reference": "\#(order)", "amount": "390", "description": "A jar of honey", "return_url": "honey-shop://paid"}"#
        let checkout = try text("id", of: await server.request("POST", "/v1/checkouts", body: wanted))
        let token = try text("token", of: await server.request("POST", "/v1/checkouts/\(checkout)/tokens"))
        return try JSONEncoder().encode(CheckoutAccess(serverURL: server.url, clientToken: token))
    }

    /// No token of an order is good any more, as where all of them ran out.
    func revokeTokens(of order: String) async throws {
        let listed = try await server.request("GET", "/v1/checkouts?reference=\(order)")
        _ = try await server.request("DELETE", "/v1/checkouts/\(Self.text("id", of: listed))/tokens")
    }

    /// What is delivered: a real shop takes the events at an address of its own.
    func delivered() async throws -> [String] {
        try await server.events("checkout.paid").map(\.reference)
    }

    func close() async {
        http.close()
        await server.stop()
    }

    private static func text(_ name: String, of json: Data) throws -> String {
        let members = try JSONSerialization.jsonObject(with: json) as? [String: Any]
        guard let text = members?[name] as? String else { throw CocoaError(.coderReadCorrupt) }
        return text
    }
}
