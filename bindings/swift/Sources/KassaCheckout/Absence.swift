/// How long card fields and code outlive the payer's absence: long enough to read them in another app, such as that of the bank.
let longestAbsence = Duration.seconds(300)

/// The time by which an absence is measured, since any moment. It goes on while the device sleeps, and is not the one that people set.
struct AbsenceClock: Sendable {
    var now: @MainActor @Sendable () -> Duration
    /// Waits for a time of this clock; throws if its task is cancelled.
    var sleep: @MainActor @Sendable (_ until: Duration) async throws -> Void

    /// The system's.
    static var system: AbsenceClock {
        let clock = ContinuousClock()
        let start = clock.now
        return AbsenceClock(
            now: { start.duration(to: clock.now) },
            sleep: { try await clock.sleep(until: start.advanced(by: $0), tolerance: nil) })
    }
}
