import Foundation
import Kassa
import KassaStage
import Testing

/// Giving up is heard at once, but a payment is still sent once.
@Suite struct CancellationTests {
    private let clock = ContinuousClock()

    /// The query deadline is twice the patience, so a call that returns within the patience did not wait for its deadline.
    private func isSoon(_ begun: ContinuousClock.Instant) -> Bool { clock.now - begun < .seconds(patience) }

    @Test func cancelledQueryEndsAtOnceAndTheGatewayGoesOn() async throws {
        let it = try Loopback(Responses.silence, Responses.charged)
        let task = Task { try await it.gateway.providerStatus("order-1", provider: .cards) }
        #expect(await it.server.waitForRequests(1))
        let begun = clock.now
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(isSoon(begun))
        #expect(try await it.gateway.providerStatus("order-1", provider: .cards).status == .charged)
    }

    @Test func taskThatIsCancelledAlreadySendsNothing() async throws {
        let it = try Loopback(Responses.charged)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            _ = try await it.gateway.createCardPayment(cardPayment())
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        await it.gateway.close()
        #expect(it.server.received.isEmpty)
    }

    @Test func cancelledPaymentGoesOnOnceAndItsReferenceFindsIt() async throws {
        let it = try Loopback(Responses.held(Responses.created), Responses.charged)
        let payment = cardPayment()
        let sent = Task { try await it.gateway.createCardPayment(payment) }
        #expect(await it.server.waitForRequests(1))
        sent.cancel()
        await #expect(throws: CancellationError.self) { try await sent.value }
        #expect(it.server.answered == 0)
        let found = try await it.gateway.watch(payment.paymentRef()).outcome()
        #expect(try found == .charged(payment: payment.paymentRef(), report: report(.charged), compared: []))
        it.server.release()
        await it.gateway.close()
        #expect(it.server.received.map(\.target) == ["/api/v1.1.0/payment", "/api/v1.1.0/get-status"])
    }

    @Test func closingWaitsForAPaymentThatNobodyWaitsFor() async throws {
        let it = try Loopback(Responses.held(Responses.created))
        let sent = Task { try await it.gateway.createCardPayment(cardPayment()) }
        #expect(await it.server.waitForRequests(1))
        sent.cancel()
        _ = await sent.result

        let closing = Task { await it.gateway.close() }
        closing.cancel()
        await closing.value  // a cancelled wait ends, though the payment is still on its way
        #expect(it.server.answered == 0)
        await #expect(throws: PaymentError.self) { try await it.gateway.qrStatus("t-1") }

        let closed = Task {
            await it.gateway.close()
            return it.server.answered
        }
        it.server.release()
        #expect(await closed.value == 1)
    }

    @Test func closingEndsAWatchAtOnceBetweenQueriesAndWithinOne() async throws {
        for response in [Responses.open, Responses.silence] {
            // Neither the next query nor the deadline comes in time.
            let it = try Loopback(response) { $0.queryDeadline = .seconds(3600) }
            let policy = PollPolicy(interval: .seconds(3600), deadline: .seconds(7200))
            let watch = try it.gateway.watch(.mbank("order-1", amountSom: 5), policy: policy)
            let outcome = Task { try await watch.outcome() }
            #expect(await it.server.waitForRequests(1))
            await it.gateway.close()
            await #expect(throws: PaymentError.self) { try await outcome.value }
        }
    }

    @Test func closeWithALimitSaysWhetherAPaymentIsLeft() async throws {
        let it = try Loopback(Responses.held(Responses.created)) { $0.paymentDeadline = .seconds(3600) }
        let paying = Task { try await it.gateway.createCardPayment(cardPayment()) }
        #expect(await it.server.waitForRequests(1))
        #expect(await !it.gateway.close(within: .zero))
        #expect(await !it.gateway.close(within: .milliseconds(10)))
        let givenUp = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await it.gateway.close(within: .seconds(3600))
        }
        #expect(await !givenUp.value)
        it.server.release()
        #expect(await it.gateway.close(within: .seconds(3600)))
        #expect(try await paying.value.code == "110")
    }

    @Test func cancelledWatchStopsAskingAndLosesNoReport() async throws {
        let it = try Loopback(Responses.held(Responses.open), Responses.charged)
        let payment = PaymentRef.mbank("order-1", amountSom: 5)
        let watch = try it.gateway.watch(payment, policy: PollPolicy(interval: .milliseconds(1)))
        let waiting = Task { try await watch.next() }
        #expect(await it.server.waitForRequests(1))
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        it.server.release()
        // Nobody waits, so nothing more is queried. Another watch runs for twenty intervals meanwhile.
        let beside = try Loopback(Responses.open)
        let other = try beside.gateway.watch(payment, policy: PollPolicy(interval: .milliseconds(1)))
        for _ in 1...20 { _ = try await other.next() }
        #expect(it.server.received.count == 1)
        #expect(try await watch.next() == .status(verdict: .pending(payment: payment, report: report(.other("HOLD")))))
        let charged = Verdict.charged(payment: payment, report: report(.charged), compared: [])
        #expect(try await watch.next() == .status(verdict: charged))
        #expect(try await watch.next() == nil)
        #expect(try await watch.outcome() == charged)
    }

    @Test func outcomeThatIsNotWaitedForIsNotACancelledWatch() async throws {
        let it = try Loopback(Responses.open)
        let watch = try it.gateway.watch(.mbank("order-1", amountSom: 5))
        let waiting = Task { try await watch.outcome() }
        #expect(await it.server.waitForRequests(1))
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        watch.cancel()
        #expect(try await watch.outcome() == nil)
    }

    @Test func cancelledIterationThrows() async throws {
        let it = try Loopback(Responses.open)
        let iterating = Task {
            var seen = 0
            let payment = PaymentRef.mbank("order-1", amountSom: 5)
            for try await _ in try it.gateway.watch(payment, policy: PollPolicy(interval: .milliseconds(1))) {
                seen += 1
                if seen == 3 { withUnsafeCurrentTask { $0?.cancel() } }
            }
        }
        await #expect(throws: CancellationError.self) { try await iterating.value }
        #expect(it.server.received.count == 3)
    }

    @Test func watchIsStoppedFromAnotherTask() async throws {
        let it = try Loopback(Responses.open)
        let watch = try it.gateway.watch(.mbank("order-1", amountSom: 5))
        let outcome = Task { try await watch.outcome() }
        #expect(await it.server.waitForRequests(1))
        watch.checkNow()  // long before the next interval
        #expect(await it.server.waitForRequests(2))
        watch.cancel()
        #expect(try await outcome.value == nil)
        #expect(try await watch.next() == nil)
    }

    @Test func manyTasksShareAGatewayAndSomeGiveUp() async throws {
        let it = try Loopback(Responses.charged)
        let ended = await withTaskGroup(of: Bool?.self) { group in
            for number in 0..<400 {
                group.addTask {
                    let asking = Task { try await it.gateway.providerStatus("order-\(number)", provider: .cards) }
                    if number.isMultiple(of: 3) { asking.cancel() }
                    switch await asking.result {
                    case .success(let report): return report.status == .charged
                    case .failure(let error): return error is CancellationError ? nil : false
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(!ended.contains(false))
        #expect(ended.count { $0 == true } >= 266)
        await it.gateway.close()
    }
}

/// What the scripted server's status is read as.
private func report(_ status: PaymentStatus) -> StatusReport {
    let word = status == .charged ? "CHARGE" : "HOLD"
    return StatusReport(status: status, code: "200", raw: #"{"code":"200","data":{"status":"\#(word)"}}"#)
}
