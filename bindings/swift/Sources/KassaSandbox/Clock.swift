import Foundation

extension Sandbox {
    /// A snapshot of the sandbox's clock, and when pending payments become final.
    public struct ClockValues: Hashable, Sendable, Decodable {
        /// What time it is there.
        public let now: Date
        /// How far it was stepped forward.
        public let ahead: Duration
        /// After how many status queries a pending payment becomes final; nil for never.
        public let resolveAfterQueries: Int?
        /// After how long a pending payment becomes final; nil for never.
        public let resolveAfter: Duration?

        private enum CodingKeys: String, CodingKey {
            case now
            case ahead = "ahead_ms"
            case resolveAfterQueries = "resolve_after_queries"
            case resolveAfter = "resolve_after_ms"
        }

        /// As the sandbox reports it.
        public init(from decoder: any Decoder) throws {
            let told = try decoder.container(keyedBy: CodingKeys.self)
            now = try told.decode(Date.self, forKey: .now)
            ahead = .milliseconds(try told.decode(Int64.self, forKey: .ahead))
            resolveAfterQueries = try told.decode(Int?.self, forKey: .resolveAfterQueries)
            resolveAfter = try told.decode(Int64?.self, forKey: .resolveAfter).map { .milliseconds($0) }
        }
    }

    /// The gateway's clock, and when pending payments become final. ``Sandbox/reset()`` resets it.
    public struct Clock: Sendable {
        let admin: Admin

        /// What time it is there, and when pending payments become final.
        public func read() async throws -> ClockValues {
            try await admin.request(ClockValues.self, "GET", "clock")
        }

        /// Moves the clock forward. What is due by then happens at once: callbacks are sent again, pending payments become final, cards
        /// expire.
        ///
        /// - Parameter step: In whole milliseconds.
        /// - Returns: The values after that.
        @discardableResult
        public func forward(by step: Duration) async throws -> ClockValues {
            let wanted = ["ms": try whole(step, of: .milliseconds(1), "step")]
            return try await admin.request(ClockValues.self, "POST", "clock/forward", body: wanted)
        }

        /// Lets pending payments become final by themselves, those that are pending already, too; without either, never.
        ///
        /// - Parameters:
        ///   - afterQueries: After this many status queries, each of which still returns `PENDING`.
        ///   - after: After this time by the sandbox's clock, in whole milliseconds.
        /// - Returns: The values after that.
        @discardableResult
        public func resolvePending(afterQueries: Int? = nil, after: Duration? = nil) async throws -> ClockValues {
            let wanted = [
                "resolve_after_queries": afterQueries.map(Int64.init),
                // Nothing is told as null: a setting that is not named would stay.
                "resolve_after_ms": try after.map { try whole($0, of: .milliseconds(1), "after") },
            ]
            return try await admin.request(ClockValues.self, "PATCH", "clock", body: wanted)
        }
    }
}
