import Foundation
import Kassa
import KassaSandbox

/// A hosted page on which the payer picks how to pay.
///
/// The answer names no order: which payment was made there, its callback and its return claim, recognised by our own reference in its URL.
enum PayFormFlow {
    private enum Choice: String {
        case card, mbank, megapay
    }

    static func run(_ shop: Shop, _ given: Given) async throws -> Report {
        guard let choice = Choice(rawValue: try given.needed(PayFormOptions.payWith)) else {
            throw Failure.usage("--pay-with must be card, mbank or megapay")
        }
        let reference = newOrderNumber()
        let form = PayForm(
            amount: try given.amount(PayFormOptions.amount) ?? 0, serviceName: try given.needed(PayFormOptions.serviceName),
            callbackURL: try shop.requiredCallbackURL(reference),
            returnURL: given.text(PaymentOptions.returnURL) ?? shop.receiver.returnURL(reference))
        let advice = try form.advice()
        shop.narrator.step("ask", "a pay-form for \(form.amount.shown) KGS, our reference \(reference)")
        var flow = try Flow(
            shop, begin: .init(flow: "pay-form", reference: reference, payment: try form.paymentRef(), awaitsCallback: true))
        flow.advise(advice)
        let created: PayFormCreated
        do {
            created = try await shop.gateway.createPayForm(form)
        } catch let error as PaymentError {
            _ = flow.failed(error)
            return flow.finish(.notMade)
        }
        flow.answered(Output.answer(created), created.payment)
        flow.narrator.step("gateway", "the page is ready:")
        flow.narrator.step("page", created.payFormURL.absoluteString)
        if given.has(PaymentOptions.noWait) { return flow.finish(.created) }
        shop.tellTestOTPs(flow.narrator)
        await shop.payer.go(flow.narrator, to: created.payFormURL, story: story(choice), try forms(choice, given))
        return try await flow.follow()
    }

    private static func story(_ choice: Choice) -> String {
        switch choice {
        case .card: "picks the card on the page, types it in and enters the one-time password"
        case .mbank: "picks MBank on the page, types the phone number and the one-time password"
        case .megapay: "picks MegaPay on the page, types the phone number and the one-time password"
        }
    }

    /// What the robot fills in: the choice, then the one-time password.
    private static func forms(_ choice: Choice, _ given: Given) throws -> [Form]? {
        switch choice {
        case .card:
            let card: Form = [
                "provider": "Cards", "pan": try given.needed(CardFields.pan), "expiryMonth": try given.needed(CardFields.expiryMonth),
                "expiryYear": try given.needed(CardFields.expiryYear), "cvc": try given.needed(CardFields.cvc),
                "name": try given.needed(CardFields.name),
            ]
            let otp = TestPayers.otpForms(ofCard: try given.needed(CardFields.pan), given: given.text(PaymentOptions.otp))
            return otp.map { [card] + $0 }
        case .mbank: return wallet(.mbankApproved, given)
        case .megapay: return wallet(.megaPayApproved, given)
        }
    }

    /// Where no --phone is given, the sandbox's phone whose payments are approved.
    private static func wallet(_ approved: Sandbox.TestPhone, _ given: Given) -> [Form]? {
        let phone = given.text(PayFormOptions.phone) ?? approved.phone
        let otp = given.text(PaymentOptions.otp) ?? TestPayers.otp(ofPhone: phone, approved.provider)
        return otp.map { [["provider": approved.provider.rawValue, "phone": phone], ["otp": $0]] }
    }
}
