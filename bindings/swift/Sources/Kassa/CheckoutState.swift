import Foundation
import struct Foundation.Decimal  // and not the alias of the generated code
internal import KassaGenerated

/// The state of a ``Checkout``, for a payment screen. A message beside it is for the payer (``CheckoutMessage/textIn(_:)``); one about
/// the network stays until the problem is over, and **never means that the payment failed**.
public enum CheckoutState: Hashable, Sendable {
    /// The server has not answered yet; the message says the reason, if there is a problem.
    case opening(message: CheckoutMessage? = nil)
    /// The payer chooses a payment method; there may be no way for which there is an action here. The message says the result of the last
    /// attempt, if any. `canKeepMethod` is true while the payer chooses again although a payment is open: ``Checkout/keepMethod()`` goes
    /// back to it.
    case ready(methods: [PaymentMethod], message: CheckoutMessage? = nil, canKeepMethod: Bool = false)
    /// The payer's action is being sent; the message tells a problem, if any. No other action is possible meanwhile.
    case sending(message: CheckoutMessage? = nil)
    /// The payer enters the code from a message, which is the one-time password of the mobile bank or the PIN of a MegaPay wallet:
    /// ``Checkout/confirm(otp:)``. **Entering the code accepts the total**: show ``CheckoutTexts/cost`` above the field.
    case enterOtp(EnterOtp)
    /// The payer pays, or confirms a card payment (3DS), on a page of the gateway: https, or loopback. `begunHere` is true if an action
    /// of this object led here: open the page at once. It is false after the app was killed, or if another device began: show a button
    /// that opens it. `methods` are other payment methods that can be started instead, the message tells the result of another attempt.
    case openPage(url: String, begunHere: Bool, methods: [PaymentMethod], message: CheckoutMessage? = nil)
    /// The payer scans a code with a bank's app: draw the text with ``QrCode``. On the phone itself, open the text if it is a link.
    /// `canChangeMethod` says whether the payer can choose another payment method: ``Checkout/changeMethod()``. **An abandoned code can
    /// still be paid**, so warn a payer who may have paid with it.
    case showQr(text: String, message: CheckoutMessage? = nil, canChangeMethod: Bool = false)
    /// The payer has done everything; the gateway is polled for the result. `pageURL` is the page that the payer came back from, for a
    /// button that opens it again; `methods` are other payment methods that can be started instead.
    case waiting(pageURL: String? = nil, methods: [PaymentMethod], message: CheckoutMessage? = nil)
    /// **Paid**, by the gateway's report to the merchant's server. Final.
    case paid(amount: Decimal, currency: String)
    /// Not paid, and it can no longer be paid.
    case notPaid(reason: CheckoutMessage)
    /// The merchant's staff must find out what happened to the money. **The payer must not pay again.**
    case personNeeded(message: CheckoutMessage)
    /// Nobody paid in time.
    case expired
    /// The client token has expired, and no new one was given (``Checkout/renewToken(_:)``). **It says nothing about the money.**
    case tokenExpired

    /// The details of the state `enterOtp`.
    public struct EnterOtp: Hashable, Sendable {
        /// The payment method that the code confirms.
        public let method: PaymentMethod
        /// How many codes can still be tried.
        public let attemptsLeft: Int
        /// Why the last code was not accepted, if any was tried.
        public let message: CheckoutMessage?
        /// The last two digits of the phone that the code went to, if the server's response has them.
        public let phoneLast2: String?
        /// What the payer pays in addition to the amount, in units of the currency, if the gateway's response has a commission.
        public let commission: Decimal?
        /// What the payer pays in all, if the gateway's response has a commission.
        public let total: Decimal?
        /// Until when the code is valid, by the server's clock, if the gateway's response says so.
        public let codeExpiresAt: Date?
        /// True if the payer can choose another number or payment method: ``Checkout/changeMethod()``.
        public let canChangeMethod: Bool

        /// For previews and tests of your own code.
        public init(
            method: PaymentMethod, attemptsLeft: Int, message: CheckoutMessage? = nil, phoneLast2: String? = nil,
            commission: Decimal? = nil, total: Decimal? = nil, codeExpiresAt: Date? = nil, canChangeMethod: Bool = false
        ) {
            self.method = method
            self.attemptsLeft = attemptsLeft
            self.message = message
            self.phoneLast2 = phoneLast2
            self.commission = commission
            self.total = total
            self.codeExpiresAt = codeExpiresAt
            self.canChangeMethod = canChangeMethod
        }
    }

    /// True if the state is final: the checkout is paid.
    public var isPaid: Bool {
        if case .paid = self { true } else { false }
    }

    /// The state's name, the same in every language, such as `enter_otp`.
    public var kind: String {
        switch self {
        case .opening: "opening"
        case .ready: "ready"
        case .sending: "sending"
        case .enterOtp: "enter_otp"
        case .openPage: "open_page"
        case .showQr: "show_qr"
        case .waiting: "waiting"
        case .paid: "paid"
        case .notPaid: "not_paid"
        case .personNeeded: "person_needed"
        case .expired: "expired"
        case .tokenExpired: "token_expired"
        }
    }
}

extension CheckoutState {
    init(_ core: KassaGenerated.CheckoutState) {
        self =
            switch core {
            case .opening(let message): .opening(message: message.map(CheckoutMessage.init))
            case .ready(let methods, let message, let canKeepMethod):
                .ready(
                    methods: methods.map(PaymentMethod.init), message: message.map(CheckoutMessage.init), canKeepMethod: canKeepMethod)
            case .sending(let message): .sending(message: message.map(CheckoutMessage.init))
            case .enterOtp(
                let method, let attemptsLeft, let message, let phoneLast2, let commission, let total, let codeExpiresAt,
                let canChangeMethod):
                .enterOtp(
                    EnterOtp(
                        method: PaymentMethod(method), attemptsLeft: Int(attemptsLeft), message: message.map(CheckoutMessage.init),
                        phoneLast2: phoneLast2, commission: commission, total: total, codeExpiresAt: codeExpiresAt,
                        canChangeMethod: canChangeMethod))
            case .openPage(let url, let begunHere, let methods, let message):
                .openPage(
                    url: url, begunHere: begunHere, methods: methods.map(PaymentMethod.init), message: message.map(CheckoutMessage.init))
            case .showQr(let text, let message, let canChangeMethod):
                .showQr(text: text, message: message.map(CheckoutMessage.init), canChangeMethod: canChangeMethod)
            case .waiting(let pageURL, let methods, let message):
                .waiting(pageURL: pageURL, methods: methods.map(PaymentMethod.init), message: message.map(CheckoutMessage.init))
            case .paid(let amount, let currency): .paid(amount: amount, currency: currency)
            case .notPaid(let reason): .notPaid(reason: CheckoutMessage(reason))
            case .personNeeded(let message): .personNeeded(message: CheckoutMessage(message))
            case .expired: .expired
            case .tokenExpired: .tokenExpired
            }
    }
}
