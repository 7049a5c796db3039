import Foundation

@testable import KassaSandbox
import KassaStage

/// The sandbox of one vector: its own, or one that is shared, which a vector has for itself and leaves empty.
struct BorrowedSandbox {
    private let sandbox: Sandbox
    private let isShared: Bool

    var url: String { sandbox.baseURL }

    /// Nil where a vector has none. It has the login and the password of the vector's configuration, which are the same in all.
    init?(_ spec: JSON) async throws {
        guard let kind = spec["sandbox"].string else { return nil }
        isShared = kind == "shared"
        if isShared, let idle = await Idle.shared.take() {
            sandbox = idle
        } else {
            let config = spec["config"]
            // No callback is sent again because its receiver had to wait for a processor.
            let settings = Sandbox.Settings(
                login: config["login"].text, password: config["password"].text, callbackTimeout: .seconds(Int(patience)))
            sandbox = try await Sandbox.start(settings)
        }
    }

    func giveBack() async throws {
        guard isShared else { return await sandbox.stop() }
        try await sandbox.reset()
        await Idle.shared.put(sandbox)
    }

    static func stopAll() async {
        while let sandbox = await Idle.shared.take() { await sandbox.stop() }
    }

    /// A step that is the sandbox's, or its payer's; nil where the name is none of theirs.
    func step(_ name: String, _ input: JSON) async throws -> JSON? {
        switch name {
        case "set_fault":
            try await setFault(input)
            return .null
        case "clear_faults":
            try await sandbox.faults.clear()
            return .null
        case "approve":
            _ = try await sandbox.approve(input["number"].text)
            return .null
        case "decline":
            _ = try await sandbox.decline(input["number"].text)
            return .null
        case "post_form": return try await postForm(input)
        case "ledger": return .array(try await sandbox.ledger().map(ledgerLine))
        case "requests": return .array(try await onceThere(input) { try await sandbox.requests().map(requestLine) })
        case "callbacks": return .array(try await onceThere(input) { try await sandbox.callbacks().map(callbackLine) })
        default: return nil
        }
    }

    private func setFault(_ fault: JSON) async throws {
        let known: Set = ["name", "endpoint", "order_number", "times", "delay_ms"]
        guard let name = Sandbox.FaultName(rawValue: fault["name"].text), known.isSuperset(of: fault.object.keys) else {
            fatalError("not known: \(fault)")
        }
        try await sandbox.faults.add(
            name, orderNumber: fault["order_number"].string,
            endpoint: fault["endpoint"].string.map { Sandbox.Endpoint(rawValue: $0)! }, times: fault["times"].int,
            delay: fault["delay_ms"].int.map { .milliseconds($0) })
    }

    /// What the payer's browser does; no redirect is followed.
    private func postForm(_ input: JSON) async throws -> JSON {
        guard let port = URLComponents(string: url)?.port else { fatalError("no port: \(url)") }
        let unreserved = CharacterSet.alphanumerics.union(CharacterSet(charactersIn: "-._~"))
        let fields = input["fields"].object.map { name, value in
            "\(name)=\(value.text.addingPercentEncoding(withAllowedCharacters: unreserved)!)"
        }
        let answer = try await LoopbackHTTP.exchange(
            port: port, "POST \(input["page"].text)?token=\(input["token"].text)",
            headers: ["Content-Type: application/x-www-form-urlencoded"], body: Data(fields.joined(separator: "&").utf8))
        return JSON(answer.status)
    }

    private func ledgerLine(_ payment: Sandbox.Payment) -> JSON {
        [
            "order_number": .string(payment.orderNumber), "gateway_number": .string(payment.gatewayNumber),
            "transaction_id": JSON(payment.transactionID), "status": .string(payment.status.rawValue),
            "times_charged": JSON(payment.timesCharged),
        ]
    }

    private func requestLine(_ request: Sandbox.Request) -> JSON {
        [
            "endpoint": .string(request.endpoint.rawValue), "http_status": JSON(request.httpStatus),
            "fault": JSON(request.fault?.rawValue),
        ]
    }

    private func callbackLine(_ attempt: Sandbox.CallbackAttempt) -> JSON {
        ["http_status": JSON(attempt.httpStatus), "fault": JSON(attempt.fault?.rawValue)]
    }

    /// What is on record once there is as much as the step wants: a request may still be worked on when the SDK has given up on it,
    /// and a callback's receiver has its answer before the sandbox writes it down.
    private func onceThere(_ input: JSON, _ read: () async throws -> [JSON]) async throws -> [JSON] {
        let limit = Date(timeIntervalSinceNow: patience)
        while true {
            let found = try await read()
            if found.count >= input["count"].whole || Date() > limit { return found }
            try await Task.sleep(for: .milliseconds(10))
        }
    }
}

/// Those that may be shared, and that no vector uses at the moment.
private actor Idle {
    static let shared = Idle()
    private var sandboxes: [Sandbox] = []

    func take() -> Sandbox? { sandboxes.popLast() }

    func put(_ sandbox: Sandbox) { sandboxes.append(sandbox) }
}
