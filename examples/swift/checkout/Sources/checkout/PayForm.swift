import Foundation
import Kassa

/// Makes a page on which the payer chooses how to pay some som.
///
/// Its answer names no payment, so the addresses of the callback and of the return say which one they are about, signed. What is told there
/// is a hint, which anybody can give: the gateway is asked. Its dialect must have `qr_numbers`.
func makePayForm(_ som: String) async throws {
    let payment = try PaymentRef.payForm(amount: Decimal(exactly: som)).withEntryID(newOrderNumber())
    let form = PayForm(
        amount: try Decimal(exactly: som), serviceName: "Two coffees",
        callbackURL: try key().callbackURL(setting("CHECKOUT_CALLBACK_URL"), for: payment),
        returnURL: try key().returnURL(setting("CHECKOUT_RETURN_URL"), for: payment), entryID: payment.entryID)
    print("open:", try await openShop().createPayForm(form).payFormURL)
}

/// Verifies a callback: the address that was called, and the body on standard input.
func takeCallback(at called: String) async throws {
    let gateway = try openShop()
    let body = try FileHandle.standardInput.readToEnd() ?? Data()
    let verdict = try await gateway.verifyCallback(Callback(body), payment: key().readCallbackURL(called))
    try await act(on: verdict, by: gateway)
}

/// Verifies a payment when its payer is back, at this address.
func payerReturned(to address: String) async throws {
    let gateway = try openShop()
    let verdict = try await gateway.verifyReturn(ReturnRedirect(address), payment: key().readReturnURL(address))
    try await act(on: verdict, by: gateway)
}

private func key() throws -> CallbackKey { try CallbackKey(secret: setting("CHECKOUT_SECRET")) }
