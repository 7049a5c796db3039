import Foundation
import Kassa

/// Receives callbacks, or checks one from a file.
enum CallbackCommand {
    static func run(_ shop: Shop, _ given: Given) async throws -> Ended {
        let named = try Subject.payment(given)
        let count = try given.whole(CallbackOptions.count)
        guard let file = given.text(CallbackOptions.file) else { return try await listen(shop, count, named) }
        guard count == nil else { throw Failure.usage("--count is for listening, not for --file") }
        return try await one(shop, file, named)
    }

    private static func one(_ shop: Shop, _ file: String, _ named: PaymentRef?) async throws -> Ended {
        let callback = try Callback(read(file))
        let (seen, code) = try await weigh(shop, callback, named)
        let body: [String: JSON] = ["callbacks": [Output.callback(seen)], "dedup_key": .string(try callback.dedupKey())]
        return Ended(code, body)
    }

    /// Checks a callback against the payment that was named, else the one that this program stored before it was sent. What a callback
    /// says of itself proves nothing.
    private static func weigh(_ shop: Shop, _ callback: Callback, _ named: PaymentRef?) async throws -> (SeenCallback, Int32) {
        let payment = try named ?? stored(shop, callback.orderNumber) ?? callback.paymentRef() ?? .qr(sumTyiyn: nil)
        let (seen, verdict) = await shop.check(callback, payment, shop.narrator)
        return (seen, exitCode(verdict))
    }

    private static func stored(_ shop: Shop, _ number: String) throws -> PaymentRef? {
        try shop.store.entries().filter { $0.gateway == shop.gatewayName }.compactMap { try? $0.paymentRef() }
            .last { $0.orderNumber == number || $0.transactionID == number }
    }

    /// Only what the gateway itself reports of this payment is as expected; a callback that it knows nothing of is not.
    private static func exitCode(_ verdict: Result<Verdict, any Error>) -> Int32 {
        switch verdict {
        case .success(.charged), .success(.rejected): ExitCode.asExpected
        case .success(.contradicted): ExitCode.notAsExpected
        case .success(.open), .success(.unverifiable), .failure: ExitCode.notKnown
        }
    }

    private static func listen(_ shop: Shop, _ count: Int?, _ named: PaymentRef?) async throws -> Ended {
        let inbox = shop.receiver.expectEverything()
        let interruption = Interruption { inbox.add(.interrupted) }
        defer { interruption.end() }
        shop.introduce()
        shop.narrator.title("Waiting for callbacks")
        let deadline = ContinuousClock.now + shop.policy.deadline
        var seen: [SeenCallback] = []
        var codes: [Int32] = []
        listening: while count.map({ seen.count < $0 }) ?? true {
            switch await inbox.next(until: deadline) {
            case .callback(let callback, isDuplicate: false):
                let (one, code) = try await weigh(shop, callback, named)
                seen.append(one)
                codes.append(code)
            case .callback(let callback, isDuplicate: true):
                shop.narrator.step("callback", "order \(callback.orderNumber): the same once more")
            case .payerReturned(let redirect):
                shop.narrator.step("return", "the payer of order \(redirect.orderNumber) is back")
            case .interrupted, nil: break listening
            case .report, .watchEnded, .alarm: continue
            }
        }
        if let count, seen.count < count { codes.append(ExitCode.notAsExpected) }
        return Ended(ExitCode.worst(codes), ["callbacks": JSON(seen.map(Output.callback))])
    }
}

/// Ctrl-C, as an event instead of an end.
///
/// Unchecked, because a source is not known to be safe from several threads on every system; it is only made and cancelled.
private final class Interruption: @unchecked Sendable {
    private let source: any DispatchSourceSignal

    init(_ told: @escaping @Sendable () -> Void) {
        signal(SIGINT, SIG_IGN)
        source = DispatchSource.makeSignalSource(signal: SIGINT, queue: .global())
        source.setEventHandler(handler: told)
        let isHeard = DispatchSemaphore(value: 0)
        source.setRegistrationHandler { isHeard.signal() }
        source.resume()
        // That is done on another thread, and what is pressed before is lost.
        isHeard.wait()
    }

    func end() {
        source.cancel()
    }
}
