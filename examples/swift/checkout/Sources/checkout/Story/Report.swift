import Foundation
import Kassa

/// How a payment ended, as far as this run saw.
enum Outcome: String {
    case charged, rejected
    /// The gateway tells of something else than was asked for, or of nothing that proves it: a person has to look.
    case personNeeded = "person_needed"
    /// Made, and left to a later run, as `--no-wait` asks.
    case created
    /// Still open when this run stopped following it.
    case open
    /// It may exist, and no status was ever seen.
    case unknown
    /// The gateway never took it on: nothing happened.
    case notMade = "not_made"
}

/// A callback that came in.
struct SeenCallback {
    /// What came of it: the verdict's word, or why there is none.
    enum Word: String {
        case charged, rejected, open, contradicted, unverifiable, duplicate
        case notAsked = "not_asked"
    }

    let orderNumber: String
    let status: String
    let amount: Decimal
    var verdict: Word
    /// The fields that a contradiction is about.
    var fields: [String] = []

    init(_ callback: Callback, _ verdict: Word, fields: [String] = []) {
        orderNumber = callback.orderNumber
        status = "\(callback.status)"
        amount = callback.amount
        self.verdict = verdict
        self.fields = fields
    }

    init(_ callback: Callback, _ verdict: Verdict) {
        switch verdict {
        case .charged: self.init(callback, .charged)
        case .rejected: self.init(callback, .rejected)
        case .open: self.init(callback, .open)
        case .contradicted(let fields, _): self.init(callback, .contradicted, fields: fields)
        case .unverifiable: self.init(callback, .unverifiable)
        }
    }
}

/// What came of one payment.
struct Report {
    let flow: String
    let reference: String
    var payment: PaymentRef
    let amount: String?
    var outcome = Outcome.unknown
    /// The gateway's answer to the call that began it.
    var answer: JSON?
    /// The last status that was seen.
    var status: StatusReport?
    /// What a call gave instead of an answer.
    var error: PaymentError?
    /// Why following it ended without a final status.
    var watchError: PaymentError?
    var callbacks: [SeenCallback] = []
    var elapsed = Duration.zero

    /// The merchant's order number, or what stands for it: a QR transaction's id.
    var order: String? { payment.orderNumber ?? payment.transactionID }

    var exitCode: Int32 {
        switch outcome {
        case .charged, .created: ExitCode.asExpected
        case .rejected, .notMade: ExitCode.notAsExpected
        case .unknown, .personNeeded: ExitCode.notKnown
        // Why following it ended says nothing of the payment: it may be charged by now.
        case .open: error?.exitCode ?? ExitCode.notKnown
        }
    }

    /// True where the gateway itself tells of the end that one of its callbacks told of.
    var hasGoodCallback: Bool { callbacks.contains { $0.verdict == .charged || $0.verdict == .rejected } }

    /// What happened, in a few words.
    var whatHappened: String {
        let amount = amount.map { " \($0)" } ?? ""
        switch (outcome, error) {
        case (.charged, .outcomeUnknown): return "charged\(amount), found by asking"
        case (.charged, _): return "charged\(amount)"
        case (.rejected, _): return status?.reason.map { "rejected: \($0)" } ?? "rejected"
        case (.personNeeded, _): return "not proved: a person has to look"
        case (.created, _): return "created, not followed"
        case (.open, let error?): return "still open after \(error.kind)"
        case (.open, nil): return "still open"
        case (.unknown, _): return "unknown: it may have happened"
        case (.notMade, let error?): return "not made: \(error.kind)"
        case (.notMade, nil): return "not made"
        }
    }

    /// The callbacks in a few words, such as `1 charged`.
    var callbackSummary: String {
        let verdicts = callbacks.map(\.verdict.rawValue)
        let different = verdicts.enumerated().filter { verdicts.firstIndex(of: $1) == $0 }.map(\.element)
        let counts = different.map { verdict in "\(verdicts.count { $0 == verdict }) \(verdict)" }
        return counts.isEmpty ? "none" : counts.joined(separator: ", ")
    }
}

extension Duration {
    /// For people.
    var inWords: String {
        inSeconds < 1 ? "\(Int(inSeconds * 1000)) ms" : String(format: "%.1f s", inSeconds)
    }
}

extension Decimal {
    /// For people: Foundation prints 100.10 as 100.1.
    var shown: String {
        let digits = "\(self)".split(separator: ".")
        return digits.count == 2 && digits[1].count == 1 ? "\(self)0" : "\(self)"
    }
}
