import Foundation
import Kassa

/// Receives callbacks, or checks one from a file.
enum CallbackCommand {
    static func run(_ shop: Shop, _ given: Given) async throws -> Ended {
        let expected = try expected(given)
        let count = try given.whole(CallbackOptions.count)
        guard let file = given.text(CallbackOptions.file) else { return await listen(shop, count, expected) }
        guard count == nil else { throw Failure.usage("--count is for listening, not for --file") }
        return try await one(shop, file, expected)
    }

    private static func expected(_ given: Given) throws -> ExpectedPayment? {
        let (order, id) = (given.text(CallbackOptions.orderNumber), given.text(CallbackOptions.transactionID))
        guard order == nil || id == nil else { throw Failure.usage("expect --order-number or --transaction-id, not both") }
        guard let amount = try given.amount(CallbackOptions.amount) else {
            guard order == nil, id == nil else { throw Failure.usage("an expected number needs --amount, too") }
            return nil
        }
        let payment = id.map(PaymentRef.qr) ?? PaymentRef(kind: .payForm, orderNumber: order)
        return ExpectedPayment(payment: payment, amount: amount, currency: try given.needed(CallbackOptions.currency))
    }

    private static func one(_ shop: Shop, _ file: String, _ expected: ExpectedPayment?) async throws -> Ended {
        let callback = try Callback(read(file))
        let (seen, verdict) = await shop.check(callback, expected, shop.narrator)
        let body: [String: JSON] = ["callbacks": [Output.callback(seen)], "dedup_key": .string(try callback.dedupKey())]
        return Ended(exitCode(verdict), body)
    }

    /// Only what the gateway itself confirms is as expected; a callback that it knows nothing of is not.
    private static func exitCode(_ verdict: Result<CallbackVerdict, any Error>) -> Int32 {
        switch verdict {
        case .success(.confirmed): ExitCode.asExpected
        case .success(.contradicted): ExitCode.notAsExpected
        case .success(.pending), .success(.unverifiable), .failure: ExitCode.notKnown
        }
    }

    private static func listen(_ shop: Shop, _ count: Int?, _ expected: ExpectedPayment?) async -> Ended {
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
                let (one, verdict) = await shop.check(callback, expected, shop.narrator)
                seen.append(one)
                codes.append(exitCode(verdict))
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
