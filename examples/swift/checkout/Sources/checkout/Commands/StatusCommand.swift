import Kassa

/// Asks once for the status of a payment.
enum StatusCommand {
    /// A stored reference tells what was asked for, so the report is judged by it.
    static func run(_ shop: Shop, _ given: Given) async throws -> Ended {
        let language = given.text(StatusOptions.language)
        if language != nil, !given.has(SubjectOptions.gatewayNumber) {
            throw Failure.usage("--language goes with --gateway-number only")
        }
        guard let subject = try Subject(given) else { throw Subject.notNamed }
        if case .reference(let payment) = subject { return try await judged(shop, payment) }
        let report = try await ask(shop.gateway, subject, language)
        shop.narrator.step("status", report.inWords)
        if let amount = report.amount { shop.narrator.step("amount", "\(amount) \(report.currency ?? "")") }
        return Ended(ExitCode.asExpected, ["answer": Output.status(report)])
    }

    private static func judged(_ shop: Shop, _ payment: PaymentRef) async throws -> Ended {
        guard payment.canBeAskedAbout else {
            throw Failure.usage("this reference names nothing to ask with yet; its callback will")
        }
        shop.narrator.step("ask", "\(payment)")
        let verdict = try await shop.gateway.check(payment)
        shop.narrator.step("verdict", verdict.inWords)
        return Ended(
            ExitCode.asExpected,
            [
                "payment": .string("\(payment)"), "verdict": .string(verdict.word),
                "answer": verdict.report.map(Output.status) ?? .null,
            ])
    }

    private static func ask(_ gateway: Gateway, _ subject: Subject, _ language: String?) async throws -> StatusReport {
        switch subject {
        case .reference: throw Subject.notNamed
        case .order(let number, let provider): try await gateway.providerStatus(number, provider: provider)
        case .gatewayNumber(let number): try await gateway.paymentStatus(number, language: language)
        case .transaction(let id): try await gateway.qrStatus(id)
        }
    }
}
