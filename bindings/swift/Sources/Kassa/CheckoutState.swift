import Foundation
import struct Foundation.Decimal  // and not the alias of the generated code
internal import KassaGenerated

/// Where a ``Checkout`` stands, which is what a payment screen shows. A message beside it is for the payer to read
/// (``CheckoutMessage/textIn(_:)``); one about the network is there for as long as it lasts, and **never means that the payment failed**.
public enum CheckoutState: Hashable, Sendable {
    /// The server has not answered yet; the message says why not, where something is in the way.
    case opening(message: CheckoutMessage? = nil)
    /// The payer chooses how to pay; there may be no way for which there is an action here. The message says what became of the last
    /// try, where there was one. `canKeepMethod` is true while the payer chooses again though a payment is open:
    /// ``Checkout/keepMethod()`` goes back to that.
    case ready(methods: [PaymentMethod], message: CheckoutMessage? = nil, canKeepMethod: Bool = false)
    /// What the payer asked for is on its way; the message says what is in the way. Nothing else can be asked for meanwhile.
    case sending(message: CheckoutMessage? = nil)
    /// The payer enters the one-time password that the mobile bank sent: ``Checkout/confirm(otp:)``. `attemptsLeft` passwords may still be
    /// tried; the message says why the last one was not taken, where there was one. `phoneLast2` are the last two digits of the phone that
    /// the password went to, where the server tells them. `canChangeMethod` says whether the payer can choose another number or another
    /// way to pay: ``Checkout/changeMethod()``.
    case enterOtp(attemptsLeft: Int, message: CheckoutMessage? = nil, phoneLast2: String? = nil, canChangeMethod: Bool = false)
    /// The payer pays, or confirms a payment by card (3DS), on a page of the gateway's: https, or loopback. `begunHere` is true where an
    /// action of this object led here: open it at once. It is false after the app was killed, or where another device began: show a button
    /// that opens it. `methods` are other ways to pay that can be begun instead, the message says what became of another try.
    case openPage(url: String, begunHere: Bool, methods: [PaymentMethod], message: CheckoutMessage? = nil)
    /// The payer scans a code with the app of a bank: draw the text with ``QrCode``. On the phone itself the text, where it is a link,
    /// opens that app. `canChangeMethod` says whether the payer can choose another way to pay: ``Checkout/changeMethod()``. **A code that
    /// was left can still be paid**, so warn a payer who may have paid by it.
    case showQr(text: String, message: CheckoutMessage? = nil, canChangeMethod: Bool = false)
    /// The payer has done everything, and the gateway is asked how it ended. `pageURL` is the page that the payer came back from, to be
    /// opened again by a button; `methods` are other ways to pay that can be begun instead.
    case waiting(pageURL: String? = nil, methods: [PaymentMethod], message: CheckoutMessage? = nil)
    /// **Paid**, by the gateway's own report to the merchant's server. The end.
    case paid(amount: Decimal, currency: String)
    /// Not paid, and it cannot be paid any more.
    case notPaid(reason: CheckoutMessage)
    /// What became of the money is for a person of the merchant's to find out. **The payer must not pay again.**
    case personNeeded(message: CheckoutMessage)
    /// Nobody paid in time.
    case expired
    /// The client token is not good any more, and nobody gave a new one (``Checkout/renewToken(_:)``). **It says nothing about the
    /// money.**
    case tokenExpired

    /// True where nothing changes any more: it was paid.
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
            case .enterOtp(let attemptsLeft, let message, let phoneLast2, let canChangeMethod):
                .enterOtp(
                    attemptsLeft: Int(attemptsLeft), message: message.map(CheckoutMessage.init), phoneLast2: phoneLast2,
                    canChangeMethod: canChangeMethod)
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
