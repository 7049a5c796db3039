import Foundation
import KassaSandbox
import KassaServerTesting
import Testing

@Suite struct KassaServerTests {
    @Test func payerPaysAndTheShopIsTold() async throws {
        let server = try await KassaServer.start()
        let back = try await server.payByForm(try await buy("order-1", server))
        #expect(back?.hasPrefix("http://127.0.0.1:9/paid?") == true)
        let paid = try await server.waitFor("checkout.paid", reference: "order-1", timeout: .seconds(patience))
        #expect(try await server.events(reference: "order-1").last == paid)
        let kinds = try await server.events().map(\.kind)
        #expect(kinds == ["payment.created", "payment.accepted", "payment.charged", "checkout.paid"])
        #expect(try await server.sandbox.ledger().map(\.timesCharged) == [1])
        let processes = [await server.processID, await server.sandbox.processID].compactMap { $0 }
        await server.stop()
        #expect(processes.count == 2)
        #expect(processes.allSatisfy { kill($0, 0) != 0 })
    }

    @Test func crashLosesNothing() async throws {
        let server = try await KassaServer.start()
        let page = try await buy("order-1", server)
        await server.kill()
        #expect(await !server.isRunning)
        await #expect(throws: KassaServerError.notRunning(detail: "the server does not answer")) { try await server.events() }
        // The payer goes on without the server.
        try await server.payByForm(page)
        try await server.restart()
        let id = try await text("id", server.request("GET", "/v1/checkouts?reference=order-1"))
        _ = try await server.request("POST", "/v1/checkouts/\(id)/check")
        #expect(try await server.waitFor("checkout.paid", timeout: .seconds(patience)).checkout == id)
        await server.stop()
    }

    @Test func sandboxThatRunsAlreadyIsTakenAndLeft() async throws {
        let sandbox = try await Sandbox.start(.init(switches: .init(actsAs: .other)))
        let server = try await KassaServer.start(.init(sandbox: sandbox))
        try await server.payByForm(try await buy("order-1", server))
        _ = try await server.waitFor("checkout.paid", timeout: .seconds(patience))
        await server.stop()
        #expect(try await sandbox.ledger().last?.isCharged == true)
        await sandbox.stop()
    }

    @Test func whatIsRefusedOrNeverHappensIsThrown() async throws {
        let server = try await KassaServer.start()
        #expect(try await server.payByForm(try await buy("order-1", server), phone: .megaPayDeclined) == nil)
        do {
            _ = try await server.waitFor("checkout.paid", timeout: .milliseconds(1))
            Issue.record("it was not paid")
        } catch KassaServerError.tooLate {}
        do {
            _ = try await server.request("POST", "/v1/checkouts", body: "{}")
            Issue.record("it was not refused")
        } catch KassaServerError.refused(let status, let problem) {
            #expect(status == 400)
            #expect(problem.contains("reference"))
        }
        await server.stop()
    }

    @Test func testHasAServerOfItsOwn() async throws {
        let processes = try await withKassaServer { server in
            #expect(server.environment["KASSA_SERVER_URL"] == server.url && server.environment["KASSA_API_KEY"] == server.apiKey)
            #expect(server.environment["KASSA_EVENTS_SECRET"] == server.eventsSecret)
            return [await server.processID, await server.sandbox.processID].compactMap { $0 }
        }
        #expect(processes.count == 2 && processes.allSatisfy { kill($0, 0) != 0 })
    }

    @Test func startThatFailsSaysWhy() async throws {
        do {
            _ = try await KassaServer.start(.init(others: ["token_lifetime": "a year"]))
            Issue.record("it started")
        } catch KassaServerError.notStarted(_, let exitCode, let log) {
            #expect(exitCode == 1)
            #expect(log.contains("token_lifetime"))
        }
    }
}

/// An order by pay-form; the address of its page.
private func buy(_ reference: String, _ server: KassaServer) async throws -> String {
    let back = "http://127.0.0.1:9/paid"
    let order = #"{"reference": "\#(reference)", "amount": "390", "description": "Honey", "return_url": "\#(back)"}"#
    let id = try await text("id", server.request("POST", "/v1/checkouts", body: order))
    let token = try await text("token", server.request("POST", "/v1/checkouts/\(id)/tokens"))
    let form = #"{"method": "pay_form"}"#
    return try await text(
        "page_url", server.request("POST", "/v1/checkout/payments", body: form, key: token, idempotencyKey: reference))
}

private func text(_ name: String, _ json: Data) throws -> String {
    let members = try JSONSerialization.jsonObject(with: json) as? [String: Any]
    return try #require(members?[name] as? String)
}
