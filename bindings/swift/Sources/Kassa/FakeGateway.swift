import struct Foundation.Decimal  // and not the alias of the generated code
internal import KassaGenerated

/// An in-memory gateway for tests of **your own** code: it sends nothing, does not wait in real time, and does what the test tells it.
///
/// ``gateway`` is an ordinary ``Gateway``, with the same rules, errors and verdicts; the other methods act as the payer or cause faults.
/// Payments are identified by what the code under test knows: an order number, a gateway number, a transaction id, a page's URL or a QR
/// code's text. Two fake gateways are independent.
///
/// ```swift
/// let fake = try FakeGateway()
/// let gateway = fake.gateway  // hand this to the code under test
///
/// // The answer is lost, so nobody knows whether the payment was made.
/// fake.failNext(.responseLost)
/// let tea = MbankPayment(orderNumber: "order-1", phone: "996555000101", amountSom: 100, comment: "tea")
/// await #expect(throws: PaymentError.self) { try await gateway.createMbankPayment(tea) }
///
/// // It was. The payer pays, and the watch finds it out.
/// try fake.charge("order-1")
/// #expect(try await gateway.watch(tea.paymentRef()).outcome()?.isCharged == true)
/// ```
///
/// **The clock** is virtual. While it runs, every wait ends at once, even a watch of 20 minutes. To see the time in between, stop it
/// (``stopClock()``) and move it (``advance(by:)``).
///
/// It is small, and behaves well unless told otherwise. For real pages, callbacks and many more faults, use the sandbox (`KassaSandbox`).
public final class FakeGateway: Sendable {
    /// The gateway for the code under test; always the same one.
    public let gateway: Gateway
    private let core: KassaGenerated.FakeGateway

    /// Creates a fake gateway without payments, with a running clock.
    ///
    /// - Throws: ``PaymentError/misconfigured(detail:httpStatus:code:body:)`` if Kassa's threads cannot be started.
    public init() throws {
        core = try translated { try KassaGenerated.FakeGateway() }
        gateway = Gateway(core: core.gateway(), baseURL: "https://fake.example")
    }

    /// All payments so far, oldest first.
    public var payments: [FakePayment] { core.payments().map(FakePayment.init) }

    /// The payer pays. Returns what the gateway would send to the merchant, to pass to the code under test.
    ///
    /// - Parameter payment: One of its numbers, the address of its page, or the text of its code.
    /// - Throws: ``PaymentError/invalid(violations:)`` if there is no such payment, or it is final.
    @discardableResult
    public func charge(_ payment: String) throws -> FakeNotification {
        FakeNotification(try translated { try core.charge(payment: checked(payment, "payment")) })
    }

    /// The payer declines, or the bank does. The payment is named as in ``charge(_:)``.
    ///
    /// - Throws: As ``charge(_:)`` does.
    @discardableResult
    public func reject(_ payment: String) throws -> FakeNotification {
        FakeNotification(try translated { try core.reject(payment: checked(payment, "payment")) })
    }

    /// Sets what happens to payments created from now on. By default they stay open.
    public func plan(_ plan: FakePlan) { core.plan(plan: plan.core) }

    /// Makes one call fail: the next one, or the one after the calls with faults that were set before.
    public func failNext(_ fault: FakeFault) { core.failNext(fault: fault.core) }

    /// The one-time password of every payer, and the PIN of every MegaPay wallet: it confirms a payment, which is then charged.
    public var otp: String { core.otp() }

    /// The time on the clock since the fake gateway was created.
    public var now: Duration { Duration(core: core.now()) }

    /// Moves the clock forward. Waits that end by then continue.
    public func advance(by duration: Duration) { core.advance(by: duration.core) }

    /// Stops the clock: from now on only ``advance(by:)`` moves it. Waits then last until a test moves or starts the clock.
    public func stopClock() { core.stopClock() }

    /// Starts the clock again.
    public func startClock() { core.startClock() }
}

extension FakeGateway: CustomStringConvertible, CustomReflectable {
    /// Its payments, and what time it is there.
    public var description: String { "FakeGateway(payments: \(payments), now: \(now))" }

    /// Its payments, and what time it is there.
    public var customMirror: Mirror { Mirror(self, children: ["payments": payments, "now": now]) }
}

