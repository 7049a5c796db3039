import Foundation
import Kassa

/// What the app asks of the merchant's own server. **The server has the merchant's credentials and uses Kassa; the app has none.**
public protocol Backend: Sendable {
    /// Begins a card payment.
    ///
    /// - Parameters:
    ///   - orderNumber: The app made it and has stored it already.
    ///   - returnURL: The deep link to which the bank's page leads back.
    /// - Throws: A `PaymentError` where the server has one to tell. **Any other error is taken to say nothing about the money**: the
    ///   server may have sent the payment before its answer was lost.
    func payByCard(orderNumber: String, amount: Decimal, card: Card, returnURL: String) async throws -> StartedPayment

    /// Follows a payment. Nothing is asked before the first report is waited for.
    func watch(_ payment: PaymentRef) throws -> any PaymentWatch
}

/// A payment that the gateway has accepted. It is not paid yet.
public struct StartedPayment: Sendable {
    /// What to ask about it with. It may know more than what the app has stored.
    public let payment: PaymentRef
    /// The bank's page (3DS) to open for the payer; nil where there is nothing to confirm.
    public let page: URL?

    public init(payment: PaymentRef, page: URL?) {
        self.payment = payment
        self.page = page
    }
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
