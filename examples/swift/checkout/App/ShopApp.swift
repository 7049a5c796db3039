#if canImport(SwiftUI)
    import KassaCheckout
    import SwiftUI

    /// A jar of honey, which is paid for in the app.
    public struct OrderView: View {
        let order: String
        let shop: Backend
        @State private var payment: CheckoutModel?
        @State private var said = ""

        public init(order: String, shop: Backend) {
            (self.order, self.shop) = (order, shop)
        }

        public var body: some View {
            if let payment {
                KassaCheckoutView(payment) { result in
                    said = thanks(for: result)
                    self.payment = nil
                }
            } else {
                Button("Pay") {
                    Task {
                        do { payment = try await openPayment(of: order, at: shop) } catch { said = "The shop cannot be reached. Try again." }
                    }
                }
                Text(said)
            }
        }
    }
#endif
