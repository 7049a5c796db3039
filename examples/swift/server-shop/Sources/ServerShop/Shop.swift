import Foundation
import KassaClient

/// A shop in one file: a product, a checkout at kassa-server, and a receiver of its signed events.
public struct Shop: Sendable {
    public let orders: Orders
    let kassa: KassaClient
    let eventsSecret: String
    /// Where the payer returns to.
    let address: String

    public init(kassa: KassaClient, eventsSecret: String, address: String, orders: Orders = Orders()) {
        (self.kassa, self.eventsSecret, self.address, self.orders) = (kassa, eventsSecret, address, orders)
    }

    public func routes(_ app: Application) {
        app.get("") { _ in .html("<h1>A jar of honey</h1><form method=post action=/buy><button>Buy for 390 KGS</button></form>") }
        // docs: begin buy
        app.post("buy") { _ in
            let reference = "order-\(UUID().uuidString.lowercased())"
            await orders.add(reference)
            let checkout = try await kassa.openCheckout(
                reference, amount: 390, description: "A jar of honey", returnURL: "\(address)/orders/\(reference)")
            guard let page = checkout.pageURL else { return .init(status: 500) }
            return .redirect(to: page)
        }
        // docs: end buy
        app.get("orders", ":reference") { request in
            guard let state = await orders.states[request.parameter] else { return .init(status: 404) }
            return .html("<meta http-equiv=refresh content=3><h1>Order \(request.parameter) is \(state)</h1>")
        }
        // docs: begin event
        app.post("events") { request in
            let event: KassaClient.Event
            do {
                event = try KassaClient.verifyEvent(
                    body: request.body, header: { request.headers.first(name: $0) }, secrets: [eventsSecret])
            } catch let error as EventError {
                app.log("an event was refused: \(error)")  // for the log alone: the answer does not say why
                return .init(status: error.reason == .malformedSecret ? 500 : 401)
            }
            guard event.isPaid else { return .init(status: 204) }
            let isKnown = await orders.deliver(event.reference) { app.log("deliver \($0)") }
            return .init(status: isKnown ? 204 : 404)  // what is not taken comes again
        }
        // docs: end event
    }
}

// docs: begin orders
/// In a real shop this is a table of its database.
public actor Orders {
    public private(set) var states: [String: String] = [:]

    public init() {}

    public func add(_ reference: String) { states[reference] = "not paid yet" }

    /// Once for each order: an event can come twice, and after a restore of the server under another identifier. In a database: one
    /// transaction that locks the order's row. False if there is no such order.
    public func deliver(_ reference: String, _ ship: (String) -> Void) -> Bool {
        guard let state = states[reference] else { return false }
        if state != "delivered" {
            ship(reference)
            states[reference] = "delivered"
        }
        return true
    }
}
// docs: end orders
