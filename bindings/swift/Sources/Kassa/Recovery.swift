internal import KassaGenerated

/// How a ``Gateway`` recovers its journal.
///
/// It is `Codable`: both times are their seconds as texts, `{"interval": "10", "deadline": "1200", "atOnce": 8, "followNew": false}`.
///
/// Source: every 10 seconds until Reject or Charge (`docs/interface.md#polling`).
public struct RecoveryPolicy: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The time from the start of one question about a payment to the start of the next, while the payment is younger than 20 minutes.
    /// Older ones are asked about less often: up to 2 hours of age a sixth as often, to a day a sixtieth, to three days every 360th time,
    /// then every 8640th: daily.
    public var interval: Duration
    /// How long to go on.
    public var deadline: Duration
    /// How many payments are asked about at the same time.
    public var atOnce: Int
    /// Whether payments that are begun later are followed, too, as a worker of a back end does: the journal is read again after each
    /// interval, and the recovery goes on until its deadline though nothing is left. **Then it alone delivers**: whoever made such a payment
    /// and watches it, too, would deliver it as well.
    public var followNew: Bool

    /// A question every 10 seconds, for 20 minutes, about 8 payments at once, and none that are begun later, unless set.
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
    /// ``JournalState/rejected`` (nothing was taken; the entry is listed no more), or ``JournalState/mismatch`` (for a person).
    /// **A rejected one may come once more, as charged**: a gateway may take back what it said. One that is still
    /// ``JournalState/unknown`` or ``JournalState/pending`` is for a person, too: the gateway answers about others, and about this one with
    /// errors alone, as its reason says. It stays unfinished.
    case payment(entry: JournalEntry)
    /// An entry that cannot be read, as ``Unfinished/unreadable(id:why:)``.
    case unreadable(id: String, why: String)
}

/// Follows what was unfinished in a gateway's journal when it began, each payment until its end; with ``RecoveryPolicy/followNew`` also what
/// is begun later: see ``Gateway/recover(_:)``.
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
/// What is charged already comes at once, without a question. A payment that is still pending when the policy's deadline passes stays
/// unfinished, for the next recovery; so does one that has nothing to be asked with. Between two ends nothing new is asked.
///
/// **Of all that share the folder, one recovers at a time**; another one waits until that one ends, leaves its loop or dies, so that no two
/// of them deliver the same goods. All the same, deliver by a step that does nothing when it is repeated: a process may die between
/// delivering and finishing.
///
/// Closing the gateway ends it at once, whatever it waits for, and lets others recover; what had come to its end before still comes.
///
/// The iteration ends when nothing is left to be asked about, or at the deadline. It throws, once and as the last thing,
/// ``PaymentError/unauthorized(detail:httpStatus:code:body:)`` and ``PaymentError/misconfigured(detail:httpStatus:code:body:)`` where asking
/// on is useless (three times in a row, or the gateway was closed), and ``PaymentError/unavailable(detail:retryAfter:httpStatus:code:body:)``
/// where the journal cannot be read; none of them says anything about a payment. It throws `CancellationError` at once where its task is
/// cancelled: what was on its way is not lost, it stays in the journal. Each iteration begins anew.
public struct Recovery: AsyncSequence, Sendable {
    /// What the iteration yields.
    public typealias Element = Recovered

    let begin: @Sendable () throws -> KassaGenerated.Recovery

    /// Yields the ends. **While it lives, nobody else recovers**, unless it has yielded nil or thrown a ``PaymentError``.
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
            return try await untilEnd { try await $0.nextRecovered(recovery: core) }.map(Recovered.init)
        }
    }

    /// An iterator that begins now.
    public func makeAsyncIterator() -> Iterator { Iterator(begin) }
}

extension Recovery: CustomStringConvertible, CustomReflectable {
    /// Its name.
    public var description: String { "Recovery" }

    /// Nothing of what is inside.
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
