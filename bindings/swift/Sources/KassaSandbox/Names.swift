extension Sandbox {
    /// How a payment was created.
    public enum Kind: String, Hashable, Sendable, CaseIterable, Codable {
        /// With card data.
        case card
        /// By the mobile bank.
        case mbank
        /// From a MegaPay wallet, with a PIN.
        case megapay
        /// On the pay-form.
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

    /// The status of a payment.
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
        /// A status query by the gateway's number.
        case status
        /// A mobile-bank payment is created.
        case mbankPay = "mbank/pay"
        /// A mobile-bank payment is confirmed.
        case mbankConfirm = "mbank/confirm"
        /// Sends the payer of a MegaPay wallet a PIN, and returns the commission.
        case megaCheck = "mega/check"
        /// Pays from a MegaPay wallet, with the PIN.
        case megaPay = "mega/pay"
        /// Creates a pay-form.
        case payForm = "pay-form"
        /// A status query by the merchant's number.
        case getStatus = "get-status"
        /// A QR code is made as a picture.
        case qrImage = "qr/dynamic"
        /// A QR code is made as data.
        case qrData = "qr/dynamic/data"
        /// A status query of a QR payment.
        case qrStatus = "qr/transaction/status"
    }

    /// How a reused order number is treated.
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

    /// For FINIPAY: where a confirmation carries the `quid` of an MBank payment.
    public enum MbankQuid: String, Hashable, Sendable, CaseIterable, Codable {
        /// In `orderNumber`, instead of the merchant's number.
        case orderNumber = "order-number"
        /// In a field `quid`, in addition to the merchant's number.
        case field
        /// Nowhere: the merchant's number alone confirms.
        case notSent = "not-sent"
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
