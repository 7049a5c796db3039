import Foundation

extension Sandbox {
    /// A line of the ledger: what really happened.
    public struct Payment: Hashable, Sendable, Decodable {
        /// How it was created.
        public let kind: Kind
        /// The merchant's number; of a pay-form the one that the gateway made; of a QR code its transaction id.
        public let orderNumber: String
        /// The gateway's own number: the `token` of its pages.
        public let gatewayNumber: String
        /// The QR transaction's id; nil for every other kind.
        public let transactionID: String?
        /// Who moves the money; nil while the payer has not chosen on the pay-form.
        public let provider: Provider?
        /// In the currency's main unit, of a QR code in tyiyn. Nil for a QR code without a sum until its payer names one.
        public let amount: Decimal?
        /// The currency's code.
        public let currency: String
        /// The status of the payment.
        public let status: Status
        /// The code of the status: `200` if the money was taken, `210` to `214` for a rejection and its reason.
        public let code: String
        /// How many times money was taken under this order number. More than once is what no client may ever cause.
        public let timesCharged: Int
        /// When it was registered.
        public let createdAt: Date

        /// Whether this payment took the money.
        public var isCharged: Bool { status == .charged }

        private enum CodingKeys: String, CodingKey {
            case kind, provider, amount, currency, status, code
            case orderNumber = "order_number"
            case gatewayNumber = "gateway_number"
            case transactionID = "transaction_id"
            case timesCharged = "times_charged"
            case createdAt = "created_at"
        }
    }

    /// A request that reached an endpoint.
    public struct Request: Hashable, Sendable, Decodable {
        /// The endpoint.
        public let endpoint: Endpoint
        /// The number in the request, if any.
        public let orderNumber: String?
        /// The status of the response; nil if a fault suppressed it.
        public let httpStatus: Int?
        /// The fault that struck it.
        public let fault: FaultName?
        /// When.
        public let at: Date

        private enum CodingKeys: String, CodingKey {
            case endpoint, fault, at
            case orderNumber = "order_number"
            case httpStatus = "http_status"
        }
    }

    /// An attempt to deliver a callback.
    public struct CallbackAttempt: Hashable, Sendable, Decodable {
        /// The payment's number.
        public let orderNumber: String
        /// The URL that it was sent to.
        public let url: String
        /// The status it told.
        public let status: Status
        /// 1 for the first.
        public let attempt: Int
        /// The receiver's status, if it answered.
        public let httpStatus: Int?
        /// Why there was no answer.
        public let error: String?
        /// The fault that made it, or made it late.
        public let fault: FaultName?
        /// The body as sent.
        public let body: String
        /// When.
        public let at: Date

        private enum CodingKeys: String, CodingKey {
            case url, status, attempt, error, fault, body, at
            case orderNumber = "order_number"
            case httpStatus = "http_status"
        }
    }
}
