import Foundation
import Kassa
import KassaStage

/// A gateway before a scripted server.
struct Loopback {
    let server: Server
    let gateway: Gateway

    init(_ responses: JSON..., configure: (inout GatewayConfig) -> Void = { _ in }) throws {
        try self.init(responses, configure: configure)
    }

    init(_ responses: [JSON], configure: (inout GatewayConfig) -> Void = { _ in }) throws {
        server = Server(responses)
        var config = GatewayConfig(baseURL: server.url, credentials: Credentials(login: "shop", password: "swordfish-77"))
        config.queryDeadline = .seconds(2 * patience)
        config.queryRetries = 0
        configure(&config)
        gateway = try Gateway(config)
    }
}

/// What the scripted server can say.
enum Responses {
    static let charged = status("CHARGE")
    static let open = status("HOLD")
    static let created = envelope("110", ["ConfirmationUrl": "https://gw.example.kg/3ds?token=gw-1"])
    static let silence: JSON = ["then": "silence"]

    static func status(_ word: String) -> JSON { envelope("200", ["status": .string(word)]) }

    static func envelope(_ code: String, _ data: JSON) -> JSON {
        let body: JSON = ["code": .string(code), "data": data]
        return response(200, body.description)
    }

    static func response(_ status: Int, _ body: String, headers: JSON = [:]) -> JSON {
        ["status": JSON(status), "body": .string(body), "headers": headers]
    }

    /// Only once the server is told to release it.
    static func held(_ response: JSON) -> JSON { .object(response.object.merging(["hold": .bool(true)]) { $1 }) }
}

func card(_ number: String = "4111111111111111") -> Card {
    Card(pan: number, expiryMonth: "08", expiryYear: 2031, cvc: "737", holderName: "Aibek Usenov")
}

func cardPayment(amount: Decimal = 100) -> CardPayment {
    CardPayment(
        orderNumber: newOrderNumber(), description: "Two tickets", amount: amount, currency: "KGS", card: card(),
        language: "ky", callbackURL: "https://shop.example.kg/cb", ip: "203.0.113.7")
}

func callback(amount: Decimal) throws -> Callback {
    let body: JSON = [
        "orderNumber": "order-1", "amount": "100.10", "currency": "KGS", "status": "CHARGE", "provider": "Cards",
        "dateCreated": "2026-11-20T09:05:07.25",
    ]
    var callback = try Callback(body.description)
    callback.amount = amount
    return callback
}
