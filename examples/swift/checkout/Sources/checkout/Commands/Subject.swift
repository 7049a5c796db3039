import Kassa

/// The payment that the command line names.
enum Subject {
    case reference(PaymentRef)
    case order(String, Provider)
    case gatewayNumber(String)
    case transaction(String)

    static let notNamed = Failure.usage(
        "name one payment: --payment REF, --order-number with --provider, --gateway-number, or --transaction-id")

    /// Nil where none is named.
    init?(_ given: Given) throws {
        let names = [
            SubjectOptions.payment, SubjectOptions.orderNumber, SubjectOptions.gatewayNumber, SubjectOptions.transactionID,
        ]
        let named = names.count(where: given.has)
        guard named <= 1, given.has(SubjectOptions.orderNumber) == given.has(SubjectOptions.provider) else {
            throw Self.notNamed
        }
        guard named == 1 else { return nil }
        if let text = given.text(SubjectOptions.payment) {
            self = .reference(try Self.reference(text))
        } else if let id = given.text(SubjectOptions.transactionID) {
            self = .transaction(id)
        } else if let number = given.text(SubjectOptions.gatewayNumber) {
            self = .gatewayNumber(number)
        } else {
            let provider = Provider(name: try given.needed(SubjectOptions.provider))
            self = .order(try given.needed(SubjectOptions.orderNumber), provider)
        }
    }

    /// The payment with what was asked for, which a stored reference tells; by the options of ``AskedForOptions`` otherwise. Nil where
    /// none is named.
    static func payment(_ given: Given) throws -> PaymentRef? {
        let amount = try given.amount(AskedForOptions.amount)
        guard let subject = try Subject(given) else {
            guard amount == nil else { throw notNamed }
            return nil
        }
        if case .reference(let payment) = subject { return payment }
        guard let amount else {
            throw Failure.usage("say by --amount what was asked for, or name the payment by --payment REF")
        }
        let currency = try given.needed(AskedForOptions.currency)
        switch subject {
        case .reference(let payment): return payment
        case .order(let number, .cards): return try .card(number, amount: amount, currency: currency)
        case .order(let number, .mbank):
            return PaymentRef(kind: .mbank, orderNumber: number, provider: .mbank, amount: amount, currency: currency)
        case .order(let number, let provider):
            return try .payForm(amount: amount).withClaimedNumber(number, provider: provider)
        case .gatewayNumber(let number):
            return PaymentRef(kind: .card, gatewayNumber: number, provider: .cards, amount: amount, currency: currency)
        case .transaction(let id): return try .qr(sumTyiyn: somToTyiyn(amount)).withTransactionID(id)
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
