import struct Foundation.Decimal  // and not the alias of the generated code
internal import KassaGenerated

/// A gateway in memory for tests of **your own** code: nothing is sent, no time is waited, and what happens is what the test says.
///
/// ``gateway`` is a ``Gateway`` like any other, with the same rules, errors and verdicts; the other methods are the payer's side, and
/// what goes wrong. Payments are named by what the code under test knows of them: an order number, a gateway's number, a transaction, a
/// page's address or a QR code's text. Two fake gateways know nothing of each other.
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
/// **The clock** is virtual. While it runs, whoever waits for a moment finds that it has come: a watch of 20 minutes ends at once. A
/// test that wants to see the time between stops it (``stopClock()``) and moves it (``advance(by:)``).
///
/// It is small, and always well-behaved unless it is told otherwise. To build a checkout against real pages, callbacks and many more
/// faults, there is the sandbox (`KassaSandbox`).
public final class FakeGateway: Sendable {
    /// The gateway for the code under test; always the same one.
    public let gateway: Gateway
    private let core: KassaGenerated.FakeGateway

    /// A fake gateway without payments, whose clock runs.
    ///
    /// - Throws: ``PaymentError/misconfigured(detail:httpStatus:code:body:)`` where Kassa's threads cannot be started.
    public init() throws {
        core = try translated { try KassaGenerated.FakeGateway() }
        gateway = Gateway(core: core.gateway(), baseURL: "https://fake.example")
    }

    /// All payments so far, the oldest first.
    public var payments: [FakePayment] { core.payments().map(FakePayment.init) }

    /// The payer pays. The answer is what the gateway would tell the merchant, for a test to hand on.
    ///
    /// - Parameter payment: One of its numbers, the address of its page, or the text of its code.
    /// - Throws: ``PaymentError/invalid(violations:)`` where there is no such payment, or it is final.
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

    /// What becomes of the payments that are made from now on. They stay open unless this says otherwise.
    public func plan(_ plan: FakePlan) { core.plan(plan: plan.core) }

    /// Lets one call go wrong: the next one, or the one after those that were given before.
    public func failNext(_ fault: FakeFault) { core.failNext(fault: fault.core) }

    /// The one-time password of every payer: with it a mobile-bank payment is confirmed and charged.
    public var otp: String { core.otp() }

    /// The time on the clock since the fake gateway was made.
    public var now: Duration { Duration(core: core.now()) }

    /// Moves the clock forward. Whoever waited for a moment up to then goes on.
    public func advance(by duration: Duration) { core.advance(by: duration.core) }

    /// Stops the clock: from now on time passes by ``advance(by:)`` alone. Whoever waits for a moment then waits until a test goes
    /// there, or starts the clock.
    public func stopClock() { core.stopClock() }

    /// Lets the clock run again.
    public func startClock() { core.startClock() }
}

extension FakeGateway: CustomStringConvertible, CustomReflectable {
    /// Its payments, and what time it is there.
    public var description: String { "FakeGateway(payments: \(payments), now: \(now))" }

    /// Its payments, and what time it is there.
    public var customMirror: Mirror { Mirror(self, children: ["payments": payments, "now": now]) }
}

/// A payment in the books of a ``FakeGateway``.
public struct FakePayment: Hashable, Sendable, CustomStringConvertible {
    /// What kind of payment it is.
    public let kind: PaymentKind
    /// The merchant's order number; for a pay-form the one that the payment got when its payer acted.
    public let orderNumber: String?
    /// The gateway's own number, for cards.
    public let gatewayNumber: String?
    /// The identifier of a QR transaction.
    public let transactionID: String?
    /// The amount in units of the currency (for KGS: som); nil for a QR code of an open amount.
    public let amount: Decimal?
    /// The currency's three letters.
    public let currency: String
    /// Where the payment stands.
    public let status: PaymentStatus
    /// The page that the payer opens: the 3DS confirmation, or the pay-form.
    public let pageURL: String?
    /// The text of the QR code.
    public let qrText: String?
    /// Where callbacks about it would go. The fake gateway sends none: it hands them to the test.
    public let callbackURL: String?

    /// All fields that are there.
    public var description: String { described(self) }
}

/// What the gateway tells about a payment that its payer has just made or declined, for a test to hand to the code that takes callbacks
/// and returns.
public struct FakeNotification: Hashable, Sendable, CustomStringConvertible {
    /// The body of the callback (webhook), for `Callback.init(_:)`.
    public let callback: String
    /// Where the payer's browser would come back to, for ``ReturnRedirect``; only after a payment, and where there is an address to
    /// return to.
    public let returnURL: String?

    /// All fields that are there.
    public var description: String { described(self) }
}

/// What becomes of the payments that are made from now on, without a test's doing.
public enum FakePlan: Hashable, Sendable {
    /// They stay open until the test says what the payer does. A mobile-bank payment is paid by its confirmation, whatever is planned.
    case stayPending
    /// Their payers pay, after that time on the fake gateway's clock.
    case charge(after: Duration)
    /// Their payers decline, after that time on the fake gateway's clock.
    case reject(after: Duration)
}

/// What goes wrong with one call (fault injection).
public enum FakeFault: Hashable, Sendable {
    /// No connection is made: ``PaymentError/unavailable(detail:retryAfter:httpStatus:code:body:)``.
    case noConnection
    /// The connection breaks before the gateway has the request: a payment was **not** made, and its outcome is unknown all the same.
    case requestLost
    /// The gateway does what it was asked, and the connection breaks before its answer arrives: a payment **was** made, and its outcome
    /// is unknown.
    case responseLost
    /// The gateway does what it was asked, and never answers: as ``responseLost``, when the call's deadline has passed. On a stopped clock
    /// the call waits.
    case noResponse
    /// The gateway refuses, with this code and these words: ``PaymentError/refused(httpStatus:code:reason:body:)``.
    case refused(code: String, reason: String)
    /// The gateway does not accept the credentials: ``PaymentError/unauthorized(detail:httpStatus:code:body:)``.
    case unauthorized
    /// The gateway is broken and does nothing (HTTP 500): a payment's outcome is unknown, anything else unavailable.
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
