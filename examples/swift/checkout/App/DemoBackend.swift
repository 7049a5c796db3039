import Foundation
import Kassa

/// Stands in for the merchant's server, and talks to a sandbox with the login and password that everybody knows.
///
/// **Nothing like this belongs into an app**: in a real one, these lines run on the server.
public struct DemoBackend: Backend {
    private let gateway: Gateway
    private let policy: PollPolicy

    /// - Parameter sandbox: The address of a running `kassa-sandbox`.
    public init(sandbox: String = "http://127.0.0.1:8400", policy: PollPolicy = PollPolicy()) throws {
        gateway = try Gateway(
            GatewayConfig(baseURL: sandbox, credentials: Credentials(login: "kassa", password: "sandbox")))
        self.policy = policy
    }

    public func payByCard(orderNumber: String, amount: Decimal, card: Card, returnURL: String) async throws -> PaymentEntry {
        try await gateway.createCardPayment(
            CardPayment(
                orderNumber: orderNumber, description: "A jar of honey", amount: amount, currency: "KGS", card: card, language: "en",
                // A server has an endpoint for callbacks, and knows the payer's address. Nobody listens here.
                returnURL: returnURL, callbackURL: "http://127.0.0.1:9/callback", ip: "203.0.113.7")
        ).entry()
    }

    public func watch(_ payment: PaymentRef) throws -> any PaymentWatch {
        try gateway.watch(payment, policy: policy)
    }
}
