import Foundation
import Kassa

/// What happens to a payment while it is followed.
enum Event: Sendable {
    /// A callback came; a duplicate where the same one was here before.
    case callback(Callback, isDuplicate: Bool)
    /// The payer's browser came back.
    case payerReturned(ReturnRedirect)
    /// A status query brought something.
    case report(WatchReport)
    /// No more status queries are made; with an error where none was final.
    case watchEnded((any Error)?)
    /// A person wants the program to stop.
    case interrupted
    /// A time has passed; see ``Inbox/next(until:)``.
    case alarm(UUID)
}

/// Where everything that happens to a payment is read, one after the other.
///
/// Unchecked, because the compiler does not see that all that changes is behind the lock.
final class Inbox: @unchecked Sendable {
    /// How much may lie unread before the gateway is asked to come again.
    private static let mostUnread = 64

    private let lock = NSLock()
    private var unread = 0
    private var seen: Set<String> = []
    private let events: AsyncStream<Event>
    private let continuation: AsyncStream<Event>.Continuation

    init() {
        (events, continuation) = AsyncStream.makeStream()
    }

    func add(_ event: Event) {
        continuation.yield(event)
    }

    /// Takes a callback in. False where too many lie unread: it is not counted as seen, so that its copy gets through.
    func receive(_ callback: Callback) -> Bool {
        guard let key = try? callback.dedupKey() else { return true }
        return lock.withLock {
            guard unread < Self.mostUnread else { return false }
            unread += 1
            add(.callback(callback, isDuplicate: !seen.insert(key).inserted))
            return true
        }
    }

    /// Takes a returning payer in. One who comes back often enough to fill the box changes nothing.
    func receive(_ redirect: ReturnRedirect) {
        lock.withLock {
            guard unread < Self.mostUnread else { return }
            unread += 1
            add(.payerReturned(redirect))
        }
    }

    /// The next event.
    func next() async -> Event {
        while true {
            guard let event = await events.first(where: { _ in true }) else { return .interrupted }
            switch event {
            case .alarm: continue
            case .callback, .payerReturned: lock.withLock { unread -= 1 }
            default: break
            }
            return event
        }
    }

    /// The next event; nil where none came until then. With a time that has passed, only what is there already.
    func next(until time: ContinuousClock.Instant) async -> Event? {
        let own = UUID()
        let alarm = Task { [continuation] in
            try await Task.sleep(until: time, clock: .continuous)
            continuation.yield(.alarm(own))
        }
        defer { alarm.cancel() }
        while let event = await events.first(where: { _ in true }) {
            switch event {
            case .alarm(let id):
                if id == own { return nil }
                continue
            case .callback, .payerReturned: lock.withLock { unread -= 1 }
            default: break
            }
            return event
        }
        return nil
    }
}
