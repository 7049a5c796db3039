import Foundation
import KassaStage
import Testing

@testable import KassaClient

/// The client on bad days: what it repeats, what it refuses to read, and how it ends.
@Suite struct HTTPTests {
    @Test func examplesOfTheInterfaceAreRead() async throws {
        #expect(checkouts.count > 3)
        for (name, example) in checkouts {
            let value = JSON.object(example.object.merging(["mood": "of a newer server", "state": "of a newer server"]) { $1 })
            let it = try Loopback([answer(value)])
            let checkout = try await it.client.checkout("co_1")
            #expect(checkout.id == value["id"].text && checkout.amount == 390 && checkout.state == "of a newer server", "\(name)")
            #expect(Int(checkout.openedAt.timeIntervalSince1970 * 1000) == value["opened_at_ms"].whole)
            #expect(checkout.payments.map(\.id) == value["payments"].array?.map { $0["id"].text })
            // Whoever knows the page can pay there.
            let page = try #require(value["page_url"].string)
            #expect(checkout.pageURL == page && !everyForm(of: checkout).contains(page))
        }
    }

    @Test func whatMayPassIsRepeated() async throws {
        let it = try Loopback { number in
            switch number {
            case 1: response(502, "<html>")
            case 2: nil
            case 3: response(429, "{}", ["Retry-After": "0"])
            case 4: ["raw": "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{", "then": "close"]
            default: answer(checkouts["open"]!, 201)
            }
        }
        let checkout = try await it.client.openCheckout(
            "order-17", amount: Decimal(100), description: "Honey", returnURL: "https://s.kg", methods: ["qr"], lifetime: .seconds(90),
            metadata: ["a": "b"])
        #expect(checkout.pageURL == checkouts["open"]!["page_url"].string)
        let requests = it.server.received
        #expect(requests.count == 5 && Set(requests.map(\.body)).count == 1)
        #expect(requests.allSatisfy { $0.method == "POST" && $0.target == "/v1/checkouts" })
        #expect(requests.allSatisfy { $0.headers["authorization"] == "Bearer \(key)" })
        let sent = try JSON(parsing: Data(requests[0].body.utf8))
        #expect(
            sent == [
                "reference": "order-17", "amount": "100", "description": "Honey", "return_url": "https://s.kg", "methods": ["qr"],
                "lifetime_s": JSON(90), "metadata": ["a": "b"],
            ])
    }

    @Test func attemptsAreCounted() async throws {
        let calls: [@Sendable (KassaClient) async throws -> Void] = [
            { _ = try await $0.openCheckout("order-17", amount: 390, description: "Honey", returnURL: "https://s.kg") },
            { _ = try await $0.checkout("co_1") }, { try await $0.cancel("co_1") }, { try await $0.check("co_1") },
            { _ = try await $0.newToken("co_1") }, { try await $0.revokeTokens("co_1") }, { try await $0.replayEvents() },
        ]
        for call in calls {
            let it = try Loopback([problem(503, "unavailable")])
            let error = await failure { try await call(it.client) }
            guard case .unavailable(let detail, 503, nil)? = error else { throw Problem("\(String(describing: error))") }
            #expect(detail.contains("answered HTTP 503") && it.server.received.count == 8)
        }
        // A person's decision is sent once, whatever becomes of it.
        for response in [problem(503, "unavailable"), nil] {
            let it = try Loopback { number in number == 1 ? answer(checkouts["open"]!) : response }
            // Its connection stays open.
            _ = try await it.client.checkout("co_1")
            let error = await failure { _ = try await it.client.resolvePayment("pay_1", .notCharged, reason: "seen", by: "Aida") }
            #expect(error?.isTemporary == true && it.server.received.count == 2)
            #expect(it.server.received.last?.body == #"{"by":"Aida","outcome":"not_charged","reason":"seen"}"#)
        }
    }

    @Test func longRetryAfterIsReportedAtOnce() async throws {
        let seconds = Int(patience) + 60
        let it = try Loopback([response(429, "{}", ["Retry-After": JSON("\(seconds)")])])
        let error = await failure { _ = try await it.client.checkout("co_1") }
        guard case .unavailable(let detail, 429, Duration.seconds(seconds))? = error else { throw Problem("\(String(describing: error))") }
        #expect(detail.contains("it asks to wait \(seconds) s") && it.server.received.count == 1)
    }

    @Test func nobodyListens() async throws {
        let it = try Loopback([])
        it.server.stop()
        let error = await failure { _ = try await it.client.checkout("co_1") }
        guard case .unavailable(let detail, nil, nil)? = error else { throw Problem("\(String(describing: error))") }
        #expect(detail.contains("could not be reached") || detail.contains("closed the connection"))
    }

    @Test(arguments: [
        (400, "invalid"), (401, "unauthorized"), (404, "not_found"), (409, "not_open"), (410, "history_gone"), (422, "reference_used"),
    ]) func refusalsAreErrors(_ status: Int, _ kind: String) async throws {
        let violation: JSON = ["field": "amount", "rule": "amount", "text": "must be a number"]
        let it = try Loopback([
            problem(status, kind, ["detail": "Why.", "state": "paid", "violations": [violation], "next": "7.a.b"])
        ])
        let error = try #require(await failure { try await it.client.cancel("co_1") })
        let problem = try #require(error.problem)
        switch (status, error) {
        case (400, .refused), (401, .wrongKey), (404, .notFound), (409, .conflict), (422, .conflict): break
        case (410, .historyGone(_, next: "7.a.b")): break
        default: Issue.record("\(error)")
        }
        #expect(problem.httpStatus == status && problem.kind == kind && problem.detail == "Why." && problem.state == "paid")
        #expect(problem.violations.map(\.field) == ["amount"])
        #expect("\(error)".hasPrefix("HTTP \(status) (\(kind)): Why. Its state is paid. amount: must be a number"))
        #expect(error.localizedDescription == "\(error)" && it.server.received.count == 1 && !error.isTemporary)
    }

    @Test func whatIsNotFoundIsNil() async throws {
        let it = try Loopback([
            problem(404, "not_found", ["detail": "There is no such checkout."]), response(404, "<html>Welcome to nginx"),
            problem(404, "not_found"),
        ])
        #expect(try await it.client.findCheckout(reference: "order 17/ы") == nil)
        #expect(it.server.received[0].target == "/v1/checkouts?reference=order%2017%2F%D1%8B")
        // Another program's 404 says nothing about checkouts, and neither does that of a path that the server does not know.
        let other = await failure { _ = try await it.client.findCheckout(reference: "order-17") }
        guard case .badResponse(_, 404, let text)? = other else { throw Problem("\(String(describing: other))") }
        #expect(text == "<html>Welcome to nginx")
        let path = await failure { _ = try await it.client.findCheckout(reference: "order-17") }
        guard case .notFound? = path else { throw Problem("\(String(describing: path))") }
    }

    @Test func failureOfTheServerLeavesTheOutcomeOpen() async throws {
        let it = try Loopback([problem(500, "internal", ["detail": "Why."]), problem(410, "history_gone")])
        let error = await failure { try await it.client.cancel("co_1") }
        guard case .unavailable(let detail, 500, nil)? = error else { throw Problem("\(String(describing: error))") }
        #expect(detail.contains("answered HTTP 500: Why.") && it.server.received.count == 1)
        let odd = await failure { _ = try await it.client.page(after: "9.a.b") }
        #expect("\(odd!)".contains("next is missing"))
    }

    @Test func oddAnswersAreNamedAndShowNoSecret() async throws {
        let open = checkouts["open"]!
        func changed(_ members: [String: JSON]) -> JSON { answer(.object(open.object.merging(members) { $1 })) }
        let cases: [(JSON, String)] = [
            (response(200, "<html>\(key) ct_abc whsec_abc= https://a.kg/pay/abc</html>"), "it is not JSON"),
            (response(200, String(repeating: "[", count: 100_000)), "it is not JSON"),
            (answer([]), "the response must be a JSON object"),
            (answer(["id": JSON(key)]), "reference is missing"),
            (changed(["amount": JSON(390)]), "amount must be a string"),
            (changed(["amount": "NaN"]), "amount must be a decimal number"),
            (changed(["amount": "12,50"]), "amount must be a decimal number"),
            (changed(["version": .bool(true)]), "version must be an integer"),
            (changed(["payments": [["id": "pay_1"]]]), "payments[0].number is missing"),
            (response(302, "", ["Location": JSON("https://evil.example/\(key)")]), "redirects to 'https://evil.example/***'"),
            (response(303, "", ["Location": "/login"]), "redirects to '/login'"),
            (answer(["type": "about:blank", "title": "No"], 404), "did not answer as kassa-server does"),
            (answer(["type": "urn:kassa:problem:invalid"], 400), "did not answer as kassa-server does"),
            (response(401, "Who?", ["WWW-Authenticate": "Basic realm=\"x\""]), "did not answer as kassa-server does"),
            (problem(409, "not_open", ["detail": JSON("It is \(key).")]), "It is ***."),
            (["raw": JSON("Authorization: Bearer \(key)\r\n\r\n"), "then": "close"], "127.0.0.1"),
        ]
        for (answered, says) in cases {
            let it = try Loopback([answered])
            let error = try #require(await failure { _ = try await it.client.checkout("co_1") }, "\(says)")
            #expect("\(error)".contains(says), "\(error)")
            for secret in [key, "ct_abc", "whsec_abc", "pay/abc"] { #expect(!everyForm(of: error).contains(secret), "\(error)") }
            if case .badResponse(_, _, let text) = error { #expect(text.count <= 200 && it.server.received.count == 1) }
        }
    }

    @Test func callEndsInTime() async throws {
        for silent in [["then": "silence"], ["raw": "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{", "then": "silence"]] as [JSON] {
            let it = try Loopback([silent], timeout: .milliseconds(300))
            let error = await failure { _ = try await it.client.checkout("co_1") }
            #expect("\(error!)".contains("did not answer within 0.3 seconds"), "\(error!)")
        }
    }

    @Test func cancelledTaskEndsItsCall() async throws {
        let it = try Loopback([["then": "silence"]])
        let waiting = Task { try await it.client.waitForChange("co_1", afterVersion: 7, wait: .seconds(3600)) }
        #expect(await it.server.waitForRequests(1))
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        #expect(it.server.received.map(\.target) == ["/v1/checkouts/co_1?after=7&wait=60"])
    }

    @Test func closeEndsWhatWaits() async throws {
        let it = try Loopback([["then": "silence"]])
        let waiting = Task { await failure { _ = try await it.client.checkout("co_1") } }
        #expect(await it.server.waitForRequests(1))
        it.client.close()
        #expect(await waiting.value == .closed)
        #expect(await failure { _ = try await it.client.checkout("co_1") } == .closed)
        #expect(it.client.isClosed)
    }

    @Test func manyTasksUseOneClient() async throws {
        let it = try Loopback([answer(checkouts["open"]!)])
        let ids = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<100 { group.addTask { try await it.client.checkout("co_1").id } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(ids.count == 100 && Set(ids) == [checkouts["open"]!["id"].text] && it.server.received.count == 100)
    }

    @Test func historyIsFollowed() async throws {
        let data: JSON = [
            "checkout": "co_1", "reference": "order-17", "amount": "390", "currency": "KGS", "checkout_state": "paid",
            "version": JSON(1), "number": JSON(1),
        ]
        let event: JSON = ["id": "evt_1", "type": "checkout.paid", "timestamp_ms": JSON(1), "data": data]
        func page(_ cursor: String) -> JSON {
            answer(["events": [["cursor": JSON(cursor), "event": event]], "next": JSON(cursor)])
        }
        let down = (1...8).map { _ in problem(503, "unavailable") } + [problem(500, "internal"), response(500, "<html>")]
        let end = answer(["events": [], "next": "2.a.b"])
        let it = try Loopback([page("1.a.b")] + down + [page("2.a.b"), end])
        let failures = Failures()
        let following = Task { [client = it.client] in
            var cursors: [String] = []
            for try await each in client.events(limit: 7, follow: true, interval: .milliseconds(1), onFailure: failures.add) {
                cursors.append(each.cursor)
                if cursors.count == 2 { break }
            }
            return cursors
        }
        #expect(try await following.value == ["1.a.b", "2.a.b"])
        #expect(failures.texts.count == 3 && failures.texts[0].contains("answered HTTP 503"))
        let targets = it.server.received.map(\.target)
        #expect(targets.prefix(2) == ["/v1/events?after=0&limit=7", "/v1/events?after=1.a.b&limit=7"])
        var rest: [String] = []
        for try await each in it.client.events(after: "2.a.b") { rest.append(each.cursor) }
        #expect(rest == [])
    }

    @Test func closeAndCancellationEndAPauseOfTheHistory() async throws {
        for isClosed in [true, false] {
            let it = try Loopback([answer(["events": [], "next": "0"])])
            let following = Task { [client = it.client] in
                for try await _ in client.events(follow: true, interval: .seconds(24 * 3600)) {}
            }
            #expect(await it.server.waitForRequests(1))
            if isClosed { it.client.close() } else { following.cancel() }
            let result = await following.result
            if isClosed { try result.get() } else { #expect(throws: CancellationError.self) { try result.get() } }
        }
    }

    @Test func lostHistoryNamesTheCursor() async throws {
        let it = try Loopback([problem(410, "history_gone", ["next": "5.a.b"])])
        let error = await failure { for try await _ in it.client.events(after: "9.a.b", follow: true) {} }
        guard case .historyGone(_, next: "5.a.b")? = error else { throw Problem("\(String(describing: error))") }
        #expect("\(error!)".contains("Read on from the cursor '5.a.b'"))
    }
}

/// What happened to reading, in order.
private final class Failures: @unchecked Sendable {
    private let lock = NSLock()
    private var all: [String] = []

    var texts: [String] { lock.withLock { all } }

    @Sendable func add(_ error: KassaClientError) { lock.withLock { all.append("\(error)") } }
}
