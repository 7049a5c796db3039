import Kassa

/// Asks once for the status of a payment.
enum StatusCommand {
    static func run(_ shop: Shop, _ given: Given) async throws -> Ended {
        let payment = try Subject.payment(given)
        let language = given.text(StatusOptions.language)
        if language != nil, !given.has(SubjectOptions.gatewayNumber) {
            throw Failure.usage("--language goes with --gateway-number only")
        }
        shop.narrator.step("ask", "\(payment)")
        let report = try await ask(shop.gateway, payment, language)
        shop.narrator.step("status", report.inWords)
        if let amount = report.amount { shop.narrator.step("amount", "\(amount) \(report.currency ?? "")") }
        return Ended(ExitCode.asExpected, ["payment": .string("\(payment)"), "answer": Output.status(report)])
    }

    private static func ask(_ gateway: Gateway, _ payment: PaymentRef, _ language: String?) async throws -> StatusReport {
        if let id = payment.transactionID { return try await gateway.qrStatus(id) }
        if let number = payment.gatewayNumber { return try await gateway.paymentStatus(number, language: language) }
        if let number = payment.orderNumber, let provider = payment.provider {
            return try await gateway.providerStatus(number, provider: provider)
        }
        throw Failure.usage("this reference names nothing to ask with yet; its callback will")
    }
}

/// The payment that the command line names.
enum Subject {
    static func payment(_ given: Given) throws -> PaymentRef {
        let names = [
            SubjectOptions.payment, SubjectOptions.orderNumber, SubjectOptions.gatewayNumber, SubjectOptions.transactionID,
        ]
        guard names.count(where: given.has) == 1, given.has(SubjectOptions.orderNumber) == given.has(SubjectOptions.provider) else {
            throw Failure.usage(
                "name one payment: --payment REF, --order-number with --provider, --gateway-number, or --transaction-id")
        }
        if let text = given.text(SubjectOptions.payment) { return try reference(text) }
        if let id = given.text(SubjectOptions.transactionID) { return .qr(id) }
        if let number = given.text(SubjectOptions.gatewayNumber) { return PaymentRef(kind: .card, gatewayNumber: number) }
        let order = try given.needed(SubjectOptions.orderNumber)
        switch Provider(name: try given.needed(SubjectOptions.provider)) {
        case .cards: return .card(order)
        case .mbank: return .mbank(order)
        case let provider: return .payForm(order, provider: provider)
        }
    }

    private static func reference(_ text: String) throws -> PaymentRef {
        do {
            return try PaymentRef(text)
        } catch {
            throw Failure.usage("--payment is not a reference: \(error.localizedDescription)")
        }
    }
}
