import Foundation
import KassaStage
import Testing

@testable import KassaClient

/// The settings of a client, and what is printed of it.
@Suite struct SettingsTests {
    @Test(arguments: [
        ("", key, "url must begin with"), ("ftp://shop.kg", key, "url must begin with"), ("https://", key, "url must begin with"),
        ("https://shop.kg:99999", key, "url must be the server's address"), ("https://shop.kg:0", key, "url must be the server's"),
        ("https://me:secret@shop.kg", key, "url must have no user name"), ("https://shop.kg/?a=b", key, "url must have no"),
        ("https://shop.kg/a b", key, "without spaces"), ("https://pay..shop.kg", key, "url must be the server's address"),
        ("https://shop.kg/v1", key, "without /v1 at its end"), ("https://shop.kg/pay/v1/", key, "without /v1 at its end"),
        ("http://shop.kg", key, "plainHTTPHosts names"), ("http://127.0.0.1.shop.kg", key, "plainHTTPHosts names"),
        ("http://x.localhost", key, "plainHTTPHosts names"), ("HTTP://shop.kg", key, "plainHTTPHosts names"),
        ("https://shop.kg", "", "apiKey must not be empty"), ("https://shop.kg", key + "\n", "no spaces, line breaks"),
        ("https://shop.kg", "ключ", "no spaces, line breaks"),
    ]) func wrongSettingsAreNamed(_ url: String, _ apiKey: String, _ says: String) throws {
        let error = try #require(setting { try KassaClient(url: url, apiKey: apiKey) })
        #expect("\(error)".contains(says) && !"\(error)".contains("secret"))
        if !apiKey.isEmpty { #expect(!"\(error)".contains(apiKey.trimmingCharacters(in: .newlines))) }
    }

    @Test(arguments: [
        ("http://localhost:8080", "http://localhost:8080"), ("http://[::1]", "http://[::1]"), ("http://127.8.8.8/", "http://127.8.8.8"),
        ("http://Kassa:80", "http://kassa:80"), ("HTTPS://Shop.kg/pay/v10//", "https://shop.kg/pay/v10"),
    ]) func addressesThatAreRight(_ url: String, _ shown: String) throws {
        let client = try KassaClient(
            url: url, apiKey: key, timeout: .seconds(1), plainHTTPHosts: ["kassa"], backoff: Backoff(), environment: [:])
        #expect(client.url == shown && client.description == "KassaClient(\(shown))")
        #expect(!everyForm(of: client).contains(key))
    }

    @Test(arguments: [Duration.zero, .seconds(-1), .seconds(86_401)]) func timeoutIsATime(_ timeout: Duration) throws {
        let error = try #require(setting { try KassaClient(url: "https://shop.kg", apiKey: key, timeout: timeout) })
        #expect("\(error)".contains("timeout must be more than 0 s"))
    }

    @Test func environmentHasTheSettings() throws {
        var environment = ["KASSA_SERVER_URL": "http://kassa-server:8080"]
        func made() throws -> KassaClient { try KassaClient.fromEnvironment(environment, .seconds(1)) }
        #expect("\(setting { try made() }!)" == "KASSA_API_KEY is not set in the environment")
        environment["KASSA_API_KEY"] = key
        #expect("\(setting { try made() }!)".contains("plainHTTPHosts"))
        environment["KASSA_PLAIN_HTTP_HOSTS"] = "other, kassa-server"
        #expect(try made().url == "http://kassa-server:8080")
    }

    #if !canImport(Darwin)
        /// It would read the key.
        @Test func proxyForPlainHTTPIsRefused() throws {
            func make(_ environment: [String: String], _ url: String = "http://kassa.lan") throws -> KassaClient {
                try KassaClient(
                    url: url, apiKey: key, timeout: .seconds(1), plainHTTPHosts: ["kassa.lan"], backoff: Backoff(),
                    environment: environment)
            }
            for name in ["http_proxy", "all_proxy", "ALL_PROXY"] {
                let error = try #require(setting { try make([name: "http://proxy.lan:3128"]) })
                #expect("\(error)".contains("name kassa.lan in no_proxy"))
                for direct in ["*", "a.kg,kassa.lan", ".lan"] {
                    #expect(throws: Never.self) { try make([name: "http://proxy.lan:3128", "no_proxy": direct]) }
                }
            }
            #expect(throws: Never.self) { try make(["http_proxy": "http://proxy.lan:3128"], "https://kassa.lan") }
        }
    #endif

    @Test func tokenIsNotPrinted() throws {
        let token = try read(KassaClient.Token.self, from: Data(#"{"token":"ct_secret","lifetime_s":60}"#.utf8))
        #expect(token.token == "ct_secret" && token.lifetime == .seconds(60) && !everyForm(of: token).contains("ct_secret"))
    }

    private func setting(_ make: () throws -> KassaClient) -> KassaClientError? {
        do {
            _ = try make()
            return nil
        } catch {
            return error as? KassaClientError
        }
    }
}
