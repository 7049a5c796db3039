internal import KassaGenerated

/// The unfinished entries of a ``Journal``, the oldest first: see ``Journal/unfinished()`` and ``Gateway/unfinished()``.
///
/// You can stop early, and each iteration begins anew. If the journal cannot be read, it throws
/// ``PaymentError/unavailable(detail:retryAfter:httpStatus:code:body:)`` after the entries that it has read; if its task is cancelled, it
/// throws `CancellationError` before the next entry.
public struct UnfinishedEntries: AsyncSequence, Sendable {
    /// What the iteration yields.
    public typealias Element = Unfinished

    let begin: @Sendable () throws -> UnfinishedPages

    /// Yields the entries.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let begin: @Sendable () throws -> UnfinishedPages
        private var pages: UnfinishedPages?
        private var read: ArraySlice<Unfinished> = []
        private var hasEnded = false

        fileprivate init(_ begin: @escaping @Sendable () throws -> UnfinishedPages) {
            self.begin = begin
        }

        /// The next one; nil after the last one.
        ///
        /// - Throws: As the iteration does.
        public mutating func next() async throws -> Unfinished? {
            try Task.checkCancellation()
            if read.isEmpty && !hasEnded {
                hasEnded = true
                read = try await nextPage()[...]
                hasEnded = read.isEmpty
            }
            return read.popFirst()
        }

        private mutating func nextPage() async throws -> [Unfinished] {
            let pages = try self.pages ?? translated(begin)
            self.pages = pages
            return try await apart { try pages.nextPage().map(Unfinished.init) }
        }
    }

    /// An iterator over all of them.
    public func makeAsyncIterator() -> Iterator { Iterator(begin) }
}

extension UnfinishedEntries: CustomStringConvertible, CustomReflectable {
    /// Its name.
    public var description: String { "UnfinishedEntries" }

    /// A mask: nothing of the content.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
