import Foundation
import Kassa

/// Takes a card payment in som. **Handling card numbers puts you under PCI DSS**; a pay-form avoids that.
func takeCard(_ som: String) async throws {
    var form = CardInput()
    form.number = ask("card number")
    form.expiry = ask("valid until, as 08/31")
    form.cvc = ask("security code")
    form.holderName = ask("name on the card")

    let gateway = try openShop()
    let payment = CardPayment(
        orderNumber: newOrderNumber(), description: "Two coffees", amount: try Decimal(exactly: som), currency: "KGS",
        card: try form.card(), language: "en", returnURL: try setting("CHECKOUT_RETURN_URL"),
        callbackURL: try setting("CHECKOUT_CALLBACK_URL"), ip: "203.0.113.7")  // the payer's
    do {
        let created = try await gateway.createCardPayment(payment)  // the journal has it before it is sent
        if case .openConfirmation(let page) = created.nextStep { print("open:", page) }
    } catch let error as PaymentError where error.paymentMayExist {
        print(error)  // it may have been charged: query it, and never send it again
    }
    try await follow(payment.paymentRef(), by: gateway)
}
