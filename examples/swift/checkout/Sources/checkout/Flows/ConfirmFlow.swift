import Foundation
import Kassa

/// The confirmation of a mobile-bank payment.
enum ConfirmFlow {
    /// Confirms a payment that an earlier run has created.
    static func run(_ shop: Shop, _ given: Given) async throws -> Report {
        let order = try given.needed(PaymentOptions.orderNumber)
        let stored = try stored(shop, order)
        let payment = try stored?.paymentRef() ?? .mbank(order, amountSom: amount(given))
        let otp = try await otp(shop, given, known: nil)
        var flow: Flow
        if let stored {
            flow = try Flow(shop, resume: stored, flow: "mbank")
        } else {
            flow = try Flow(shop, begin: .init(flow: "mbank", reference: newOrderNumber(), payment: payment))
        }
        if let identifier = given.text(ConfirmOptions.identifier) {
            var payment = flow.report.payment
            payment.confirmIdentifier = asJSON(identifier)
            flow.learned(payment)
        }
        return try await send(&flow, otp, isCreated: stored != nil, noWait: given.has(PaymentOptions.noWait))
    }

    private static func stored(_ shop: Shop, _ order: String) throws -> Entry? {
        try shop.store.entries().last { entry in
            guard let payment = try? entry.paymentRef() else { return false }
            let isThis = payment.kind == .mbank && payment.orderNumber == order
            return isThis && entry.gateway == shop.gatewayName && entry.state == .open
        }
    }

    /// A payment that this program has not stored must be told apart by its amount, too.
    private static func amount(_ given: Given) throws -> Int {
        guard let amount = try given.whole(ConfirmOptions.amount) else {
            throw Failure.usage("the state file does not know this payment: say by --amount how many som it is about")
        }
        return amount
    }

    /// A number stays one; anything else is a text.
    private static func asJSON(_ identifier: String) -> String {
        let number = #/-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/#
        return identifier.wholeMatch(of: number) == nil ? JSON.string(identifier).text : identifier
    }

    /// The one-time password: as given, as the robot knows it, or from a person.
    static func otp(_ shop: Shop, _ given: Given, known: String?) async throws -> String {
        if let otp = given.text(PaymentOptions.otp) { return otp }
        if let known, shop.payer.isRobot { return known }
        guard !shop.payer.isRobot || Payer.canBeAsked else {
            throw Failure.usage("no one-time password: give it by KASSA_OTP, --secrets-stdin or --otp")
        }
        if known != nil { shop.tellTestOTPs(shop.narrator) }
        return try await Payer.askOTP(shop.narrator)
    }

    /// Sends the confirmation and follows the payment. `isCreated` says whether this program knows that the payment exists.
    static func send(_ flow: inout Flow, _ otp: String, isCreated: Bool, noWait: Bool) async throws -> Report {
        flow.narrator.step("payer", "reads the one-time password from the phone and hands it over; we confirm")
        do {
            let reply = try await flow.shop.gateway.confirmMbankPayment(flow.report.payment, otp: otp)
            let (code, status) = (reply.code ?? "none", reply.status ?? "none")
            flow.narrator.step(
                "gateway", "code \(code), took the confirmation, status \"\(status)\", which settles nothing: we ask")
            flow.answered(Output.answer(reply), reply.payment)
        } catch let error as PaymentError {
            guard flow.failed(error) else { return try await afterRefusal(&flow, isCreated) }
        }
        return noWait ? flow.finish(.created) : try await flow.follow()
    }

    /// The confirmation did nothing: the payment stands where it stood, and one question tells where. It may have been created
    /// elsewhere, so only where the gateway does not know it either there is none.
    private static func afterRefusal(_ flow: inout Flow, _ isCreated: Bool) async throws -> Report {
        do {
            let verdict = try await flow.shop.gateway.check(flow.report.payment)
            flow.narrator.step("status", verdict.inWords)
            flow.heard(verdict)
            return flow.finish()
        } catch is PaymentError {
            return flow.finish(isCreated ? .open : .notMade)
        }
    }
}
