import KassaCheckout

/// What the app shows after the payer has closed the screen. **The shop delivers on the server's event**, whatever is shown here.
public func thanks(for result: CheckoutResult) -> String {
    switch result {
    case .paid: "Thank you. The honey is on its way."
    case .notPaid: "Nothing was paid. The order is kept until it expires."
    case .stillOpen: "Your payment is on its way. Do not order again: come back here to see how it ends."
    case .personNeeded: "The shop looks at your payment. Do not pay again."
    }
}
