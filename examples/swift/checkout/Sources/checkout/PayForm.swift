import Foundation
import Kassa

/// Creates a pay-form, on which the payer chooses a method.
///
/// The answer has no identifier, so the callback and return URLs have a signed payment reference. Their content is only a hint, so the
/// gateway is queried. Its dialect must have `qr_numbers`.
func makePayForm(_ som: String) async throws {
    let payment = try PaymentRef.payForm(amount: Decimal(exactly: som)).withEntryID(newOrderNumber())
    let form = PayForm(
        amount: try Decimal(exactly: som), serviceName: "Two coffees",
        callbackURL: try key().callbackURL(setting("CHECKOUT_CALLBACK_URL"), for: payment),
        returnURL: try key().returnURL(setting("CHECKOUT_RETURN_URL"), for: payment), entryID: payment.entryID)
    print("open:", try await openShop().createPayForm(form).payFormURL)
}

/// Verifies a callback: the URL that was called, and the body from standard input.
func takeCallback(at called: String) async throws {
    let gateway = try openShop()
    let body = try FileHandle.standardInput.readToEnd() ?? Data()
    let verdict = try await gateway.verifyCallback(Callback(body), payment: key().readCallbackURL(called))
    try await act(on: verdict, by: gateway)
}

/// Verifies the payer's return by the URL that was called.
func payerReturned(to address: String) async throws {
    let gateway = try openShop()
    let verdict = try await gateway.verifyReturn(ReturnRedirect(address), payment: key().readReturnURL(address))
    try await act(on: verdict, by: gateway)
}

private func key() throws -> CallbackKey { try CallbackKey(secret: setting("CHECKOUT_SECRET")) }
