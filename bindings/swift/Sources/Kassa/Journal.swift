import Foundation
internal import KassaGenerated

/// A folder in which a ``Gateway`` writes down what it sends, **before** it sends it, so that no payment is forgotten when the app or
/// program crashes.
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
/// - Every payment has an entry, flushed to the disk before anything is sent. The gateway adds the response and the final status.
/// - **The same order number is never sent twice**, by any task, process or program that shares the folder, even after a crash: a second
///   attempt is ``PaymentError/outcomeUnknown(payment:httpStatus:code:reason:detail:body:)`` and tells what is known of the first. If the
///   first ended with an error that means that nothing happened, the number is free again. A mobile-bank confirmation is not sent again
///   while the outcome of the first one is unknown.
/// - ``unfinished()`` lists everything unfinished, and ``Gateway/recover(_:)`` polls it until it is final: deliver what is charged, and
///   finish it (`finish(_:)`).
/// - If an entry cannot be written, nothing is sent: ``PaymentError/unavailable(detail:retryAfter:httpStatus:code:body:)``.
///
/// Entries hold no secrets and are readable only by the owner. One folder serves any number of processes, for **one gateway and one
/// merchant**: an order number does not tell where it was sent. The folder must be on a local file system.
///
/// Pay-forms and QR codes have no order number; their reference has the id of the entry (``PaymentRef/entryID``). Store the reference, or
/// sign it into the URLs (``CallbackKey``), so that a callback finds the entry. A number that a callback claims pays for only one entry.
///
/// The methods that use the disk run on threads of their own, not on those of tasks. **A cancelled task does not stop them**: an entry
/// that is finished stays finished.
public final class Journal: Sendable {
    /// Where it is.
    public let folder: URL
    let core: KassaGenerated.Journal

    /// Opens the journal in a folder, which is created if needed, and removes entries that were finished more than 90 days ago. It reads
    /// the disk, so open it once, when the program starts.
    ///
    /// In an app, use ``standard()``, or a folder of its app group if an extension pays, too. For such a folder, set what ``standard()``
    /// sets **before** you first open the journal.
    ///
    /// - Throws: ``PaymentError/misconfigured(detail:httpStatus:code:body:)`` if the folder cannot be created, read or written.
    public init(folder: URL) throws {
        guard folder.isFileURL else {
            throw PaymentError.misconfigured(detail: "the journal's folder must be a file URL")
        }
        let path = folder.absoluteURL.path(percentEncoded: false)
        core = try translated { try KassaGenerated.Journal.open(folder: checked(path, "folder")) }
        self.folder = folder
    }

    /// All unfinished entries: pending, unknown or mismatched payments, and charged ones that are not finished. Oldest first, by the day
    /// on which they began. They are read lazily, so any number of them needs little memory, and you can finish entries meanwhile.
    public func unfinished() -> UnfinishedEntries {
        UnfinishedEntries { [core] in core.unfinishedPages() }
    }

    /// What is known of a payment, finished or not; nil if it has no entry.
    ///
    /// - Throws: ``PaymentError/unavailable(detail:retryAfter:httpStatus:code:body:)`` if the entry cannot be read.
    public func entry(_ payment: PaymentRef) async throws -> JournalEntry? {
        try await apart { [core] in try core.entry(payment: payment.core).map(JournalEntry.init) }
    }

    /// Says that a payment is done with: the goods were delivered, or a person has dealt with it. Its entry is listed no more, and kept
    /// for 90 days; its order number stays taken. Finishing it again does nothing.
    ///
    /// - Throws: ``PaymentError/invalid(violations:)`` if this journal has no such entry, and
    ///   ``PaymentError/unavailable(detail:retryAfter:httpStatus:code:body:)`` if that cannot be written: then it is still unfinished.
    public func finish(_ entry: JournalEntry) async throws {
        try await finish(entry.id)
    }

    /// The same by the entry's own name: also for one that cannot be read, once a person has looked at it.
    ///
    /// - Throws: As the other one does.
    public func finish(_ id: String) async throws {
        try await apart { [core] in try core.finish(id: checked(id, "id")) }
    }

    /// Permanently removes finished entries from months that ended longer ago than this. The journal then forgets their order numbers.
    ///
    /// - Throws: ``PaymentError/unavailable(detail:retryAfter:httpStatus:code:body:)`` if they cannot be removed.
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
