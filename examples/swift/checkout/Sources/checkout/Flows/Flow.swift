import Foundation
import Kassa

/// One payment under way: stored, told about, followed.
struct Flow {
    let shop: Shop
    var narrator: Narrator
    let inbox: Inbox
    /// What its callbacks are compared with.
    private(set) var expected: ExpectedPayment?
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
        var expected: ExpectedPayment?
        var awaitsCallback = false
    }

    /// Begins a payment: **it is on the disk when this returns**, and nothing has been sent.
    init(_ shop: Shop, begin beginning: Beginning) throws {
        try shop.store.add(
            Entry(
                reference: beginning.reference, payment: beginning.payment.description, gateway: shop.gatewayName,
                amount: beginning.expected.map { "\($0.amount)" }, currency: beginning.expected?.currency ?? "",
                begun: Int(Date().timeIntervalSince1970), state: .open))
        self.init(shop, beginning)
        narrator.step("stored", "\(report.payment), before anything is sent")
    }

    /// Goes on with a payment that an earlier call or run has stored.
    init(_ shop: Shop, resume entry: Entry, flow: String) throws {
        let payment = try entry.paymentRef()
        let expected = try entry.expectedAmount()
            .map { ExpectedPayment(payment: payment, amount: $0, currency: entry.currency) }
        self.init(shop, Beginning(flow: flow, reference: entry.reference, payment: payment, expected: expected))
    }

    /// Follows a payment, also one that the state file does not know.
    init(_ shop: Shop, _ beginning: Beginning) {
        self.shop = shop
        narrator = shop.narrator
        inbox = shop.receiver.expect(beginning.reference)
        expected = beginning.expected
        awaitsCallback = beginning.awaitsCallback && shop.callbacksArrive
        report = Report(
            flow: beginning.flow, reference: beginning.reference, payment: beginning.payment,
            amount: beginning.expected.map { "\($0.amount.shown) \($0.currency)" })
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
    mutating func answered(_ answer: JSON, _ payment: PaymentRef?) {
        report.answer = answer
        if let payment { learned(payment) }
    }

    /// Stores a reference that knows more than the one from before.
    mutating func learned(_ payment: PaymentRef) {
        var payment = payment
        payment.gatewayNumber = payment.gatewayNumber ?? report.payment.gatewayNumber
        guard payment != report.payment else { return }
        expected?.payment = payment
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

    /// Takes in a status that the gateway has reported.
    mutating func saw(_ status: StatusReport) {
        report.status = status
        switch status.status {
        case .charged: report.outcome = .charged
        case .rejected: report.outcome = .rejected
        case .other: report.outcome = .open
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
            case .created, .open, .unknown: nil
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
