extension Sandbox {
    /// How a payment was created.
    public enum Kind: String, Hashable, Sendable, CaseIterable, Codable {
        /// With card data.
        case card
        /// By the mobile bank.
        case mbank
        /// On the hosted pay-form.
        case payForm = "pay_form"
        /// By a QR code.
        case qr
    }

    /// Who moves the money.
    public enum Provider: String, Hashable, Sendable, CaseIterable, Codable {
        /// Payment cards.
        case cards = "Cards"
        /// The MegaPay wallet.
        case megaPay = "MegaPay"
        /// The MBank mobile bank.
        case mbank = "MBank"
    }

    /// Where a payment stands.
    public enum Status: String, Hashable, Sendable, CaseIterable, Codable {
        /// Registered; the payer has not finished.
        case created = "CREATED"
        /// The payer did their part; the provider has not decided.
        case pending = "PENDING"
        /// The money was taken.
        case charged = "CHARGE"
        /// Nothing was taken, and nothing will be.
        case rejected = "Reject"
    }

    /// An endpoint of the gateway.
    public enum Endpoint: String, Hashable, Sendable, CaseIterable, Codable {
        /// A card payment is created.
        case payment
        /// A payment is asked about by the gateway's number.
        case status
        /// A mobile-bank payment is created.
        case mbankPay = "mbank/pay"
        /// A mobile-bank payment is confirmed.
        case mbankConfirm = "mbank/confirm"
        /// A hosted page is made.
        case payForm = "pay-form"
        /// A payment is asked about by the merchant's number.
        case getStatus = "get-status"
        /// A QR code is made as a picture.
        case qrImage = "qr/dynamic"
        /// A QR code is made as data.
        case qrData = "qr/dynamic/data"
        /// A QR payment is asked about.
        case qrStatus = "qr/transaction/status"
    }

    /// What the sandbox can do wrong on purpose.
    public enum FaultName: String, Hashable, Sendable, CaseIterable, Codable {
        /// The connection is closed without an answer; nothing happens to the money.
        case requestLost = "request-lost"
        /// The money moves as it should; the connection is closed without an answer.
        case replyLost = "reply-lost"
        /// The answer comes late.
        case delay
        /// The answer's body comes a byte a second.
        case drip
        /// The connection is reset on the first line of its first request; nothing happens to the money.
        case resetOnConnect = "reset-on-connect"
        /// The money moves as it should; the connection is reset before the answer.
        case resetBeforeReply = "reset-before-reply"
        /// The same, in the middle of the answer's head.
        case resetInHeaders = "reset-in-headers"
        /// The same, in the middle of the answer's body.
        case resetInBody = "reset-in-body"
        /// An HTML page with HTTP 502 for an answer; the money moves as it should.
        case html502 = "html-502"
        /// A body that is no JSON; the money moves as it should.
        case notJSON = "not-json"
        /// A body that ends in its middle; the money moves as it should.
        case cutJSON = "cut-json"
        /// A body without an end; the money moves as it should.
        case endlessBody = "endless-body"
        /// A status word that nobody knows.
        case unknownStatus = "unknown-status"
        /// A code that nobody knows.
        case unknownCode = "unknown-code"
        /// The answer is written in the other dialect.
        case otherDialect = "other-dialect"
        /// The payment stays open until it is approved or declined here.
        case stuckPending = "stuck-pending"
        /// HTTP 307 to the same endpoint; the money moves as it should.
        case redirect
        /// HTTP 429; nothing happens to the money.
        case retryAfter = "retry-after"
        /// HTTP 503; nothing happens to the money.
        case unavailable
        /// HTTP 401; nothing happens to the money.
        case unauthorized
        /// The callback is never sent.
        case callbackLost = "callback-lost"
        /// The callback comes late.
        case callbackLate = "callback-late"
        /// The callback comes twice.
        case callbackDuplicated = "callback-duplicated"
        /// Callbacks come in the wrong order.
        case callbackOutOfOrder = "callback-out-of-order"
        /// One more callback comes, for money that nobody paid.
        case callbackForged = "callback-forged"
        /// A confirmation is carried out twice at once.
        case otpTwice = "otp-twice"
    }

    /// What an order number that was used before does.
    public enum ReusedOrderNumber: String, Hashable, Sendable, CaseIterable, Codable {
        /// An error.
        case refuse
        /// The first answer once more.
        case replay
        /// A second payment.
        case chargeTwice = "charge-twice"
    }

    /// Which numbers the two status endpoints know.
    public enum StatusNumbers: String, Hashable, Sendable, CaseIterable, Codable {
        /// `status` the gateway's, and `get-status` the merchant's.
        case strict
        /// Both know both.
        case any
    }

    /// The language of the sandbox's messages.
    public enum Language: String, Hashable, Sendable, CaseIterable, Codable {
        /// English.
        case english = "en"
        /// Russian.
        case russian = "ru"
        /// Kyrgyz.
        case kyrgyz = "ky"
    }
}
