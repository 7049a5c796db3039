import Foundation

extension KassaClient {
    /// The events after a cursor, in the order in which they happened. None is ever skipped.
    ///
    /// ```swift
    /// for try await each in client.events(after: stored, follow: true) {
    ///     try await database.transaction { transaction in
    ///         if each.event.isPaid { try await deliver(each.event.reference) }  // once for each order
    ///         try await transaction.store(each.cursor)
    ///     }
    /// }
    /// ```
    ///
    /// Store each ``EventAt/cursor`` in the transaction that deals with its event, and begin there the next time; `"0"` is the beginning.
    /// The iteration throws ``KassaClientError/historyGone(_:next:)`` if the server was restored and no longer knows the cursor.
    ///
    /// - Parameters:
    ///   - after: The cursor of the last event that you know.
    ///   - limit: How many a request brings, at most 1,000.
    ///   - follow: Does not end with the last event, but asks again after each `interval`, until ``close()``, or until its task is
    ///     cancelled. While the server cannot be reached or fails (5xx) it waits.
    ///   - interval: The pause between two questions.
    ///   - onFailure: Learns why reading pauses, for your log.
    public func events(
        after: String = "0", limit: Int = 100, follow: Bool = false, interval: Duration = .seconds(5),
        onFailure: (@Sendable (KassaClientError) -> Void)? = nil
    ) -> Events {
        Events(client: self, after: after, limit: limit, follow: follow, interval: interval, onFailure: onFailure)
    }

    /// The events after a cursor. Each iteration begins there again.
    public struct Events: AsyncSequence, Sendable {
        /// What the iteration yields.
        public typealias Element = EventAt

        let client: KassaClient
        let after: String
        let limit: Int
        let follow: Bool
        let interval: Duration
        let onFailure: (@Sendable (KassaClientError) -> Void)?

        /// Yields the events.
        public struct Iterator: AsyncIteratorProtocol {
            fileprivate let events: Events
            private var cursor: String
            private var read: ArraySlice<EventAt> = []

            fileprivate init(_ events: Events) {
                self.events = events
                cursor = events.after
            }

            /// The next one; nil after the last one.
            ///
            /// - Throws: As the iteration does.
            public mutating func next() async throws -> EventAt? {
                while read.isEmpty {
                    if events.follow && events.client.isClosed { return nil }
                    do {
                        let page = try await events.client.page(after: cursor, limit: events.limit)
                        (read, cursor) = (page.events[...], page.next)
                        if !read.isEmpty { break }
                        if !events.follow { return nil }
                    } catch let error as KassaClientError {
                        if events.follow && error == .closed { return nil }
                        guard events.follow, error.isTemporary else { throw error }
                        events.onFailure?(error)
                    }
                    try await events.client.pauses.pause(events.interval)
                }
                return read.popFirst()
            }
        }

        /// An iterator that begins after the cursor.
        public func makeAsyncIterator() -> Iterator { Iterator(self) }
    }
}

extension KassaClient.Events: CustomStringConvertible {
    /// Where it begins.
    public var description: String { "Events(after: \(after))" }
}

/// Pauses that end when the client is closed.
///
/// Unchecked, because the compiler does not see that all that changes is behind the lock.
final class Pauses: @unchecked Sendable {
    private let lock = NSLock()
    private var closed = false
    private var last = 0
    private var running: [Int: Task<Void, Never>] = [:]

    var isClosed: Bool { lock.withLock { closed } }

    func pause(_ time: Duration) async throws {
        let sleeping = Task { _ = try? await Task.sleep(for: time) }
        let number = lock.withLock {
            last += 1
            running[last] = sleeping
            if closed { sleeping.cancel() }
            return last
        }
        await withTaskCancellationHandler {
            await sleeping.value
        } onCancel: {
            sleeping.cancel()
        }
        lock.withLock { running[number] = nil }
        try Task.checkCancellation()
    }

    func close() {
        let sleeping = lock.withLock {
            closed = true
            return Array(running.values)
        }
        for each in sleeping { each.cancel() }
    }
}
