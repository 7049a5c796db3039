import Foundation
import Kassa
import KassaSandbox
import Testing

/// The fixtures for tests in one line.
@Suite struct FixtureTests {
    @Test func testHasASandboxOfItsOwn() async throws {
        let (process, dialect) = try await withSandbox(.init(switches: .init(actsAs: .finipay))) { sandbox in
            let environment = try await sandbox.environment()
            #expect(environment["KASSA_URL"] == sandbox.baseURL && environment["KASSA_LOGIN"] == sandbox.login)
            #expect(environment["KASSA_PASSWORD"] == sandbox.password)
            let dialect = try #require(environment["KASSA_DIALECT"])
            #expect(try String(contentsOfFile: dialect, encoding: .utf8) == Sandbox.DialectName.finipay.json)
            return (try #require(await sandbox.processID), dialect)
        }
        #expect(kill(process, 0) != 0 && !FileManager.default.fileExists(atPath: dialect))
    }

    @Test func testThatFailsStopsItsSandbox() async throws {
        struct Failed: Error {}
        var process: Int32?
        await #expect(throws: Failed.self) {
            try await withSandbox { sandbox in
                process = await sandbox.processID
                throw Failed()
            }
        }
        #expect(try kill(#require(process), 0) != 0)
    }

    @Test func payFormIsPaidAsItsPayerWould() async throws {
        try await withSandbox { sandbox in
            let form = PayForm(
                amount: 250, serviceName: "Honey", callbackURL: "http://127.0.0.1:9/callback", returnURL: "http://127.0.0.1:9/paid")
            let page = try await Shop(sandbox).gateway.createPayForm(form).payFormURL.absoluteString
            #expect(try await sandbox.payByForm(page)?.hasPrefix("http://127.0.0.1:9/paid?") == true)
            #expect(try await sandbox.ledger().map(\.timesCharged) == [1])
            let again = await refusal { try await sandbox.payByForm(page) }
            guard case .notPayable? = again else { throw again ?? SandboxError.notPayable(detail: "it was paid twice") }
            let strange = await refusal { try await sandbox.payByForm("https://pay.example.kg/form/1") }
            #expect(strange == .notPayable(detail: "this is no page of the sandbox"))
        }
    }
}
