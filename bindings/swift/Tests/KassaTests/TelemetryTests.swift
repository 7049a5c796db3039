import Foundation
import Kassa
import KassaStage
import Testing

/// What observers of calls get.
@Suite struct TelemetryTests {
    @Test func callIsObservedWithItsAttempts() async throws {
        let calls = Calls()
        let it = try Loopback(Responses.response(503, "{}"), Responses.status("CHARGE"))
        let observation = KassaTelemetry.onCall { calls.add($0) }
        _ = try? await it.gateway.providerStatus("telemetry-1", provider: .cards)
        _ = try await it.gateway.providerStatus("telemetry-2", provider: .cards)
        observation.cancel()
        // Nobody observes this one.
        _ = try await it.gateway.providerStatus("telemetry-3", provider: .cards)
        await it.gateway.close()

        let observed = await calls.of(["telemetry-1", "telemetry-2"])
        #expect(observed.map(\.outcome) == ["unavailable", "charged"])
        #expect(observed.map(\.errorType) == ["Unavailable", nil])
        #expect(observed.allSatisfy { $0.operation == "provider_status" && $0.method == "POST" && $0.path == "/api/v1.1.0/get-status" })
        #expect(observed.map { $0.attempts.map(\.httpStatus) } == [[503], [200]])
        #expect(observed[0].attempts[0].errorType == "503")
        #expect(observed.allSatisfy { $0.attempts[0].duration <= $0.duration && $0.startedAt <= $0.attempts[0].startedAt })
        #expect(calls.all.allSatisfy { $0.orderNumber != "telemetry-3" })
    }

    @Test func whatBelongsToTheCallerComesWithItsCall() async throws {
        let observed = Observed()
        let observation = report { if $0.contains("task-") { observed.add($0) } }
        let gateway = try FakeGateway().gateway
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<20 {
                group.addTask {
                    await Request.$current.withValue("request \(number)") {
                        _ = try? await gateway.providerStatus("task-\(number)", provider: .mbank)
                    }
                }
            }
        }
        await observed.wait { $0.count == 20 }
        observation.cancel()
        #expect(Set(observed.all) == Set((0..<20).map { "request \($0): provider_status of task-\($0), refused after 1 attempts" }))
    }

    @Test func observerMayEndAnotherAsItGoes() async throws {
        let calls = Calls()
        let other = KassaTelemetry.onCall { calls.add($0) }
        let observation = observe(endingWith: other)
        observation.cancel()
        _ = try? await FakeGateway().gateway.providerStatus("telemetry-gone", provider: .mbank)
        #expect(calls.all.allSatisfy { $0.orderNumber != "telemetry-gone" })
    }

    /// Its observer has the last reference to what ends the other one.
    private func observe(endingWith other: CallObservation) -> CallObservation {
        let reporter = Reporter(other)
        return KassaTelemetry.onCall { _ in withExtendedLifetime(reporter) {} }
    }

    @Test func paymentThatLostItsCallerIsObserved() async throws {
        let calls = Calls()
        let observation = KassaTelemetry.onCall { calls.add($0) }
        let fake = try FakeGateway()
        fake.stopClock()
        fake.failNext(.noResponse)
        let paying = Task { try await fake.gateway.createMbankPayment(tea("telemetry-lost")) }
        while fake.payments.isEmpty { await Task.yield() }
        paying.cancel()
        _ = await paying.result
        observation.cancel()
        fake.startClock()
        let observed = await calls.of(["telemetry-lost"])
        #expect(observed.map(\.outcome) == ["unknown"])
    }

    @Test func observerThatBlocksHoldsUpNoPayment() async throws {
        let release = DispatchSemaphore(value: 0)
        let observation = KassaTelemetry.onCall { if $0.orderNumber == "telemetry-slow" { release.wait() } }
        let fake = try FakeGateway()
        let payment = try await fake.gateway.createMbankPayment(tea("telemetry-slow")).payment
        observation.cancel()
        _ = try await fake.gateway.confirmMbankPayment(payment, otp: fake.otp)
        #expect(try await fake.gateway.check(payment).isCharged)
        release.signal()
    }
}

private func tea(_ orderNumber: String) -> MbankPayment {
    MbankPayment(orderNumber: orderNumber, phone: "996555000101", amountSom: 100, comment: "tea")
}

// docs: begin hook
enum Request {
    @TaskLocal static var current = "no request"
}

/// Reports each request to the gateway with the shop's own request that it belongs to.
func report(to report: @escaping @Sendable (String) -> Void) -> CallObservation {
    KassaTelemetry.onCall(capturing: { Request.current }) { call, request in
        report("\(request): \(call.operation) of \(call.orderNumber ?? "none"), \(call.outcome) after \(call.attempts.count) attempts")
    }
}
// docs: end hook

private final class Reporter: Sendable {
    private let observation: CallObservation

    init(_ observation: CallObservation) { self.observation = observation }

    deinit { observation.cancel() }
}

/// What was observed. Unchecked, because the compiler does not see that all is behind the lock.
private class Collected<Element: Sendable>: @unchecked Sendable {
    private let lock = NSLock()
    private var elements: [Element] = []

    var all: [Element] { lock.withLock { elements } }

    func add(_ element: Element) { lock.withLock { elements.append(element) } }

    /// It comes later than the answer.
    func wait(until isThere: ([Element]) -> Bool) async {
        let end = ContinuousClock.now + .seconds(patience)
        while !isThere(all), .now < end { await Task.yield() }
    }
}

private typealias Observed = Collected<String>

private final class Calls: Collected<CompletedCall>, @unchecked Sendable {
    /// Those of some orders, when there is one of each: tests run side by side.
    func of(_ orders: [String]) async -> [CompletedCall] {
        await wait { all in orders.allSatisfy { order in all.contains { $0.orderNumber == order } } }
        return all.filter { orders.contains($0.orderNumber ?? "") }
    }
}
