import Foundation
import KassaSandbox
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// What people do with it: they play the payer, listen for callbacks, interrupt it; and what others send to its port.
@Suite struct PeopleTests {
    @Test func aPersonFinishesAllFourPayments() async throws {
        let program = try Shop.embedded().start("all", "--interactive")
        let page = try await program.url(after: "payer     open")
        #expect(try await post(page, "otp=123456") == 303)

        _ = try await program.line(with: "type the one-time password")
        try program.type("101101")

        let form = try await program.url(after: "payer     open")
        #expect(try await post(form, "provider=MBank&phone=996555000101") == 303)
        #expect(try await post(form.replacing("/pay-form?", with: "/wallet?"), "otp=101101") == 303)

        let code = try await program.url(after: "payer     open")
        #expect(try await post(code, "action=approve") == 200)
        let run = try await program.end()
        #expect(run.code == 0 && run.output.contains("All four payments ended as expected"), "\(run)")
    }

    @Test func callbacksAreListenedForAndDuplicatesSeen() async throws {
        let gateway = try await startSandbox()
        let shop = try Shop.at(gateway)
        var bodies: [String] = []
        for order in ["HEARD-1", "HEARD-2"] {
            #expect(try await shop.run("card", "--order-number", order, "--pan", cardAtOnce).code == 0)
            bodies.append(try await callbackBody(of: gateway, order))
        }
        let program = try shop.start("callback", "--count", "2", "--deadline", "60")
        let url = try await program.url(after: "Callbacks at")
        #expect(try await post(url, "{}") == 400)
        for tooMuch in [70_000, 4_000_000] {
            #expect(try await post(url, String(repeating: " ", count: tooMuch)) == 413)
        }
        #expect(try await post(url, bodies[0]) == 200)
        _ = try await program.line(with: "HEARD-1 charged, amount 100.10 KGS; asked, the gateway says: charged")
        #expect(try await post(url, bodies[0].replacing(",", with: ", ")) == 200)
        _ = try await program.line(with: "HEARD-1: the same once more")
        #expect(try await post(url, bodies[1]) == 200)
        #expect(try await program.end().code == 0)
        await gateway.stop()
    }

    @Test func anOrderThatPaidOncePaysForNothingElse() async throws {
        let gateway = try await startSandbox()
        let shop = try Shop.at(gateway)
        #expect(try await shop.run("pay-form").code == 0)
        let paid = try await callbackBody(of: gateway)
        let program = try shop.start("pay-form", "--interactive", "--deadline", "60")
        let callbacks = try await program.url(after: "Callbacks at")
        let reference = try #require(try await program.line(with: "our reference").split(separator: " ").last)
        let page = try await program.url(after: "payer     open")
        #expect(try await post("\(callbacks)?ref=\(reference)", paid) == 200)
        _ = try await program.line(with: "pays for another payment already")

        #expect(try await post(page, "provider=MBank&phone=996555000101") == 303)
        #expect(try await post(page.replacing("/pay-form?", with: "/wallet?"), "otp=101101") == 303)
        let run = try await program.end()
        #expect(run.code == 0, "\(run)")
        let orders = try await gateway.ledger().map(\.orderNumber)
        let stored = try shop.payments().map { $0[0] }
        #expect(stored[0].contains(orders[0]) && stored[1].contains(orders[1]), "\(stored)")
        await gateway.stop()
    }

    @Test func aReturnTellsTheNumberWhereNoCallbackComes() async throws {
        let gateway = try await startSandbox()
        try await gateway.faults.add(.callbackLost)
        let shop = try Shop.at(gateway)
        // The robot's browser follows the page back to the shop.
        let run = try await shop.run("pay-form", "--deadline", "60", "--callback-wait", "1ms")
        #expect(run.code == 0 && run.output.contains("return    asked, the gateway says: charged"), "\(run)")
        #expect(try shop.payments()[0][0].contains("claimed=yes"))
        await gateway.stop()
    }

