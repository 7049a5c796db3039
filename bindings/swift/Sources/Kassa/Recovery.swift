internal import KassaGenerated

/// How a ``Gateway`` recovers its journal.
///
/// It is `Codable`: both times are their seconds as texts, `{"interval": "10", "deadline": "1200", "atOnce": 8, "followNew": false}`.
///
/// Source: every 10 seconds until Reject or Charge (`docs/interface.md#polling`).
public struct RecoveryPolicy: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The time from the start of one query of a payment to the start of the next, while the payment is younger than 20 minutes. Older
    /// payments are queried less often: until 2 hours of age a sixth as often, until a day a sixtieth, until three days every 360th time,
    /// then every 8640th: daily.
    public var interval: Duration
    /// The time limit. Unless it follows new payments, the time in which your code handles a result does not count.
    public var deadline: Duration
    /// How many payments are queried concurrently.
    public var atOnce: Int
    /// Whether it also polls payments that begin later, for a back-end worker: it reads the journal again after each interval and runs
    /// until its deadline, even if nothing is left. **Then only the recovery must deliver**: code that created such a payment and also
    /// watches it would deliver it twice.
    public var followNew: Bool

    /// By default: a query every 10 seconds, for 20 minutes, 8 payments concurrently, and no payments that begin later.
    public init(
        interval: Duration = .seconds(10), deadline: Duration = .seconds(20 * 60), atOnce: Int = 8, followNew: Bool = false
    ) {
        self.interval = interval
        self.deadline = deadline
        self.atOnce = atOnce
        self.followNew = followNew
    }

    /// All of it.
    public var description: String { described(self) }
}

/// What ``Recovery`` brings: a payment that has come to its end, or an entry that only a person can read.
public enum Recovered: Hashable, Sendable, Codable {
    /// A payment; its entry's state says how it ended: ``JournalState/charged`` (deliver, then finish the entry),
    /// ``JournalState/rejected`` (nothing was taken; the entry is listed no more), or ``JournalState/mismatch`` (for a person). **A
    /// rejected payment may come again, as charged**: a gateway may correct its report. One that is still ``JournalState/unknown`` or
    /// ``JournalState/pending`` is for a person, too: the gateway answers about others, and about this one with errors alone, as its
    /// reason says. It stays unfinished.
    case payment(entry: JournalEntry)
    /// An entry that cannot be read, as ``Unfinished/unreadable(id:why:)``.
    case unreadable(id: String, why: String)
}

/// Polls the payments that were unfinished in a gateway's journal when it began, each until it is final; with
/// ``RecoveryPolicy/followNew`` also those that begin later. See ``Gateway/recover(_:)``.
///
/// ```swift
/// for try await recovered in try gateway.recover() {
///     switch recovered {
///     case .payment(let entry) where entry.state == .charged:
///         try await deliver(entry)  // what entry.note says
///         try await gateway.finish(entry)
///     default: print(recovered)  // nothing was taken, or a person should look
///     }
/// }
/// ```
///
/// Payments that are already charged come at once, without a query. A payment that is still pending at the policy's deadline stays
/// unfinished for the next recovery, and so does one without a number to query by. Between two results, no new query begins.
///
/// **Of all that share the folder, one recovers at a time**; another one waits until that one ends, leaves its loop or dies, so that no two
/// of them deliver the same goods. All the same, deliver by a step that does nothing when it is repeated: a process may die between
/// delivering and finishing.
///
/// Closing the gateway ends it at once and lets other processes recover, unless you have one of its results, which you may be delivering:
/// then it does so when you ask for the next one, or leave the loop. Results that are already there still come.
///
/// The iteration ends when nothing is left, or at the deadline. It throws, once, at the end,
/// ``PaymentError/unauthorized(detail:httpStatus:code:body:)`` and ``PaymentError/misconfigured(detail:httpStatus:code:body:)`` if
/// further queries are useless (three times in a row, or the gateway was closed), and
/// ``PaymentError/unavailable(detail:retryAfter:httpStatus:code:body:)`` if the journal cannot be read; none of them says anything about
/// a payment. It throws `CancellationError` at once if its task is cancelled: nothing is lost, the payments stay in the journal. Each
/// iteration begins anew.
public struct Recovery: AsyncSequence, Sendable {
    /// What the iteration yields.
    public typealias Element = Recovered

    let begin: @Sendable () throws -> KassaGenerated.Recovery

    /// Yields the results. **While it exists, no other process recovers**, unless it has yielded nil or thrown a ``PaymentError``.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let begin: @Sendable () throws -> KassaGenerated.Recovery
        private var core: KassaGenerated.Recovery?

        fileprivate init(_ begin: @escaping @Sendable () throws -> KassaGenerated.Recovery) {
            self.begin = begin
        }

        /// The next end, when it is there; nil after the last one.
        ///
        /// - Throws: As the iteration does.
        public mutating func next() async throws -> Recovered? {
            let core = try self.core ?? translated(begin)
            self.core = core
            return try await core.nextResult()
        }
    }

    /// An iterator that begins now.
    public func makeAsyncIterator() -> Iterator { Iterator(begin) }
}

extension Recovery: CustomStringConvertible, CustomReflectable {
    /// Its name.
    public var description: String { "Recovery" }

    /// A mask: nothing of the content.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension Recovered: CustomStringConvertible {
    /// Which one, and what it holds.
    public var description: String {
        switch self {
        case .payment(let entry): "payment(\(entry))"
        case .unreadable(let id, let why): "unreadable(\(id), \(why))"
        }
    }
}

extension KassaGenerated.Recovery {
    /// Its next result; nil after the last one.
    func nextResult() async throws -> Recovered? {
        try await answer(to: .recoveryNext(recovery: self), optional(FfiConverterTypeRecovered.read)).map(Recovered.init)
    }
}

extension RecoveryPolicy {
    var core: KassaGenerated.RecoveryPolicy {
        KassaGenerated.RecoveryPolicy(
            interval: interval.core, deadline: deadline.core, atOnce: UInt32(clamping: atOnce), followNew: followNew)
    }
}

extension Recovered {
    init(_ core: KassaGenerated.Recovered) {
        self =
            switch core {
            case .payment(let entry): .payment(entry: JournalEntry(entry))
            case .unreadable(let id, let why): .unreadable(id: id, why: why)
            }
    }
}
