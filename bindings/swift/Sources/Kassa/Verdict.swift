internal import KassaGenerated

/// The gateway's report on a payment, compared with the request. **Only ``charged(payment:report:compared:)`` is a reason to ship.**
///
/// Every status check returns one: a single query (``Gateway/check(_:)``), polling (``Gateway/watch(_:policy:)``), and the verification
/// of a callback or a return (``Gateway/verifyCallback(_:payment:)``, ``Gateway/verifyReturn(_:payment:)``). It is `Codable`, and is read
/// back as the same value.
///
/// ```swift
/// switch try await gateway.verifyCallback(callback, payment: stored) {
/// case .charged(let payment, _, _): try ship(payment)
/// case .rejected: print("tell the payer")
/// case .pending(let payment, _): try watch(payment)
/// case .mismatch, .unverifiable: print("let a person look")
/// }
/// ```
public enum Verdict: Hashable, Sendable, Codable {
    /// The money was taken, nothing contradicts the request, and data of the merchant's ties the report to this payment: its number or,
    /// if the number was only claimed, the amount. `payment` has the number by which it was found; `compared` are the fields of the
    /// report that match the request: `orderNumber`, `amount`, `currency`. Also `code.amount` if the report of a QR payment has no
    /// amount: its transaction was in the code that the payer was shown, and that code has the requested amount, which the payer cannot
    /// change.
    ///
    /// **One payment pays for one order**: if the number was only claimed (a pay-form's always is), store it, and accept it for no other
    /// order (replay).
    case charged(payment: PaymentRef, report: StatusReport, compared: [String])
    /// The payment ended without the money being taken. `payment` has the number by which it was found.
    case rejected(payment: PaymentRef, report: StatusReport)
    /// The gateway says that the payment is still pending. Watch `payment`, which has the number by which it was found.
    case pending(payment: PaymentRef, report: StatusReport)
    /// The report, the callback or the return is about another order, amount or currency than the request. Do not act on it; let a person
    /// look. `payment` is the queried payment; `fields` are the fields that differ, by their names in the interface; `report` is the
    /// gateway's own report, if it was queried.
    case mismatch(payment: PaymentRef, fields: [String], report: StatusReport?)
    /// Nothing can be proved: there is no number to query by, or the report is not tied to this payment. `payment` is the queried
    /// payment; `why` says what is missing; `report` is the gateway's own report, if it was queried.
    case unverifiable(payment: PaymentRef, why: String, report: StatusReport?)

    /// True if the money was taken and nothing contradicts the request.
    public var isCharged: Bool {
        if case .charged = self { true } else { false }
    }

    /// The payment that it is about.
    public var payment: PaymentRef {
        switch self {
        case .charged(let payment, _, _), .rejected(let payment, _), .pending(let payment, _): payment
        case .mismatch(let payment, _, _), .unverifiable(let payment, _, _): payment
        }
    }

    /// The gateway's own report, if it was queried.
    public var report: StatusReport? {
        switch self {
        case .charged(_, let report, _), .rejected(_, let report), .pending(_, let report): report
        case .mismatch(_, _, let report), .unverifiable(_, _, let report): report
        }
    }
}

extension Verdict: CustomStringConvertible {
    /// Which one, and what it holds.
    public var description: String {
        let fields: [String?] =
            switch self {
            case .charged(let payment, let report, let compared): ["\(payment)", "\(report)", "compared: \(compared)"]
            case .rejected(let payment, let report): ["\(payment)", "\(report)"]
            case .pending(let payment, let report): ["\(payment)", "\(report)"]
            case .mismatch(let payment, let fields, let report): ["\(payment)", "\(fields)", report?.description]
            case .unverifiable(let payment, let why, let report): ["\(payment)", why, report?.description]
            }
        return "\(name)(\(fields.compactMap { $0 }.joined(separator: ", ")))"
    }

    private var name: String {
        switch self {
        case .charged: "charged"
        case .rejected: "rejected"
        case .pending: "pending"
        case .mismatch: "mismatch"
        case .unverifiable: "unverifiable"
        }
    }
}

extension Verdict {
    init(_ core: KassaGenerated.Verdict) {
        self =
            switch core {
            case .charged(let payment, let report, let compared):
                .charged(payment: PaymentRef(payment), report: StatusReport(report), compared: compared)
            case .rejected(let payment, let report): .rejected(payment: PaymentRef(payment), report: StatusReport(report))
            case .pending(let payment, let report): .pending(payment: PaymentRef(payment), report: StatusReport(report))
            case .mismatch(let payment, let fields, let report):
                .mismatch(payment: PaymentRef(payment), fields: fields, report: report.map(StatusReport.init))
            case .unverifiable(let payment, let why, let report):
                .unverifiable(payment: PaymentRef(payment), why: why, report: report.map(StatusReport.init))
            }
    }
}
