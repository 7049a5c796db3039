import Kassa
import KassaCheckout

/// The payment of an order: the same code for a new one, a closed one, or one that was interrupted when the app was killed.
@MainActor public func openPayment(
    of order: String, at shop: Backend, language: Language = .ofDevice
) async throws -> CheckoutModel {
    let opened = try await shop.openCheckout(of: order)
    return try CheckoutModel(serverURL: opened.serverURL, clientToken: opened.clientToken, language: language) {
        try await shop.openCheckout(of: order).clientToken
    }
}
