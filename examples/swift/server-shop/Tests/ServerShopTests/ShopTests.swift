import Foundation
import KassaClient
import KassaServerTesting
import ServerShop
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The shop with the real server, and with events that a test signs itself.
@Suite struct ShopTests {
    @Test func payerBuysAJarAndItIsDeliveredOnce() async throws {
        let (app, log) = try makeApplication()
        defer { app.stop() }
        try await withKassaServer(.init(eventsURL: "\(app.address)/events")) { server in
            let kassa = try KassaClient(url: server.url, apiKey: server.apiKey)
            let shop = Shop(kassa: kassa, eventsSecret: server.eventsSecret, address: app.address)
            shop.routes(app)
            app.start()

            #expect(try await send("GET", "\(app.address)/").text.contains("A jar of honey"))
            let bought = try await send("POST", "\(app.address)/buy")
            #expect(bought.status == 200 && bought.text.contains("A jar of honey"))

            // The payer is at the server's page, chooses the pay-form, and pays there.
            let reference = try #require(await shop.orders.states.keys.first)
            let opened = try #require(await kassa.findCheckout(reference: reference))
            #expect(opened.pageURL == bought.address)
            #expect(try await send("GET", opened.returnURL).text.contains("is not paid yet"))
            let token = try await kassa.newToken(opened.id).token
            _ = try await server.request(
                "POST", "/v1/checkout/payments", body: #"{"method": "pay_form"}"#, key: token, idempotencyKey: "1")
            try await server.payByForm(try #require(await kassa.checkout(opened.id).payments.first?.pageURL))
            try await kassa.check(opened.id)
            try await until { log.lines.contains("deliver \(opened.reference)") }

            // The same event comes again, and one after a restore of the server, with another identifier.
            for _ in 1...2 {
                let again = try KassaClient.signEvent(secret: server.eventsSecret, reference: opened.reference)
                #expect(try await send("POST", "\(app.address)/events", again.headers, again.body).status == 204)
            }
            #expect(log.lines.filter { $0.hasPrefix("deliver") }.count == 1)
            #expect(try await send("GET", opened.returnURL).text.contains("is delivered"))
        }
    }

    @Test func onlyWhatIsSignedIsBelieved() async throws {
        let (app, log) = try makeApplication()
        defer { app.stop() }
        let secret = "whsec_\(Data(repeating: 7, count: 32).base64EncodedString())"
        let shop = Shop(
            kassa: try KassaClient(url: "http://127.0.0.1:9", apiKey: "ak_1"), eventsSecret: secret, address: app.address)
        shop.routes(app)
        app.start()
        await shop.orders.add("order-17")
        let other = "whsec_\(Data(repeating: 8, count: 32).base64EncodedString())"
        func post(_ event: KassaClient.SignedEvent) async throws -> Int {
            try await send("POST", "\(app.address)/events", event.headers, event.body).status
        }
        #expect(try await post(KassaClient.signEvent(secret: other)) == 401)
        #expect(try await post(KassaClient.signEvent(secret: secret, now: Date(timeIntervalSinceNow: -3600))) == 401)
        #expect(try await post(KassaClient.signEvent(secret: secret, kind: "checkout.expired")) == 204)
        #expect(await shop.orders.states["order-17"] == "not paid yet")
        #expect(try await post(KassaClient.signEvent(secret: secret, reference: "order-18")) == 404)
        #expect(try await post(KassaClient.signEvent(secret: secret)) == 204)
        #expect(await shop.orders.states["order-17"] == "delivered")
        #expect(log.lines.filter { $0.hasPrefix("deliver") } == ["deliver order-17"])
        #expect(log.lines.filter { $0.hasPrefix("an event was refused") }.count == 2)
        #expect(try await send("GET", "\(app.address)/orders/order-99").status == 404)
    }
}
