import Foundation
import Kassa

/// Takes a payment from a MegaPay wallet: shows the total, then asks for the PIN. `account` is the merchant's.
func takeMegapay(from phone: String, _ som: String, to account: String) async throws {
    let gateway = try openShop()
    let payment = MegapayPayment(
        orderNumber: newOrderNumber(), amount: try Decimal(exactly: som), phone: phone, account: account)
    do {
        let checked = try await gateway.checkMegapay(payment)  // the journal has it before it is sent
        print(checked.total.map { "total: \($0) som" } ?? "MegaPay may charge a commission")
        for attempt in 1...3 {
            do {
                _ = try await gateway.payByMegapay(payment, pin: ask("PIN"))
                break
            } catch PaymentError.refused(_, _, let reason, _) where attempt < 3 {
                print(reason ?? "refused")  // a mistyped PIN can be typed again
            }
        }
    } catch let error as PaymentError where error.paymentMayExist {
        print(error)  // it may have been charged: query it, and never send it again
    }
    try await follow(payment.paymentRef(), by: gateway)
}
