import Foundation
internal import KassaGenerated

/// A folder in which a ``Gateway`` writes down what it sends, **before** it sends it, so that no payment is forgotten by an app or a
/// program that dies.
///
/// ```swift
/// let gateway = try Gateway(config, journal: .standard())
/// for try await item in gateway.unfinished() {
///     switch item {
///     case .payment(let entry): print("\(entry.payment) is \(entry.state)")
///     case .unreadable(let id, let why): print("a person should look at \(id): it \(why)")
///     }
/// }
/// ```
///
/// A gateway with a journal (``Gateway/init(_:journal:)``, ``Gateway/withJournal(_:)``) keeps these promises:
/// - Every payment has an entry, flushed to the disk, before a byte of it is sent. What came back, and how it ended, is noted by the
///   gateway itself.
/// - **The same order number is never sent twice**, by any task, process or program that shares the folder, living or dead: a second try
///   is ``PaymentError/outcomeUnknown(payment:httpStatus:code:reason:detail:body:)`` and names what is known of the first. Where the first
///   ended in an error that says that nothing happened, the number is free again. The confirmation of a mobile-bank payment is not sent
///   again while it is unknown what the first one did.
/// - ``unfinished()`` lists everything unfinished, and ``Gateway/recover(_:)`` follows it to its end: deliver what is charged,
///   and finish it (`finish(_:)`).
/// - Where an entry cannot be written, nothing is sent: ``PaymentError/unavailable(detail:retryAfter:httpStatus:code:body:)``.
///
/// Entries hold no secret, and can be read by their owner alone. One folder serves any number of processes, for **one gateway and one
/// merchant**: an order number says nothing of where it was sent. It must be on a file system of the machine itself.
///
/// Pay-forms and QR codes, which have no number of the merchant's, have a name for their entry in the reference
/// (``PaymentRef/entryID``). Keep the reference, or sign it into the addresses (``CallbackKey``): with it a callback finds the entry. A
/// number that a callback claims pays for one entry alone.
///
/// The methods that read or write the disk do so on threads apart from those that run tasks. **A cancelled task does not keep them from
/// ending**: what is finished is finished.
public final class Journal: Sendable {
    /// Where it is.
    public let folder: URL
    let core: KassaGenerated.Journal

    /// Opens the journal in a folder, which is made if need be, and removes what was finished more than 90 days ago. It reads the disk,
    /// so open it once, when the program starts.
    ///
    /// An app gives ``standard()``, or a folder of its app group where an extension pays, too. Of such a folder it should set itself what
    /// ``standard()`` sets, **before** the journal is first opened.
    ///
    /// - Throws: ``PaymentError/misconfigured(detail:httpStatus:code:body:)`` where the folder cannot be made, read or written.
    public init(folder: URL) throws {
        guard folder.isFileURL else {
            throw PaymentError.misconfigured(detail: "the journal's folder must be a file URL")
        }
        let path = folder.absoluteURL.path(percentEncoded: false)
        core = try translated { try KassaGenerated.Journal.open(folder: checked(path, "folder")) }
        self.folder = folder
    }

    /// All unfinished entries: pending, unknown or mismatched payments, and charged ones that are not finished. The oldest first, by the
    /// day on which they were begun. They are read as they are asked for, so that any number of them needs little memory, and entries can
    /// be finished meanwhile.
    public func unfinished() -> UnfinishedEntries {
        UnfinishedEntries { [core] in core.unfinishedPages() }
    }

    /// What is known of a payment, finished or not; nil where it has no entry.
    ///
    /// - Throws: ``PaymentError/unavailable(detail:retryAfter:httpStatus:code:body:)`` where the entry cannot be read.
    public func entry(_ payment: PaymentRef) async throws -> JournalEntry? {
        try await apart { [core] in try core.entry(payment: payment.core).map(JournalEntry.init) }
    }

    /// Says that a payment is done with: the goods were delivered, or a person has dealt with it. Its entry is listed no more, and kept
    /// for 90 days; its order number stays taken. Finishing it again does nothing.
    ///
    /// - Throws: ``PaymentError/invalid(violations:)`` where this journal has no such entry, and
    ///   ``PaymentError/unavailable(detail:retryAfter:httpStatus:code:body:)`` where that cannot be written: then it is still unfinished.
    public func finish(_ entry: JournalEntry) async throws {
        try await finish(entry.id)
    }

    /// The same by the entry's own name: also for one that cannot be read, once a person has looked at it.
    ///
    /// - Throws: As the other one does.
    public func finish(_ id: String) async throws {
        try await apart { [core] in try core.finish(id: checked(id, "id")) }
    }

    /// Removes finished entries for good: those of months that ended longer ago than this. Their order numbers are forgotten with them.
    ///
    /// - Throws: ``PaymentError/unavailable(detail:retryAfter:httpStatus:code:body:)`` where they cannot be removed.
    public func prune(olderThan age: Duration) async throws {
        try await apart { [core] in try core.prune(olderThan: age.core) }
    }
}

extension Journal: CustomStringConvertible, CustomReflectable {
    /// Where it is.
    public var description: String { "Journal(\(folder.path(percentEncoded: false)))" }

    /// Where it is.
    public var customMirror: Mirror { Mirror(self, children: ["folder": folder]) }
}

/// Those that wait for the disk.
private let threads = DispatchQueue(label: "dev.kassa.journal", attributes: .concurrent)

/// Lets a thread apart wait for the disk: those that run tasks are as many as processors, and wait for nothing.
func apart<Answer: Sendable>(_ work: @escaping @Sendable () throws -> Answer) async throws -> Answer {
    try await withCheckedThrowingContinuation { ended in
        threads.async { ended.resume(with: Result { try translated(work) }) }
    }
}
