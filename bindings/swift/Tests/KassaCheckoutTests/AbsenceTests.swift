import Kassa
@testable import KassaCheckout
import KassaStage
import Testing

/// The app goes to the background, and comes back.
@MainActor @Suite struct AbsenceTests {
    private let clock = HandClock()

    /// A payer who has typed a card, before a screen that goes by the clock of the test.
    private func typing(_ stage: Stage) async throws -> PayerScreen {
        let screen = try await PayerScreen.ready(stage, withCards)
        screen.model.absenceClock = clock.clock
        screen.typeCard()
        return screen
    }

    @Test func whatWasTypedOutlivesAWayToTheAppOfTheBank() async throws {
        let stage = try await Stage.start()
        defer { stage.stop() }
        let screen = try await typing(stage)
        let typed = screen.secrets
        // Twice: each absence is measured by itself.
        for _ in 1...2 {
            screen.model.wentToBackground()
            clock.passes(.seconds(299))
            screen.model.cameToFront()
            #expect(screen.secrets == typed && screen.model.method == .card)
            clock.passes(.seconds(299))  // before the screen
        }
        screen.model.wentToBackground()
        screen.model.close()
        #expect(screen.secrets == nothing)

        let mbank = try await PayerScreen.ready(stage)
        mbank.model.absenceClock = clock.clock
        try await mbank.askForCode()
        mbank.model.code = "101"
        mbank.model.wentToBackground()
        clock.passes(.seconds(60))
        mbank.model.cameToFront()
        #expect(mbank.model.code == "101")
    }

    @Test func afterMinutesItIsForgottenWhileTheAppIsAway() async throws {
        let stage = try await Stage.start()
        defer { stage.stop() }
        let screen = try await typing(stage)
        screen.model.wentToBackground()
        clock.passes(.seconds(299))
        screen.model.wentToBackground()  // another scene of the same app
        clock.passes(.seconds(1))
        try await screen.until("empty fields") { $0.cardNumber.isEmpty }
        #expect(screen.secrets == nothing && screen.model.method == .card)
    }

    /// The system had stopped the app: its tasks have not run before it is at the front again.
    @Test func afterMinutesNothingIsThereWhenThePayerComesBack() async throws {
        let stage = try await Stage.start()
        defer { stage.stop() }
        let screen = try await typing(stage)
        clock.isStopped = true
        screen.model.wentToBackground()
        clock.passes(.seconds(300))
        #expect(screen.secrets != nothing)
        screen.model.cameToFront()
        #expect(screen.secrets == nothing)
    }
}

/// A clock that goes as the test says.
@MainActor private final class HandClock {
    /// Whoever sleeps is not woken.
    var isStopped = false
    private var now = Duration.zero
    private var sleepers: [(until: Duration, wake: AsyncStream<Void>.Continuation)] = []

    var clock: AbsenceClock {
        AbsenceClock(now: { self.now }, sleep: { await self.sleep(until: $0) })
    }

    func passes(_ time: Duration) {
        now += time
        guard !isStopped else { return }
        for sleeper in sleepers where sleeper.until <= now { sleeper.wake.finish() }
    }

    private func sleep(until moment: Duration) async {
        if moment <= now && !isStopped { return }
        let (stream, wake) = AsyncStream.makeStream(of: Void.self)
        sleepers.append((moment, wake))
        // It ends with its task, too.
        for await _ in stream {}
    }
}
