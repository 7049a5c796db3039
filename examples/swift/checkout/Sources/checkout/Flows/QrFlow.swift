import Foundation
import Kassa

/// A dynamic QR code: drawn here, or saved as the gateway's own picture; then its payment is followed.
enum QrFlow {
    /// What the robot pays where the payer names the amount.
    private static let openAmount = "42.50"

    static func run(_ shop: Shop, _ given: Given) async throws -> Report {
        let reference = newOrderNumber()
        let som = given.text(QrOptions.amount) == "open" ? nil : try given.amount(QrOptions.amount)
        let requisite = given.text(QrOptions.requisite) ?? ""
        let payment = QrPayment(
            sumTyiyn: try som.map(somToTyiyn), requisite: requisite.isEmpty ? nil : requisite,
            callbackURL: given.has(PaymentOptions.noCallback) ? nil : shop.callbackURL(reference))
        let shown = payment.sumTyiyn.map { "\(tyiynToSom($0).shown) KGS (\($0) tyiyn)" } ?? "an amount that the payer names"
        shop.narrator.step("ask", "a QR code for \(shown), our reference \(reference)")
        var flow = try Flow(
            shop,
            begin: .init(
                flow: "qr", reference: reference, payment: payment.paymentRef(), awaitsCallback: payment.callbackURL != nil))
        let page: URL?
        do {
            if let file = given.text(QrOptions.image) {
                page = nil
                try await picture(&flow, payment, file)
            } else {
                page = try await data(&flow, payment)
            }
        } catch let error as PaymentError {
            _ = flow.failed(error)
            return flow.finish(.notMade)
        }
        if given.has(PaymentOptions.noWait) { return flow.finish(.created) }
        if let page {
            await pay(flow, page, decline: given.has(QrOptions.decline), amount: som == nil ? openAmount : nil)
        } else {
            flow.narrator.step("payer", "scan the code with a phone")
        }
        return try await flow.follow()
    }

    /// Asks for the data and draws the code. The text in the sandbox's code is the link that a phone opens.
    private static func data(_ flow: inout Flow, _ payment: QrPayment) async throws -> URL? {
        let data = try await flow.shop.gateway.createQrData(payment)
        flow.answered(Output.answer(data), data.payment)
        guard let payload = data.payload else {
            let text = "the reply holds no QR payload that the dialect finds; it is kept as `raw` with --json"
            flow.narrator.warn("gateway", text)
            return nil
        }
        flow.narrator.step("gateway", "transaction \(data.transactionID ?? "not named"); the code to scan:")
        flow.narrator.draw(try QrCode(payload).text())
        return URL(string: payload)
    }

    /// Asks for the picture and saves it. It names no transaction.
    private static func picture(_ flow: inout Flow, _ payment: QrPayment, _ file: String) async throws {
        let image = try await flow.shop.gateway.createQrImage(payment)
        flow.answered(Output.answer(image, in: file), image.payment)
        do {
            try image.png.write(to: URL(filePath: file))
            flow.narrator.step("gateway", "its picture, 400x400, is in \(file)")
        } catch {
            flow.narrator.warn("gateway", "its picture cannot be saved in \(file): \(error.localizedDescription)")
        }
    }

    private static func pay(_ flow: Flow, _ page: URL, decline: Bool, amount: String?) async {
        let story = decline ? "scans the code and declines" : "scans the code with a phone and approves"
        let action = decline ? "decline" : "approve"
        let form: Form = if let amount { ["action": action, "amount": amount] } else { ["action": action] }
        await flow.shop.payer.go(flow.narrator, to: page, story: story, [form])
    }
}
