import Foundation
import Kassa

/// What the app asks of the merchant's own server. **The server has the merchant's credentials and uses Kassa; the app has none.**
public protocol Backend: Sendable {
    /// Begins a card payment. The answer is what to store of it: what to ask about it with, and the bank's page (3DS) to open for the
    /// payer, where there is something to confirm. **It is not paid yet.**
    ///
    /// - Parameters:
    ///   - orderNumber: The app made it and has stored it already.
    ///   - returnURL: The deep link to which the bank's page leads back.
    /// - Throws: A `PaymentError` where the server has one to tell. **Any other error is taken to say nothing about the money**: the
    ///   server may have sent the payment before its answer was lost.
    func payByCard(orderNumber: String, amount: Decimal, card: Card, returnURL: String) async throws -> PaymentEntry

    /// Follows a payment. Nothing is asked before the first report is waited for.
    func watch(_ payment: PaymentRef) throws -> any PaymentWatch
}

/// Reports on one payment, until it is over: each with the verdict on it, which the server made. Kassa's `StatusWatch` is one; an app's
/// would ask its server.
public protocol PaymentWatch: Sendable {
    /// The next report; nil after the last one.
    func next() async throws -> WatchReport?

    /// Makes the next query due at once.
    func checkNow()
}

extension StatusWatch: PaymentWatch {}
