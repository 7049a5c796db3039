// Generated from sandbox/data/test_data.json. Change that, and then:
// cargo test -p kassa-conformance --test tables -- --generate

extension Sandbox {
    /// Which gateway's responses the sandbox gives.
    public enum DialectName: String, Hashable, Sendable, CaseIterable, Codable {
        /// The responses of the gateway's interface.
        case interface
        /// Responses in another format, to test a client's configuration.
        case other
        /// The responses that FINIPAY's public pages show.
        case finipay

        /// What a client has to know about the sandbox's responses, in JSON.
        /// `try Dialect.fromJSON(Sandbox.DialectName.interface.json)` reads it.
        public var json: String {
            switch self {
            case .interface: interfaceJSON
            case .other: otherJSON
            case .finipay: finipayJSON
            }
        }
    }
}

private let interfaceJSON = """
{
  "endpoints": {
    "mbank_payment": { "gateway_number": ["/data/paymentId"] },
    "qr_data": { "qr_payload": ["/data/qr_data"], "transaction_id": ["/data/transaction_id"] }
  },
  "qr_amount_unit": "tyiyn",
  "qr_numbers": "transaction_id",
  "mbank_identifier": { "pointers": ["/data/paymentId"], "confirm_field": "paymentId" },
  "megapay": { "check_method": "POST" },
  "callback": { "transaction_id": ["/transaction_id", "/orderNumber"] }
}
"""

private let otherJSON = """
{
  "endpoints": {
    "card_payment": {
      "code": ["/result/value"], "reason": ["/result/text"], "status": ["/payload/state"], "amount": ["/payload/total"],
      "currency": ["/payload/ccy"], "confirmation_url": ["/payload/confirm_link"]
    },
    "mbank_payment": {
      "code": ["/result/value"], "reason": ["/result/text"], "status": ["/payload/state"],
      "gateway_number": ["/payload/operation_id"]
    },
    "mbank_confirm": { "code": ["/result/value"], "reason": ["/result/text"], "status": ["/payload/state"] },
    "pay_form": { "code": ["/result/value"], "reason": ["/result/text"], "pay_form_url": ["/payload/form_link"] },
    "qr_image": { "code": ["/result/value"], "reason": ["/result/text"], "image": ["/payload/picture"] },
    "qr_data": {
      "code": ["/result/value"], "reason": ["/result/text"], "qr_payload": ["/payload/qr_text"],
      "transaction_id": ["/payload/operation_id"]
    },
    "payment_status": {
      "code": ["/result/value"], "reason": ["/result/text"], "status": ["/payload/state"],
      "order_number": ["/payload/order_id"], "amount": ["/payload/total"], "currency": ["/payload/ccy"]
    },
    "provider_status": {
      "code": ["/result/value"], "reason": ["/result/text"], "status": ["/payload/state"],
      "order_number": ["/payload/order_id"], "amount": ["/payload/total"], "currency": ["/payload/ccy"]
    },
    "qr_status": {
      "code": ["/result/value"], "reason": ["/result/text"], "status": ["/payload/state"],
      "order_number": ["/payload/order_id"], "amount": ["/payload/total"], "currency": ["/payload/ccy"]
    }
  },
  "qr_amount_unit": "tyiyn",
  "qr_numbers": "transaction_id",
  "mbank_identifier": { "pointers": ["/payload/operation_id"], "confirm_field": "paymentId" },
  "megapay": { "check_method": "POST" },
  "callback": { "transaction_id": ["/transaction_id", "/orderNumber"] }
}
"""

private let finipayJSON = """
{
  "base": "finipay",
  "qr_amount_unit": "tyiyn",
  "qr_numbers": "transaction_id",
  "callback": { "transaction_id": ["/transaction_id", "/orderNumber"] }
}
"""
