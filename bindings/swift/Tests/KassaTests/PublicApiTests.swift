import Foundation
import Kassa
import KassaStage
import Testing

/// What only the users of the package would miss: names that nothing else here needs.
@Suite struct PublicApiTests {
    @Test func gatewayNeedsNoMoreThanAnAddressAndCredentials() async throws {
        let server = Server([Responses.charged])
        let gateway = try Gateway(baseURL: server.url, credentials: Credentials(login: "shop", password: "swordfish-77"))
        #expect(try await gateway.qrStatus("t-1").status == .charged)
        let login = Data("shop:swordfish-77".utf8).base64EncodedString()
        #expect(server.received.map { $0.headers["authorization"] } == ["Basic \(login)"])
        await gateway.close()
        #expect {
            try Gateway(baseURL: "pay.example.kg", credentials: Credentials(login: "shop", password: "swordfish-77"))
        } throws: { ($0 as? PaymentError)?.kind == "Misconfigured" }
    }

    @Test func environmentSaysWhereTheGatewayIs() throws {
        let names = [
            "KASSA_URL", "KASSA_LOGIN", "KASSA_PASSWORD", "KASSA_PROXY", "KASSA_PLAIN_HTTP_HOSTS", "KASSA_DIALECT", "KASSA_ROOT_CERTIFICATES",
        ]
        defer { names.forEach { unsetenv($0) } }
        for (name, value) in zip(names, ["https://pay.example.kg", "shop", "swordfish-77", "environment", "sandbox, bank"]) {
            setenv(name, value, 1)
        }
        let config = try GatewayConfig.fromEnvironment()
        #expect(config.baseURL == "https://pay.example.kg" && config.proxy.description == "Proxy(environment)")
        #expect(config.plainHTTPHosts == ["sandbox", "bank"])
        #expect(!config.description.contains("swordfish-77"))
        _ = try Gateway(config)
        setenv("KASSA_PROXY", "swordfish-77", 1)
        unsetenv("KASSA_LOGIN")
        #expect {
            try GatewayConfig.fromEnvironment()
        } throws: {
            let text = "\($0)"
            return ["KASSA_LOGIN must be set", "KASSA_PROXY"].allSatisfy(text.contains) && !text.contains("swordfish-77")
        }
    }

    @Test func callbackMadeByHandIsTheOneThatWouldHaveCome() throws {
        let came = try callback(amount: try Decimal(exactly: "100.10"))
        let made = Callback(
            orderNumber: "order-1", amount: try Decimal(exactly: "100.10"), currency: "KGS", status: .charged,
            dateCreated: LocalDateTime("2026-11-20T09:05:07.25"), dateCreatedText: "2026-11-20T09:05:07.25",
            provider: .cards, raw: came.raw)
        #expect(made == came)
        #expect(try made.dedupKey() == came.dedupKey())
        #expect(try made.paymentRef()?.isClaimed == true && made.paymentRef()?.amount == nil)
        let qr = Callback(
            orderNumber: "order-1", amount: 1, status: .charged, dateCreatedText: "", requisite: "996700000001",
            provider: .mbank, raw: "{}")
        #expect(try qr.paymentRef() == nil && qr.dateCreated == nil && qr.currency == nil)
    }

    @Test func exampleOfTheLogCompiles() throws {
        try expectDocumented("KassaLog.swift", in: #filePath, indentation: 4)
    }
}

/// As it stands in the documentation of ``KassaLog``.
private func printTheWarnings() {
    KassaLog.send { event in
        if event.level == .error || event.level == .warning { print(event.text) }
    }
}

/// The first example in the documentation of a source stands in a test's file, line by line.
func expectDocumented(_ source: String, in file: String, indentation: Int, at location: SourceLocation = #_sourceLocation) throws {
    let test = URL(filePath: file)
    let documented = try String(contentsOf: test.appending(path: "../../../Sources/Kassa/\(source)").standardized, encoding: .utf8)
    let example = try #require(documented.firstMatch(of: #/```swift\n(.+?) *\/\/\/ ```/#.dotMatchesNewlines()), sourceLocation: location)
    let lines = example.1.split(separator: "\n").map { line in
        let text = line.trimmingPrefix(#/ *\/\/\/ ?/#)
        return text.isEmpty ? "" : String(repeating: " ", count: indentation) + text
    }
    #expect(try String(contentsOf: test, encoding: .utf8).contains(lines.joined(separator: "\n")), sourceLocation: location)
}
