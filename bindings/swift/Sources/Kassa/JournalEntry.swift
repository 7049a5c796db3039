import Foundation
internal import KassaGenerated

/// A payment in a ``Journal``.
///
/// It holds no secret; but **whoever has the page's address can open it**, so keep what is printed of an entry out of logs. It is
/// `Codable`, an object with these names; when it was begun is written as the encoder writes dates.
public struct JournalEntry: Hashable, Sendable, Codable, Identifiable, CustomStringConvertible {
    /// The entry's own name, by which it is finished.
    public var id: String
    /// What to ask about the payment with.
    public var payment: PaymentRef
    /// When it was written down: before anything was sent.
    public var begun: Date
    /// What is known of it.
    public var state: JournalState
    /// Whether `Gateway.finish(_:)` was called for it: nothing is left to be done.
    public var isFinished: Bool
    /// What the gateway said when it ended, in its own words, after the number that it reported where that is none of the payment's; of a
    /// mismatched one the fields that differ from what was asked for, such as `amount, currency`. At most 256 characters (Unicode
    /// scalars).
    public var reason: String?
    /// The gateway's code in the response to its creation, where there was one.
    public var code: String?
    /// The page that the payer opens: the 3DS confirmation. A text, and not a `URL`, as in a ``PaymentEntry``.
    public var pageURL: String?
    /// The text of the QR code, to be drawn with ``QrCode``.
    public var qrText: String?
    /// The user's own note, such as the order in the shop: see ``Gateway/withNote(_:)``.
    public var note: String?

    /// One made by hand, for tests of your own.
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

/// What a journal knows of a payment.
public enum JournalState: String, Hashable, Sendable, Codable, CaseIterable, CustomStringConvertible {
    /// It was sent, or was just about to be, and no answer that can be trusted is known. **It may have happened**: ask.
    case unknown
    /// The gateway accepted it. Ask for its end.
    case pending
    /// The gateway said that the money was taken. Deliver the goods, then finish the entry.
    case charged
    /// The gateway's report was about something else than was asked for. Let a person look, then finish the entry.
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
    /// A file that cannot be read: torn, damaged, of a newer version, or foreign. It is kept, and blocks the order number whose entry it
    /// is, until a person has looked and finishes it by this name. `why` says what is wrong with it.
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
