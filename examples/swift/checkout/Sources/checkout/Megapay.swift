import Foundation
import Kassa

/// Takes a payment from a MegaPay wallet: tells the total, and asks for the PIN from the payer's message. `account` is the merchant's.
func takeMegapay(from phone: String, _ som: String, to account: String) async throws {
    let gateway = try openShop()
    let payment = MegapayPayment(
        orderNumber: newOrderNumber(), amount: try Decimal(exactly: som), phone: phone, account: account)
    do {
        let checked = try await gateway.checkMegapay(payment)  // the journal has it before it is sent
        print(checked.total.map { "total: \($0) som" } ?? "the wallet may take a commission")
        _ = try await gateway.payByMegapay(payment, pin: ask("PIN"))
    } catch let error as PaymentError where error.paymentMayExist {
        print(error)  // it may have been charged: never send it again, ask
    }
    try await follow(payment.paymentRef(), by: gateway)
}
