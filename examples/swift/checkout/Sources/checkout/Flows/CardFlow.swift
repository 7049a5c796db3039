import Foundation
import Kassa

/// A card payment: created, confirmed by the payer on the 3DS page, followed.
enum CardFlow {
    static func run(_ shop: Shop, _ given: Given) async throws -> Report {
        let reference = newOrderNumber()
        let payment = try request(shop, given, reference)
        let advice = try payment.advice()
        let order = payment.orderNumber
        shop.narrator.step(
            "ask", "card payment of \(payment.amount.shown) \(payment.currency), card \(payment.card.maskedNumber), order \(order)")
        var flow = try Flow(
            shop, begin: .init(flow: "card", reference: reference, payment: try payment.paymentRef(), awaitsCallback: true))
        flow.advise(advice)
        do {
            let created = try await shop.gateway.createCardPayment(payment)
            flow.answered(Output.answer(created), created.payment)
            await confirm(flow, given, created)
            if given.has(PaymentOptions.noWait) { return flow.finish(.created) }
        } catch let error as PaymentError {
            guard flow.failed(error) else { return flow.finish(.notMade) }
        }
        return try await flow.follow()
    }

    private static func request(_ shop: Shop, _ given: Given, _ reference: String) throws -> CardPayment {
        let returnURL = given.text(PaymentOptions.returnURL) ?? shop.receiver.returnURL(reference)
        return CardPayment(
            orderNumber: given.text(PaymentOptions.orderNumber) ?? newOrderNumber(),
            description: try given.needed(CardOptions.description), amount: try given.amount(CardOptions.amount) ?? 0,
            currency: try given.needed(CardOptions.currency), card: try card(given), language: try given.needed(CardOptions.language),
            returnURL: returnURL.isEmpty ? nil : returnURL, callbackURL: try shop.requiredCallbackURL(reference),
            ip: try given.needed(CardOptions.ip), email: given.text(CardOptions.email))
    }

    private static func card(_ given: Given) throws -> Card {
        // The text is not repeated: it may be a part of a real card.
        guard let year = try Int(given.needed(CardFields.expiryYear)) else {
            throw Failure.usage("the card's year of expiry must be four digits")
        }
        return Card(
            pan: try given.needed(CardFields.pan), expiryMonth: try given.needed(CardFields.expiryMonth), expiryYear: year,
            cvc: try given.needed(CardFields.cvc), holderName: try given.needed(CardFields.name))
    }

    private static func confirm(_ flow: Flow, _ given: Given, _ created: CardPaymentCreated) async {
        let code = created.code ?? "none"
        switch created.nextStep {
        case .openConfirmation(let url):
            flow.narrator.step("gateway", "code \(code), accepted; the payer has to confirm it (3DS):")
            flow.narrator.step("page", url.absoluteString)
            if given.has(PaymentOptions.noWait) { return }
            flow.shop.tellTestOTPs(flow.narrator)
            let forms = TestPayers.otpForms(ofCard: given.text(CardFields.pan) ?? "", given: given.text(PaymentOptions.otp))
            let story = "opens the page and enters the one-time password of the bank"
            await flow.shop.payer.go(flow.narrator, to: url, story: story, forms)
        case .askStatus(let status):
            let shown = status ?? "none"
            flow.narrator.step(
                "gateway", "code \(code), accepted; nothing to confirm, status \"\(shown)\", which settles nothing: we ask")
        }
    }
}

extension Shop {
    /// Tells a person who tries the sandbox what its documentation says.
    func tellTestOTPs(_ narrator: Narrator) {
        if isSandbox, !payer.isRobot {
            narrator.step("payer", "test cards, phones and their one-time passwords are listed in sandbox/README.md")
        }
    }
}