    @Test func aCallbackThatTheGatewayDoesNotConfirmIsNotAsExpected() async throws {
        let gateway = try await startSandbox()
        let shop = try Shop.at(gateway)
        #expect(try await shop.run("mbank", "--order-number", "OPEN-1", "--no-wait").code == 0)
        for (order, amount, code) in [("NONE", 250, Int32(3)), ("OPEN-1", 250, 3), ("OPEN-1", 1, 1)] {
            let program = try shop.start("callback", "--count", "1")
            let url = try await program.url(after: "Callbacks at")
            let body =
                #"{"orderNumber": "\#(order)", "amount": \#(amount), "status": "CHARGE", "dateCreated": "2026-01-31T23:59:59", "#
                + #""provider": "MBank"}"#
            #expect(try await post(url, body) == 200)
            let run = try await program.end()
            #expect(run.code == code, "\(run)")
        }
        let nothingCame = try await shop.run("callback", "--count", "1", "--deadline", "50ms")
        #expect(nothingCame.code == 1)
        await gateway.stop()
    }

    @Test func whatWasPaidIsToldAlthoughALaterPaymentCannotBegin() async throws {
        let shop = try Shop.embedded()
        let program = try shop.start("all", "--interactive")
        let page = try await program.url(after: "payer     open")
        #expect(try await post(page, "otp=123456") == 303)
        _ = try await program.line(with: "type the one-time password")
        try "not JSON".write(to: shop.state, atomically: true, encoding: .utf8)
        try program.type("101101")
        for words in ["error     State: the state file", "│ card", "│ mbank"] { _ = try await program.line(with: words) }
        let run = try await program.end()
        #expect(run.code == 1 && run.output.contains("Not every payment ended as expected"), "\(run)")
    }

    @Test func aCallbackThatCouldNotBeCheckedIsCheckedAgain() async throws {
        let gateway = try await startSandbox()
        let shop = try Shop.at(gateway)
        let program = try shop.start("pay-form", "--interactive", "--deadline", "60")
        let page = try await program.url(after: "payer     open")
        let busy = try await gateway.faults.add(.unavailable, endpoint: .getStatus)
        #expect(try await post(page, "provider=MBank&phone=996555000101") == 303)
        #expect(try await post(page.replacing("/pay-form?", with: "/wallet?"), "otp=101101") == 303)
        _ = try await program.line(with: "the gateway could not be asked (Unavailable")
        try await busy.remove()
        _ = try await program.line(with: "asked, the gateway says: charged")
        #expect(try await program.end().code == 0)
        #expect(try await callbackBodies(of: gateway).count == 1, "the gateway sent it once")
        await gateway.stop()
    }

    @Test func listeningThatIsInterruptedEndsWithWhatCameIn() async throws {
        let gateway = try await startSandbox()
        let shop = try Shop.at(gateway)
        #expect(try await shop.run("card", "--order-number", "HEARD-3", "--pan", cardAtOnce).code == 0)
        let program = try shop.start("callback")
        let url = try await program.url(after: "Callbacks at")
        #expect(try await post(url, callbackBody(of: gateway)) == 200)
        _ = try await program.line(with: "HEARD-3 charged")
        #expect(kill(program.processID, SIGINT) == 0)
        #expect(try await program.end().code == 0)
        await gateway.stop()
    }
}

/// Posts a body and says what HTTP status came back, without following a redirect; nil where nobody answers.
func post(_ url: String, _ body: String) async throws -> Int? {
    var request = URLRequest(url: try #require(URL(string: url)))
    request.httpMethod = "POST"
    request.httpBody = Data(body.utf8)
    let session = URLSession(configuration: .ephemeral, delegate: NoRedirects(), delegateQueue: nil)
    defer { session.finishTasksAndInvalidate() }
    guard let answer = try? await session.data(for: request).1 as? HTTPURLResponse else { return nil }
    return answer.statusCode
}

private final class NoRedirects: NSObject, URLSessionTaskDelegate, Sendable {
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }
}
