import Foundation
import KassaStage

@testable import KassaClient

let key = "ak_0123_the-key-of-the-tests"

/// The interface's examples of a checkout, by their names.
let checkouts: [String: JSON] = {
    let description = try! JSON(parsing: Data(contentsOf: repository.appending(path: "docs/interfaces/server.json")))
    let response = description["paths"]["/v1/checkouts/{checkout}"]["get"]["responses"]["200"]
    return response["content"]["application/json"]["examples"].object.mapValues { $0["value"] }
}()

/// A client before a scripted server. Its pauses are short.
struct Loopback {
    let server: Server
    let client: KassaClient

    init(_ responses: [JSON], timeout: Duration = .seconds(patience)) throws {
        try self.init(Server(responses), timeout)
    }

    /// Answers by the number of the request, from 1; without an answer the connection ends.
    init(_ respond: @escaping @Sendable (Int) -> JSON?) throws {
        try self.init(Server { _, number in respond(number) }, .seconds(patience))
    }

    private init(_ server: Server, _ timeout: Duration) throws {
        self.server = server
        let backoff = Backoff(first: .milliseconds(1), longest: .milliseconds(10))
        client = try KassaClient(
            url: server.url, apiKey: key, timeout: timeout, plainHTTPHosts: [], backoff: backoff, environment: withoutProxy)
    }
}

/// The environment, in which no proxy is between a test and its server.
let withoutProxy: [String: String] = {
    setenv("no_proxy", "127.0.0.1", 1)
    return ProcessInfo.processInfo.environment
}()

func response(_ status: Int, _ body: String, _ headers: JSON = [:]) -> JSON {
    ["status": JSON(status), "body": .string(body), "headers": headers]
}

func answer(_ body: JSON, _ status: Int = 200) -> JSON { response(status, body.description) }

func problem(_ status: Int, _ kind: String, _ members: JSON = [:]) -> JSON {
    let body: JSON = ["type": JSON("urn:kassa:problem:\(kind)"), "title": "No.", "status": JSON(status)]
    return answer(.object(body.object.merging(members.object) { $1 }), status)
}

/// What a call threw, if it is one of this package's errors.
func failure(_ call: () async throws -> Void) async -> KassaClientError? {
    do {
        try await call()
        return nil
    } catch {
        return error as? KassaClientError
    }
}

/// All that printing shows of a value.
func everyForm(of value: some Any) -> String {
    var dumped = ""
    dump(value, to: &dumped)
    return "\(value) \(String(reflecting: value)) \(dumped)"
}
