import Kassa

/// Stands in for the merchant's server. **Nothing like this belongs into an app**: in a real one, these lines run on the server.
public struct DemoBackend: Backend {
    private let gateway: Gateway

    /// - Parameter gateway: One with a journal.
    public init(_ gateway: Gateway) {
        self.gateway = gateway
    }

    public func pay(_ order: Order, card: Card, returnURL: String) async throws -> JournalEntry? {
        let payment = CardPayment(
            orderNumber: order.number, description: "A jar of honey", amount: order.amount, currency: "KGS", card: card, language: "en",
            // A server has an endpoint for callbacks, and knows the payer's address.
            returnURL: returnURL, callbackURL: "http://127.0.0.1:9/callback", ip: "203.0.113.7")
        do {
            _ = try await gateway.createCardPayment(payment)
        } catch let error as PaymentError where error.paymentMayExist {
            // Now, or before: the journal knows it, and it is asked about.
        }
        return try await self.payment(of: order)
    }

    public func payment(of order: Order) async throws -> JournalEntry? {
        try await gateway.journal?.entry(.card(order.number, amount: order.amount, currency: "KGS"))
    }

    public func watch(_ payment: PaymentRef) throws -> StatusWatch { try gateway.watch(payment) }

    /// Delivers what is paid, whether its app comes back or not: a server does this from its start on, again and again.
    public func deliverWhatIsPaid(_ deliver: @Sendable (JournalEntry) async throws -> Void) async throws {
        for try await case .payment(let entry) in try gateway.settle() where entry.state == .charged {
            try await deliver(entry)
            try await gateway.finish(entry)
        }
    }
}
