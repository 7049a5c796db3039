import Foundation
import Kassa
import KassaStage
import Testing

/// Calls to the core and their completions: cancellation at any moment, values of any length.
@Suite struct CallTests {
    @Test func taskThatIsCancelledAtAnyMomentEndsOnce() async throws {
        let gateway = try FakeGateway().gateway
        let payment = MbankPayment(orderNumber: "order-1", phone: "996555000101", amountSom: 100, comment: "tea")
        _ = try await gateway.createMbankPayment(payment)
        let ends = await withTaskGroup(of: Bool?.self) { group in
            for number in 0..<2000 {
                group.addTask {
                    let asking = Task { try await gateway.providerStatus("order-1", provider: .mbank) }
                    // Cancels before the call begins, during it, and after it.
                    for _ in 0..<number % 50 { await Task.yield() }
                    asking.cancel()
                    switch await asking.result {
                    case .success: return true
                    case .failure(let error): return error is CancellationError ? nil : false
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(ends.count == 2000 && !ends.contains(false))
        #expect(try await gateway.providerStatus("order-1", provider: .mbank).status != .charged)
    }

    /// Completions are taken for many tasks at once, so that some are cancelled between that and their turn.
    @Test func taskThatIsCancelledAtAnyMomentLosesNoReport() async throws {
        let fake = try FakeGateway()
        let payment = MbankPayment(orderNumber: "order-1", phone: "996555000101", amountSom: 100, comment: "tea")
        let created = try await fake.gateway.createMbankPayment(payment)
        _ = try fake.charge("order-1")
        let lost = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<5000 {
                let watch = try fake.gateway.watch(created.payment)
                group.addTask {
                    let asking = Task { try await watch.next() }
                    for _ in 0..<number % 50 { await Task.yield() }
                    asking.cancel()
                    let isReceived = (try? await asking.value) != nil
                    guard case .status(.charged)? = try await watch.next() else { return !isReceived }
                    return isReceived
                }
            }
            return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(lost == 0, "lost, or received twice")
    }

    /// The memory for completions holds many of the short ones, one of the longer ones, and only the address of the longest.
    @Test(arguments: [100, 3000, 4000, 5000, 200_000]) func answersOfEveryLengthComeWhole(_ length: Int) async throws {
        let it = try Loopback(
            Responses.envelope("200", ["status": "CHARGE", "padding": .string(String(repeating: "x", count: length))]))
        let reports = try await withThrowingTaskGroup(of: StatusReport.self) { group in
            for number in 0..<20 {
                group.addTask { try await it.gateway.providerStatus("order-\(number)", provider: .cards) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(reports.count == 20)
        #expect(reports.allSatisfy { $0.status == .charged && $0.raw.utf8.count > length && $0.raw.hasSuffix("\"}}") })
        await it.gateway.close()
    }

    @Test func longErrorComesWhole() async throws {
        let body: JSON = ["code": "05", "message": "no", "padding": .string(String(repeating: "x", count: 10_000))]
        let it = try Loopback(Responses.response(400, body.description))
        await #expect {
            try await it.gateway.providerStatus("order-1", provider: .cards)
        } throws: {
            guard case .refused(400, "05", "no", let said)? = $0 as? PaymentError else { return false }
            return said == body.description
        }
        await it.gateway.close()
    }

    @Test func cancelledTaskClosesAndHearsThatNothingIsLeft() async throws {
        let gateway = try FakeGateway().gateway
        let closing = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await gateway.close(within: .seconds(3600))
        }
        #expect(await closing.value)
        await #expect(throws: PaymentError.self) { try await gateway.qrStatus("t-1") }
    }

    @Test func cancelledTaskFinishesAnEntry() async throws {
        let home = JournalFolder()
        let fake = try FakeGateway()
        let gateway = try fake.gateway.withJournal(home.open())
        let payment = MbankPayment(orderNumber: "order-1", phone: "996555000101", amountSom: 100, comment: "tea")
        _ = try await gateway.createMbankPayment(payment)
        let id = try #require(try await gateway.journal?.entry(payment.paymentRef())).id
        let finishing = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await gateway.finish(id)
        }
        try await finishing.value
        #expect(try await gateway.journal?.entry(payment.paymentRef())?.isFinished == true)
    }
}
