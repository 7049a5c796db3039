import Foundation

extension KassaClient {
    /// What happened to a checkout or one of its payments. **Deliver only if ``isPaid``.**
    public struct Event: Hashable, Sendable, Identifiable {
        /// The same for every delivery of this event (`webhook-id`). After a restore of the server the same payment has an event with a
        /// new identifier, so deliver once for each order, not once for each identifier.
        public let id: String
        /// Such as `checkout.paid`; what the JSON calls `type`. Accept and ignore the kinds that you do not know.
        public let kind: String
        /// When it happened.
        public let timestamp: Date
        /// The checkout's identifier.
        public let checkout: String
        /// The shop's own reference of the checkout.
        public let reference: String
        /// The checkout's amount, in units of ``currency``.
        public let amount: Decimal
        /// Three letters, such as `KGS`.
        public let currency: String
        /// The checkout's state after the event, such as `paid`.
        public let checkoutState: String
        /// The checkout's version after the event.
        public let version: Int64
        /// Its number among the events of its payment, or among those of the checkout itself, from 1.
        public let number: Int64
        /// The payment, if it is about one.
        public let payment: EventPayment?
        /// The previous state, if the change is unexpected. Of a paid checkout `expired` or `cancelled`: the money came late.
        public let after: String?
        /// The reason that the gateway, the server or a person gave.
        public let reason: String?
        /// The person who decided it, if a person did.
        public let by: String?
        /// The key through which that person decided.
        public let via: EventVia?

        /// Whether it says that the checkout is paid (`checkout.paid`): deliver.
        public var isPaid: Bool { kind == "checkout.paid" }
    }

    /// The payment that an event is about.
    public struct EventPayment: Hashable, Sendable {
        /// The payment's identifier.
        public let id: String
        /// Its method, such as `mbank`.
        public let method: String
        /// Its state after the event, such as `charged`.
        public let state: String
        /// What a MegaPay wallet pays beside the amount. Nil if it is not known.
        public let commission: Decimal?
        /// The amount and the commission. Nil without ``commission``.
        public let total: Decimal?
        /// When the MegaPay PIN expires. Nil if it is not known.
        public let codeExpiresAt: Date?
    }

    /// The key through which a person decided.
    public struct EventVia: Hashable, Sendable, Decodable {
        /// `shop` or `staff`. With a shop's key, the name in ``Event/by`` can be anyone's.
        public let role: String
        /// The key's identifier. It is not secret.
        public let key: String
    }

    /// An event of the history, and its place there.
    public struct EventAt: Hashable, Sendable, Decodable {
        /// Store it once the event is dealt with: `events(after: cursor)` reads on from there. It is opaque.
        public let cursor: String
        /// The event.
        public let event: Event
    }

    /// A page of the history.
    public struct EventPage: Hashable, Sendable, Decodable {
        /// The events, the oldest first. None at the end of the history.
        public let events: [EventAt]
        /// The cursor of the next page.
        public let next: String
    }
}

extension KassaClient.Event: Decodable {
    private enum CodingKeys: String, CodingKey {
        case id, data
        case kind = "type", timestamp = "timestamp_ms"
    }

    private enum DataKeys: String, CodingKey {
        case checkout, reference, amount, currency, version, number, payment, after, reason, by, via
        case checkoutState = "checkout_state"
    }

    /// Reads the server's JSON.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        id = try members.text(.id)
        kind = try members.text(.kind)
        timestamp = try members.time(.timestamp)
        let data = try members.nestedContainer(keyedBy: DataKeys.self, forKey: .data)
        checkout = try data.text(.checkout)
        reference = try data.text(.reference)
        amount = try data.decimal(.amount)
        currency = try data.text(.currency)
        checkoutState = try data.text(.checkoutState)
        version = try data.decode(Int64.self, forKey: .version)
        number = try data.decode(Int64.self, forKey: .number)
        payment = try data.decodeIfPresent(KassaClient.EventPayment.self, forKey: .payment)
        after = try data.textIfPresent(.after)
        reason = try data.textIfPresent(.reason)
        by = try data.textIfPresent(.by)
        via = try data.decodeIfPresent(KassaClient.EventVia.self, forKey: .via)
    }
}

extension KassaClient.EventPayment: Decodable {
    private enum CodingKeys: String, CodingKey {
        case id, method, state, commission, total
        case codeExpiresAt = "code_expires_at_ms"
    }

    /// Reads the server's JSON.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        id = try members.text(.id)
        method = try members.text(.method)
        state = try members.text(.state)
        commission = try members.decimalIfPresent(.commission)
        total = try members.decimalIfPresent(.total)
        codeExpiresAt = try members.timeIfPresent(.codeExpiresAt)
    }
}
