import Foundation
internal import KassaGenerated

/// A payment in a ``Journal``.
///
/// It holds no secrets, but **whoever has the page's URL can open it**, so do not log entries. It is `Codable`, an object with these
/// names; the encoder's date format applies.
public struct JournalEntry: Hashable, Sendable, Codable, Identifiable, CustomStringConvertible {
    /// The entry's id, for finishing it.
    public var id: String
    /// The payment reference, for status queries.
    public var payment: PaymentRef
    /// When it was recorded: before anything was sent.
    public var begun: Date
    /// What is known of the payment.
    public var state: JournalState
    /// Whether `Gateway.finish(_:)` was called for it: nothing is left to do.
    public var isFinished: Bool
    /// The gateway's last message, after the reported number if that is not the payment's; for a mismatch the fields that differ from the
    /// request, such as `amount, currency`. At most 256 characters (Unicode scalars).
    public var reason: String?
    /// The gateway's code in the response to the create request, if any.
    public var code: String?
    /// The page that the payer opens: the 3DS confirmation. A text, and not a `URL`, as in a ``PaymentEntry``.
    public var pageURL: String?
    /// The text of the QR code, to be drawn with ``QrCode``.
    public var qrText: String?
    /// Your own note, such as the order in the shop: see ``Gateway/withNote(_:)``.
    public var note: String?

    /// For tests of your own code.
    public init(
        id: String, payment: PaymentRef, begun: Date, state: JournalState, isFinished: Bool = false, reason: String? = nil,
        code: String? = nil, pageURL: String? = nil, qrText: String? = nil, note: String? = nil
    ) {
        self.id = id
        self.payment = payment
        self.begun = begun
        self.state = state
        self.isFinished = isFinished
        self.reason = reason
        self.code = code
        self.pageURL = pageURL
        self.qrText = qrText
        self.note = note
    }

    /// All fields that are there.
    public var description: String { described(self) }
}

/// The state of a payment in a journal.
public enum JournalState: String, Hashable, Sendable, Codable, CaseIterable, CustomStringConvertible {
    /// It was sent, or was about to be, and there is no trustworthy response. **It may have happened**: query it.
    case unknown
    /// The gateway accepted it. Query its status until it is final.
    case pending
    /// The gateway reported that the money was taken. Deliver the goods, then finish the entry.
    case charged
    /// The gateway's report does not match the request. Let a person look, then finish the entry.
    case mismatch
    /// It ended without the money being taken.
    case rejected

    /// Its name, the same in every language.
    public var description: String { rawValue }
}

/// An unfinished entry of a journal.
public enum Unfinished: Hashable, Sendable, Codable {
    /// A payment that is pending, unknown or mismatched, or charged and not yet finished.
    case payment(entry: JournalEntry)
    /// A file that cannot be read: truncated, damaged, of a newer version, or not a journal file. It is kept, and blocks its order
    /// number, until a person has looked and finishes it by this name. `why` says the error.
    case unreadable(id: String, why: String)
}

extension Unfinished: CustomStringConvertible {
    /// Which one, and what it holds.
    public var description: String {
        switch self {
        case .payment(let entry): "payment(\(entry))"
        case .unreadable(let id, let why): "unreadable(\(id), \(why))"
        }
    }
}

extension JournalEntry {
    init(_ core: KassaGenerated.JournalEntry) {
        self.init(
            id: core.id, payment: PaymentRef(core.payment), begun: core.begun, state: JournalState(core.state),
            isFinished: core.isFinished, reason: core.reason, code: core.code, pageURL: core.pageUrl, qrText: core.qrText,
            note: core.note)
    }
}

extension JournalState {
    init(_ core: KassaGenerated.JournalState) {
        self =
            switch core {
            case .unknown: .unknown
            case .pending: .pending
            case .charged: .charged
            case .mismatch: .mismatch
            case .rejected: .rejected
            }
    }
}

extension Unfinished {
    init(_ core: KassaGenerated.Unfinished) {
        self =
            switch core {
            case .payment(let entry): .payment(entry: JournalEntry(entry))
            case .unreadable(let id, let why): .unreadable(id: id, why: why)
            }
    }
}
