import Kassa
import KassaSandbox
import Testing

@Suite struct FaultTests {
    @Test func faultStrikesAsOftenAsItWasTold() async throws {
        let sandbox = try await Sandbox.start()
        let shop = try Shop(sandbox)
        let fault = try await sandbox.faults.add(.responseLost, orderNumber: "order-1", endpoint: .payment, times: 1)
        #expect(try await fault.struck == 0)
        try await shop.pay("order-2")
        do {
            try await shop.pay("order-1")
            Issue.record("the response was not lost")
        } catch let error as PaymentError {
            #expect(error.paymentMayExist)
        }
        #expect(try await fault.struck == 1)
        #expect(try await shop.status("order-1") == .charged)
        try await fault.remove()
        #expect(try await fault.struck == 1)
        #expect(try await sandbox.payment(orderNumber: "order-1").timesCharged == 1)
        #expect(try await sandbox.faults.list() == [])
        await sandbox.stop()
    }

    @Test func faultEndsWhenItIsRemoved() async throws {
        let sandbox = try await Sandbox.start()
        let shop = try Shop(sandbox)
        let fault = try await sandbox.faults.add(.retryAfter, retryAfter: .seconds(120))
        let other = try await sandbox.faults.add(.callbackLost, orderNumber: "order-9", probability: 0.5, seed: 7)
        let listed = try await sandbox.faults.list()
        #expect(listed.map(\.id) == [fault.id, other.id])
        #expect(listed.map(\.name) == [.retryAfter, .callbackLost])
        #expect(listed.map(\.probability).last == 0.5)
        let busy = await thrown { try await shop.pay("order-1") }
        // The SDK waits a minute at most.
        guard case .unavailable(_, retryAfter: .seconds(60), _, _, _) = busy else {
            Issue.record("\(String(describing: busy))")
            return
        }
        try await fault.remove()
        try await fault.remove()
        #expect(try await fault.struck == 1)
        try await shop.pay("order-1")
        try await sandbox.faults.clear()
        #expect(try await sandbox.faults.list() == [])
        try await other.remove()
        #expect(try await other.struck == 0)
        await sandbox.stop()
    }

    @Test func faultFromBeforeARestartEndsNoOther() async throws {
        let sandbox = try await Sandbox.start()
        let fault = try await sandbox.faults.add(.delay, orderNumber: "order-1", delay: .milliseconds(1))
        try await Shop(sandbox).pay("order-1")
        #expect(try await fault.struck == 1)
        try await sandbox.restart()
        try await sandbox.faults.add(.drip)
        try await fault.remove()
        #expect(try await fault.struck == 1)
        #expect(try await sandbox.faults.list().map(\.name) == [.drip])
        await sandbox.stop()
    }

    @Test func wrongFaultIsRefusedByItsField() async throws {
        let sandbox = try await Sandbox.start()
        let refused = await refusal { try await sandbox.faults.add(.delay, probability: 2) }
        guard case .refused(httpStatus: 400, _, let violations) = refused else {
            Issue.record("\(String(describing: refused))")
            return
        }
        #expect(violations.contains { $0.field == "probability" })
        for (delay, retryAfter, field) in [
            (Duration.microseconds(1500), nil, "delay"), (nil, Duration.milliseconds(1500), "retryAfter"),
            (Duration(secondsComponent: .max, attosecondsComponent: 0), nil, "delay"),
        ] {
            let invalid = await refusal { try await sandbox.faults.add(.delay, delay: delay, retryAfter: retryAfter) }
            guard case .invalid(field, _) = invalid else {
                Issue.record("\(String(describing: invalid))")
                return
            }
        }
        #expect(try await sandbox.faults.list() == [])
        await sandbox.stop()
    }

    @Test func sandboxKnowsEveryNameAndEndpoint() async throws {
        let sandbox = try await Sandbox.start()
        for name in Sandbox.FaultName.allCases { try await sandbox.faults.add(name) }
        for endpoint in Sandbox.Endpoint.allCases { try await sandbox.faults.add(.unavailable, endpoint: endpoint) }
        let listed = try await sandbox.faults.list()
        let (names, endpoints) = (Sandbox.FaultName.allCases.count, Sandbox.Endpoint.allCases.count)
        #expect(listed.prefix(names).map(\.name) == Sandbox.FaultName.allCases)
        #expect(listed.suffix(endpoints).map(\.endpoint) == Sandbox.Endpoint.allCases)
        await sandbox.stop()
    }
}

private func thrown<Answer>(_ call: () async throws -> Answer) async -> PaymentError? {
    do {
        _ = try await call()
        return nil
    } catch {
        return error as? PaymentError
    }
}