/// A payment of a ``FakeGateway``.
public struct FakePayment: Hashable, Sendable, CustomStringConvertible {
    /// The kind of payment.
    public let kind: PaymentKind
    /// The merchant's order number; for a pay-form the number that the payment got when its payer acted.
    public let orderNumber: String?
    /// The gateway's own number, for cards.
    public let gatewayNumber: String?
    /// The identifier of a QR transaction.
    public let transactionID: String?
    /// The amount in units of the currency (for KGS: som); nil for a QR code without an amount.
    public let amount: Decimal?
    /// The currency's three letters.
    public let currency: String
    /// The payment's status.
    public let status: PaymentStatus
    /// The page that the payer opens: the 3DS confirmation, or the pay-form.
    public let pageURL: String?
    /// The text of the QR code.
    public let qrText: String?
    /// The callback URL. The fake gateway sends nothing to it: it returns callbacks to the test.
    public let callbackURL: String?

    /// All fields that are there.
    public var description: String { described(self) }
}

/// What the gateway sends after the payer has paid or declined, for a test to pass to the code that handles callbacks and returns.
public struct FakeNotification: Hashable, Sendable, CustomStringConvertible {
    /// The body of the callback (webhook), for `Callback.init(_:)`.
    public let callback: String
    /// The URL to which the payer's browser would return, for ``ReturnRedirect``; only after a payment, and if there is a return URL.
    public let returnURL: String?

    /// All fields that are there.
    public var description: String { described(self) }
}

/// What happens automatically to payments created from now on.
public enum FakePlan: Hashable, Sendable {
    /// They stay open until the test acts as the payer. A payment with a code is paid by its confirmation, whatever is planned.
    case stayPending
    /// Their payers pay, after that time on the fake gateway's clock.
    case charge(after: Duration)
    /// Their payers decline, after that time on the fake gateway's clock.
    case reject(after: Duration)
}

/// The fault of one call (fault injection).
public enum FakeFault: Hashable, Sendable {
    /// No connection is made: ``PaymentError/unavailable(detail:retryAfter:httpStatus:code:body:)``.
    case noConnection
    /// The connection breaks before the gateway gets the request: a payment was **not** made, but its outcome is still unknown.
    case requestLost
    /// The gateway executes the request, and the connection breaks before the response arrives: a payment **was** made, and its outcome
    /// is unknown.
    case responseLost
    /// The gateway executes the request and never responds: as ``responseLost``, after the call's deadline. On a stopped clock the call
    /// waits.
    case noResponse
    /// The gateway refuses, with this code and message: ``PaymentError/refused(httpStatus:code:reason:body:)``.
    case refused(code: String, reason: String)
    /// The gateway does not accept the credentials: ``PaymentError/unauthorized(detail:httpStatus:code:body:)``.
    case unauthorized
    /// The gateway fails and does nothing (HTTP 500): a payment's outcome is unknown, any other call is unavailable.
    case serverError
    /// The gateway takes no more requests now (HTTP 429): ``PaymentError/unavailable(detail:retryAfter:httpStatus:code:body:)`` with
    /// this wait.
    case tooManyRequests(retryAfter: Duration)
}

extension FakePayment {
    init(_ core: KassaGenerated.FakePayment) {
        self.init(
            kind: PaymentKind(core.kind), orderNumber: core.orderNumber, gatewayNumber: core.gatewayNumber,
            transactionID: core.transactionId, amount: core.amount, currency: core.currency, status: PaymentStatus(core.status),
            pageURL: core.pageUrl, qrText: core.qrText, callbackURL: core.callbackUrl)
    }
}

extension FakeNotification {
    init(_ core: KassaGenerated.FakeNotification) {
        self.init(callback: core.callback, returnURL: core.returnUrl)
    }
}

extension FakePlan {
    var core: KassaGenerated.FakePlan {
        switch self {
        case .stayPending: .stayPending
        case .charge(let after): .charge(after: after.core)
        case .reject(let after): .reject(after: after.core)
        }
    }
}

extension FakeFault {
    var core: KassaGenerated.FakeFault {
        switch self {
        case .noConnection: .noConnection
        case .requestLost: .requestLost
        case .responseLost: .responseLost
        case .noResponse: .noResponse
        // One that is too long to be handed on is refused without its words.
        case .refused(let code, let reason):
            canBeHandedOn([code + reason]) ? .refused(code: code, reason: reason) : .refused(code: "", reason: "")
        case .unauthorized: .unauthorized
        case .serverError: .serverError
        case .tooManyRequests(let retryAfter): .tooManyRequests(retryAfter: retryAfter.core)
        }
    }
}
