import Kassa

/// Takes a mobile-bank payment of whole som, and asks for the code from the payer's message.
func takeMbank(from phone: String, _ som: String) async throws {
    let gateway = try openShop()
    let payment = MbankPayment(
        orderNumber: newOrderNumber(), phone: phone, amountSom: Int(som) ?? 0, comment: "Two coffees")
    do {
        let created = try await gateway.createMbankPayment(payment)  // the journal has it before it is sent
        _ = try await gateway.confirmMbankPayment(created.payment, otp: ask("code"))
    } catch let error as PaymentError where error.paymentMayExist {
        print(error)  // it may have been charged: query it, and never send it again
    }
    try await follow(payment.paymentRef(), by: gateway)
}
