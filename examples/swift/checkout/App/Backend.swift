import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// What opens one checkout at the merchant's `kassa-server`, and nothing else.
public struct CheckoutAccess: Codable, Sendable {
    /// The server's address.
    public let serverURL: String
    /// The client token.
    public let clientToken: String

    public init(serverURL: String, clientToken: String) {
        (self.serverURL, self.clientToken) = (serverURL, clientToken)
    }
}

/// The shop's own back end, as far as the app asks it about payments. It has the API key of the merchant's server; **the app has none**.
public struct Backend: Sendable {
    private let address: URL

    public init(_ address: URL) {
        self.address = address
    }

    /// Has the checkout of an order opened, or opened again: the same order is always the same checkout, however often it is asked for.
    ///
    /// A real shop asks here who is logged in.
    public func openCheckout(of order: String) async throws -> CheckoutAccess {
        var request = URLRequest(url: address.appending(path: "orders/\(order)/checkout"))
        request.httpMethod = "POST"
        let (body, answer) = try await URLSession.shared.data(for: request)
        guard (answer as? HTTPURLResponse)?.statusCode == 200 else { throw URLError(.badServerResponse) }
        return try JSONDecoder().decode(CheckoutAccess.self, from: body)
    }
}
