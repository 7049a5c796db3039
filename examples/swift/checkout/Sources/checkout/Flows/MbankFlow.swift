import Foundation
import Kassa

/// A mobile-bank payment: created, confirmed with the payer's one-time password, followed.
enum MbankFlow {
    static func run(_ shop: Shop, _ given: Given) async throws -> Report {
        let reference = newOrderNumber()
        let payment = MbankPayment(
            orderNumber: given.text(PaymentOptions.orderNumber) ?? newOrderNumber(), phone: try given.needed(MbankOptions.phone),
            amountSom: try given.whole(MbankOptions.amount) ?? 0, comment: try given.needed(MbankOptions.comment),
            callbackURL: given.has(PaymentOptions.noCallback) ? nil : shop.callbackURL(reference))
        let order = payment.orderNumber
        shop.narrator.step("ask", "MBank payment of \(payment.amountSom) KGS from \(payment.phone), order \(order)")
        var flow = try Flow(
            shop,
            begin: .init(
                flow: "mbank", reference: reference, payment: payment.paymentRef(), awaitsCallback: payment.callbackURL != nil))
        flow.advise(payment.advice())
        let created: MbankPaymentCreated
        do {
            created = try await shop.gateway.createMbankPayment(payment)
        } catch let error as PaymentError {
            return flow.failed(error) ? try await flow.follow() : flow.finish(.notMade)
        }
        flow.answered(Output.answer(created), created.payment)
        flow.narrator.step("gateway", "code \(created.code ?? "none"), accepted, not paid; a one-time password goes to the phone")
        if given.has(PaymentOptions.noWait) { return flow.finish(.created) }
        let otp: String
        do {
            otp = try await ConfirmFlow.otp(shop, given, known: TestPayers.otp(ofPhone: payment.phone, .mbank))
        } catch {
            flow.narrator.warn("payer", error.localizedDescription)
            flow.narrator.step("later", "checkout confirm --order-number \(order) goes on with it")
            return flow.finish(.open)
        }
        return try await ConfirmFlow.send(&flow, otp, isCreated: true, noWait: false)
    }
}
