import Foundation

extension KassaServer {
    /// An event for the shop.
    public struct Event: Hashable, Sendable {
        /// Its place among all events, an opaque text: what `GET /v1/events?after=` takes.
        public let cursor: String
        /// The same however often it is delivered: the header `webhook-id`.
        public let id: String
        /// Such as `checkout.paid`: what its JSON calls `type`.
        public let kind: String
        /// When it was recorded.
        public let time: Date
        /// The checkout's identifier.
        public let checkout: String
        /// The shop's own reference.
        public let reference: String
    }
}

/// A page of events, as the server lists them.
struct EventPage: Decodable {
    let events: [Listed]
    let next: String

    struct Listed: Decodable {
        let cursor: String
        let event: Body

        var told: KassaServer.Event {
            KassaServer.Event(
                cursor: cursor, id: event.id, kind: event.type, time: Date(timeIntervalSince1970: Double(event.timestamp_ms) / 1000),
                checkout: event.data.checkout, reference: event.data.reference)
        }
    }

    struct Body: Decodable {
        let id: String
        let type: String
        let timestamp_ms: Int64
        let data: About
    }

    struct About: Decodable {
        let checkout: String
        let reference: String
    }
}
