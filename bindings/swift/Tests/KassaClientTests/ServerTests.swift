import Foundation
import KassaClient
import KassaSandbox
import KassaServerTesting
import KassaStage
import Testing

/// The client at the real server.
@Suite struct ServerTests {
    @Test func checkoutIsPaidAndItsEventsAreRead() async throws {
        let server = try await KassaServer.start()
        let client = try KassaClient(url: server.url, apiKey: server.apiKey)
        let opened = try await open("order-17", client)
        #expect(opened.state == "open" && opened.amount == Decimal(string: "390.5") && opened.metadata == ["cart": "7"])
        // The same reference is the same checkout; with other content it is a conflict.
        #expect(try await open("order-17", client).id == opened.id)
        await #expect {
            _ = try await client.openCheckout("order-17", amount: 1, description: "Honey", returnURL: "http://127.0.0.1:9/paid")
        } throws: {
            guard case .conflict(let problem)? = $0 as? KassaClientError else { return false }
            return problem.kind == "reference_used"
        }
        #expect(try await client.findCheckout(reference: "order-17")?.id == opened.id)
        #expect(try await client.findCheckout(reference: "order-18") == nil)

        let token = try await client.newToken(opened.id)
        let form = try await server.request(
            "POST", "/v1/checkout/payments", body: #"{"method": "pay_form"}"#, key: token.token, idempotencyKey: "1")
        let begun = try await client.checkout(opened.id)
        #expect(try JSON(parsing: form)["page_url"].string == begun.payments.first?.pageURL)
        try await server.payByForm(try #require(begun.payments.first?.pageURL))
        try await client.check(opened.id)

        var paid: KassaClient.EventAt?
        for try await each in client.events(follow: true, interval: .milliseconds(20)) where each.event.isPaid {
            paid = each
            break
        }
        #expect(paid?.event.reference == "order-17" && paid?.event.checkout == opened.id)
        let ended = try await client.waitForChange(opened.id, afterVersion: begun.version)
        #expect(ended.isPaid && ended.paidBy == ended.payments[0].id && ended.payments[0].state == "charged")
        await #expect(throws: KassaClientError.self) { try await client.cancel(opened.id) }
        await #expect(throws: KassaClientError.self) {
            _ = try await client.resolvePayment(ended.payments[0].id, .notCharged, reason: "seen", by: "Aida")
        }
        #expect(try await client.revokeTokens(opened.id) == 1)
        #expect(try await client.replayEvents() == 0)
        await server.stop()
    }

    @Test func refusalsNameTheFields() async throws {
        let server = try await KassaServer.start()
        let client = try KassaClient(url: server.url, apiKey: server.apiKey)
        do {
            _ = try await client.openCheckout("", amount: "a lot", description: "Honey", returnURL: "nowhere")
            Issue.record("it was not refused")
        } catch KassaClientError.refused(let problem) {
            #expect(problem.kind == "invalid" && Set(problem.violations.map(\.field)) == ["reference", "amount", "return_url"])
        }
        let stranger = try KassaClient(url: server.url, apiKey: "ak_wrong")
        await #expect {
            _ = try await stranger.checkout("co_1")
        } throws: {
            guard case .wrongKey? = $0 as? KassaClientError else { return false }
            return true
        }
        await #expect {
            _ = try await client.page(after: "nonsense")
        } throws: {
            ($0 as? KassaClientError)?.problem?.httpStatus == 400
        }
        // It was away, and is again where it was.
        await server.kill()
        let away = Task { try await open("order-1", client) }
        try await server.restart()
        #expect(try await away.value.reference == "order-1")
        await server.stop()
    }

    private func open(_ reference: String, _ client: KassaClient) async throws -> KassaClient.Checkout {
        try await client.openCheckout(
            reference, amount: "390.50", description: "Honey", returnURL: "http://127.0.0.1:9/paid", metadata: ["cart": "7"])
    }
}
