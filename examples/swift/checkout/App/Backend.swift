import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Opens only one checkout at the merchant's `kassa-server`.
public struct CheckoutAccess: Codable, Sendable {
    /// The server's address.
    public let serverURL: String
    /// The client token.
    public let clientToken: String

    public init(serverURL: String, clientToken: String) {
        (self.serverURL, self.clientToken) = (serverURL, clientToken)
    }
}

/// The shop's own back end, as far as the app needs it for payments. It has the API key of the merchant's server; **the app has none**.
public struct Backend: Sendable {
    private let address: URL

    public init(_ address: URL) {
        self.address = address
    }

    /// Opens the checkout of an order, or returns the open one: an order always has the same checkout.
    ///
    /// A real shop authenticates the user here.
    public func openCheckout(of order: String) async throws -> CheckoutAccess {
        var request = URLRequest(url: address.appending(path: "orders/\(order)/checkout"))
        request.httpMethod = "POST"
        let (body, answer) = try await URLSession.shared.data(for: request)
        guard (answer as? HTTPURLResponse)?.statusCode == 200 else { throw URLError(.badServerResponse) }
        return try JSONDecoder().decode(CheckoutAccess.self, from: body)
    }
}
