import Kassa
import KassaCheckout

/// The payment of an order: what the app does about one, whether it is new, was closed, or the app was killed in the middle of it.
@MainActor public func openPayment(
    of order: String, at shop: Backend, language: Language = .ofDevice
) async throws -> CheckoutModel {
    let opened = try await shop.openCheckout(of: order)
    return try CheckoutModel(serverURL: opened.serverURL, clientToken: opened.clientToken, language: language) {
        try await shop.openCheckout(of: order).clientToken
    }
}
