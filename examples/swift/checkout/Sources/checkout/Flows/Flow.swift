import Foundation
import Kassa

/// One payment under way: stored, told about, followed.
struct Flow {
    let shop: Shop
    var narrator: Narrator
    let inbox: Inbox
    let awaitsCallback: Bool
    /// Callbacks that the gateway could not be asked about yet.
    var unchecked: [Callback] = []
    var report: Report
    private let started = ContinuousClock.now

    /// What is known of a payment before it is sent.
    struct Beginning {
        let flow: String
        let reference: String
        let payment: PaymentRef
        var awaitsCallback = false
    }

    /// Begins a payment: **it is on the disk when this returns**, and nothing has been sent.
    init(_ shop: Shop, begin beginning: Beginning) throws {
        try shop.store.add(
            Entry(
                reference: beginning.reference, payment: beginning.payment.description, gateway: shop.gatewayName,
                begun: Int(Date().timeIntervalSince1970), state: .open))
        self.init(shop, beginning)
        narrator.step("stored", "\(report.payment), before anything is sent")
    }

    /// Goes on with a payment that an earlier call or run has stored.
    init(_ shop: Shop, resume entry: Entry, flow: String) throws {
        self.init(shop, Beginning(flow: flow, reference: entry.reference, payment: try entry.paymentRef()))
    }

    /// Follows a payment, also one that the state file does not know.
    init(_ shop: Shop, _ beginning: Beginning) {
        self.shop = shop
        narrator = shop.narrator
        inbox = shop.receiver.expect(beginning.reference)
        awaitsCallback = beginning.awaitsCallback && shop.callbacksArrive
        report = Report(
            flow: beginning.flow, reference: beginning.reference, payment: beginning.payment,
            amount: beginning.payment.amount.map { "\($0.shown) \(beginning.payment.currency ?? "")" })
    }

    /// Names the payment in every line, where several are followed at once.
    mutating func nameInStory() {
        narrator = narrator.about(report.order ?? report.reference)
    }

    /// Tells what is worth a second look.
    func advise(_ advice: [Advice]) {
        for advice in advice { narrator.warn("advice", advice.text) }
    }

    /// Notes the gateway's answer, which may know more about the payment.
    mutating func answered(_ answer: JSON, _ payment: PaymentRef) {
        report.answer = answer
        learned(payment)
    }

    /// Stores a reference that knows more than the one from before.
    mutating func learned(_ payment: PaymentRef) {
        var payment = payment
        payment.gatewayNumber = payment.gatewayNumber ?? report.payment.gatewayNumber
        guard payment != report.payment else { return }
        report.payment = payment
        update { $0.payment = payment.description }
    }

    /// Changes what is stored. The payment itself is stored already: a failure is told, and stops nothing.
    func update(_ change: (inout Entry) -> Void) {
        do {
            try shop.store.update(report.reference, change)
        } catch {
            narrator.warn("state", error.localizedDescription)
        }
    }

    /// The call that begins or confirms the payment gave no answer. True where the payment is to be followed all the same.
    mutating func failed(_ error: PaymentError) -> Bool {
        report.error = error
        guard case .outcomeUnknown(let payment, _, _, _, let detail, _) = error else {
            narrator.warn("error", "\(error.kind): \(error)")
            return false
        }
        narrator.warn("unknown", "the payment may have happened: \(detail)")
        narrator.warn("unknown", "it is not sent again; its stored reference is watched instead")
        learned(payment)
        return true
    }

    /// Takes in what a question brought.
    mutating func heard(_ verdict: Verdict) {
        report.status = verdict.report ?? report.status
        switch verdict {
        case .charged: report.outcome = .charged
        case .rejected: report.outcome = .rejected
        case .open: report.outcome = .open
        case .contradicted, .unverifiable: report.outcome = .personNeeded
        }
    }

    /// Marks the payment where it is over, and says how it ended; by the outcome that was seen, unless another is given.
    mutating func finish(_ outcome: Outcome? = nil) -> Report {
        if let outcome { report.outcome = outcome }
        let over: Entry.State? =
            switch report.outcome {
            case .charged: .charged
            case .rejected: .rejected
            case .notMade: .notMade
            case .created, .open, .unknown, .personNeeded: nil
            }
        if let over { update { $0.state = over } }
        report.elapsed = ContinuousClock.now - started
        narrator.end(report.exitCode, "\(report.whatHappened), in \(report.elapsed.inWords)")
        if over == nil { narrator.step("later", "checkout watch --resume goes on with it") }
        return report
    }
}

extension StatusReport {
    /// A status in a few words.
    var inWords: String {
        let details = [code.map { "code \($0)" }, reason].compactMap { $0 }
        return details.isEmpty ? "\(status)" : "\(status) (\(details.joined(separator: ", ")))"
    }
}

extension Verdict {
    /// The word that programs see.
    var word: String {
        switch self {
        case .charged: "charged"
        case .rejected: "rejected"
        case .open: "open"
        case .contradicted: "contradicted"
        case .unverifiable: "unverifiable"
        }
    }

    /// A verdict in a few words.
    var inWords: String {
        switch self {
        case .charged(_, let report, _), .rejected(let report), .open(_, let report): report.inWords
        case .contradicted(let fields, _): "NOT what was asked for, it differs in \(fields.joined(separator: ", "))"
        case .unverifiable(let why, _): "NOT proved: \(why)"
        }
    }
}
