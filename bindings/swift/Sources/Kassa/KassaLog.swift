import Foundation
internal import KassaGenerated

#if canImport(OSLog)
    internal import OSLog
#endif

/// The destination of Kassa's log events: by default none. Events contain no secrets of Kassa and no bodies; an error of the app's own
/// renewal function is logged with its own text.
public enum KassaLog {
    /// Sends all events of the program to a handler from now on; nil discards them. The handler is called on a thread of Kassa, one event
    /// at a time, and no call waits for it. If more than a thousand events are waiting, further ones are dropped.
    ///
    /// ```swift
    /// KassaLog.send { event in
    ///     if event.level == .error || event.level == .warning { print(event.text) }
    /// }
    /// ```
    public static func send(to handler: (@Sendable (LogEvent) -> Void)?) {
        let sink = handler.map(Sink.init)
        current.replace(by: sink)
        setLogSink(sink: sink)
    }

    /// Sends an event that happens outside of the core.
    static func write(_ event: LogEvent) {
        guard let sink = current.sink else { return }
        ownEvents.async { sink.handOn(event) }
    }

    private static let current = CurrentSink()

    #if canImport(OSLog)
        /// Sends all events of the program to the system's log from now on, with the category `kassa`.
        public static func sendToSystemLog(subsystem: String) {
            let logger = Logger(subsystem: subsystem, category: "kassa")
            send { event in
                switch event.level {
                case .error: logger.error("\(event.text, privacy: .public)")
                case .warning: logger.warning("\(event.text, privacy: .public)")
                case .info: logger.info("\(event.text, privacy: .public)")
                case .debug: logger.debug("\(event.text, privacy: .public)")
                }
            }
        }
    #endif
}

/// One event, in one line.
public struct LogEvent: Hashable, Sendable, CustomStringConvertible {
    /// How much an event matters.
    public enum Level: String, Hashable, Sendable, CaseIterable, CustomStringConvertible {
        /// Something failed.
        case error
        /// Something did not go as it should, such as a response that did not come.
        case warning
        /// Something worth knowing.
        case info
        /// Each exchange with the gateway.
        case debug

        /// Its name.
        public var description: String { rawValue }
    }

    /// How much it matters.
    public let level: Level
    /// What happened, with its details as `name=value`.
    public let text: String

    /// The line.
    public var description: String { "\(level): \(text)" }
}

/// Events of this package wait here for the handler, so that no task does.
private let ownEvents = DispatchQueue(label: "dev.kassa.log")

/// The handler of now.
///
/// Unchecked, because the compiler does not see that all that changes is behind the lock.
private final class CurrentSink: @unchecked Sendable {
    private let lock = NSLock()
    private var held: Sink?

    var sink: Sink? { lock.withLock { held } }

    func replace(by sink: Sink?) { lock.withLock { held = sink } }
}

private final class Sink: LogSink {
    private let handler: @Sendable (LogEvent) -> Void
    /// The core has a thread of its own, and a handler gets one event after the other.
    private let turn = NSLock()

    init(_ handler: @escaping @Sendable (LogEvent) -> Void) {
        self.handler = handler
    }

    func log(event: KassaGenerated.LogEvent) {
        handOn(LogEvent(level: LogEvent.Level(event.level), text: event.text))
    }

    func handOn(_ event: LogEvent) { turn.withLock { handler(event) } }
}

extension LogEvent.Level {
    fileprivate init(_ core: LogLevel) {
        self =
            switch core {
            case .error: .error
            case .warning: .warning
            case .info: .info
            case .debug: .debug
            }
    }
}
