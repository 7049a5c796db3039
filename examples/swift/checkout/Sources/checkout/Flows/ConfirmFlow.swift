import Foundation
import Kassa

/// The confirmation of a mobile-bank payment.
enum ConfirmFlow {
    /// What a confirmation carries. It is never printed.
    struct Confirmation {
        let order: String
        let otp: String
        let identifier: String?
    }

    /// Confirms a payment that an earlier run has created.
    static func run(_ shop: Shop, _ given: Given) async throws -> Report {
        let order = try given.needed(PaymentOptions.orderNumber)
        let stored = try shop.store.entries().last { entry in
            guard let payment = try? entry.paymentRef() else { return false }
            let isThis = payment.kind == .mbank && payment.orderNumber == order
            return isThis && entry.gateway == shop.gatewayName && entry.state == .open
        }
        let confirmation = Confirmation(
            order: order, otp: try await otp(shop, given, known: nil),
            identifier: given.text(ConfirmOptions.identifier) ?? stored?.identifier)
        var flow: Flow
        if let stored {
            flow = try Flow(shop, resume: stored, flow: "mbank")
        } else {
            flow = try Flow(shop, begin: .init(flow: "mbank", reference: newOrderNumber(), payment: .mbank(order)))
        }
        return try await send(&flow, confirmation, isCreated: stored != nil, noWait: given.has(PaymentOptions.noWait))
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
    static func send(_ flow: inout Flow, _ confirmation: Confirmation, isCreated: Bool, noWait: Bool) async throws -> Report {
        flow.narrator.step("payer", "reads the one-time password from the phone and hands it over; we confirm")
        do {
            let reply = try await flow.shop.gateway.confirmMbankPayment(
                confirmation.order, otp: confirmation.otp, identifier: confirmation.identifier)
            let (code, status) = (reply.code ?? "none", reply.status ?? "none")
            flow.narrator.step(
                "gateway", "code \(code), took the confirmation, status \"\(status)\", which settles nothing: we ask")
            flow.answered(Output.answer(reply), reply.payment)
        } catch let error as PaymentError {
            guard flow.failed(error) else { return try await afterRefusal(&flow, confirmation.order, isCreated) }
        }
        return noWait ? flow.finish(.created) : try await flow.follow()
    }

    /// The confirmation did nothing: the payment stands where it stood, and one question tells where. It may have been created
    /// elsewhere, so only where the gateway does not know it either there is none.
    private static func afterRefusal(_ flow: inout Flow, _ order: String, _ isCreated: Bool) async throws -> Report {
        do {
            let report = try await flow.shop.gateway.providerStatus(order, provider: .mbank)
            flow.narrator.step("status", report.inWords)
            flow.saw(report)
            return flow.finish()
        } catch is PaymentError {
            return flow.finish(isCreated ? .open : .notMade)
        }
    }
}
