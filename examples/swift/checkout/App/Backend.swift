import Foundation
import Kassa

/// What is paid for, as the merchant's server knows it. One that was declined is ordered anew, under another number.
public struct Order: Sendable {
    /// The server made it, and sends one payment under it.
    public var number: String
    /// In som.
    public var amount: Decimal

    public init(number: String, amount: Decimal) {
        (self.number, self.amount) = (number, amount)
    }
}

/// What the app asks of the merchant's own server. **The server has the merchant's credentials and uses Kassa with a journal; the app has
/// neither.**
public protocol Backend: Sendable {
    /// Pays for an order by card, once. The answer is what is known of its payment, **whether the gateway's answer came or not**.
    ///
    /// - Parameter returnURL: The deep link to which the bank's page (3DS) leads back.
    /// - Throws: A `PaymentError` where nothing was paid. **Any other error says nothing about the money**: the server may have sent the
    ///   payment before its answer was lost.
    func pay(_ order: Order, card: Card, returnURL: String) async throws -> JournalEntry?

    /// What is known of the payment of an order; nil where there is none.
    func payment(of order: Order) async throws -> JournalEntry?

    /// Follows a payment. Nothing is asked before it is waited for.
    func watch(_ payment: PaymentRef) throws -> StatusWatch
}
