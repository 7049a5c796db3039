/// The contract of a ``Gateway``: what code that takes payments asks for, so that a test can put something else behind it.
///
/// ```swift
/// func sell(_ order: MbankPayment, by gateway: some PaymentGateway) async throws -> Verdict? {
///     let created = try await gateway.createMbankPayment(order)
///     return try await gateway.watch(created.payment).outcome()
/// }
/// ```
///
/// For most tests, use a ``FakeGateway``: it has a real ``Gateway``, with its rules, errors and verdicts, and no network. A type of your
/// own, such as a stub or a logging wrapper, must keep the promises of each method of ``Gateway``. Above all it must throw
/// ``PaymentError/outcomeUnknown(payment:httpStatus:code:reason:detail:body:)`` **whenever a payment may exist**. A ``StatusWatch``
/// always comes from Kassa: from the wrapped gateway, or from a fake one.
///
/// Later versions may add methods, each with an implementation that throws
/// ``PaymentError/misconfigured(detail:httpStatus:code:body:)``, so that your types still compile. **A wrapper must then pass on the new
/// methods, too.**
public protocol PaymentGateway: Sendable {
    /// Creates a card payment. **Moves money.** See ``Gateway/createCardPayment(_:)``.
    func createCardPayment(_ payment: CardPayment) async throws -> CardPaymentCreated

    /// Queries the status of a payment by the **gateway's** own number. See ``Gateway/paymentStatus(_:language:)``.
    func paymentStatus(_ gatewayNumber: String, language: String?) async throws -> StatusReport

    /// Creates a mobile-bank payment. **Moves money.** See ``Gateway/createMbankPayment(_:)``.
    func createMbankPayment(_ payment: MbankPayment) async throws -> MbankPaymentCreated

    /// Confirms a mobile-bank payment with the payer's one-time password. **Moves money.** See
    /// ``Gateway/confirmMbankPayment(_:otp:)``.
    func confirmMbankPayment(_ payment: PaymentRef, otp: String) async throws -> MbankConfirmed

    /// Sends the payer a PIN and returns the commission. **Treat it as moving money.** By default it throws
    /// ``PaymentError/misconfigured(detail:httpStatus:code:body:)``. See ``Gateway/checkMegapay(_:)``.
    func checkMegapay(_ payment: MegapayPayment) async throws -> MegapayChecked

    /// Pays from a MegaPay wallet with the payer's PIN. **Moves money.** By default it throws
    /// ``PaymentError/misconfigured(detail:httpStatus:code:body:)``. See ``Gateway/payByMegapay(_:pin:)``.
    func payByMegapay(_ payment: MegapayPayment, pin: String) async throws -> MegapayAccepted

    /// Creates a pay-form, the gateway's own page on which the payer chooses a method. See ``Gateway/createPayForm(_:)``.
    func createPayForm(_ form: PayForm) async throws -> PayFormCreated

    /// Queries the status of a payment by the **merchant's** order number. See ``Gateway/providerStatus(_:provider:)``.
    func providerStatus(_ orderNumber: String, provider: Provider) async throws -> StatusReport

    /// Creates a QR code as the gateway's own picture. See ``Gateway/createQrImage(_:)``.
    func createQrImage(_ payment: QrPayment) async throws -> QrImage

    /// Creates the data of a QR code. See ``Gateway/createQrData(_:)``.
    func createQrData(_ payment: QrPayment) async throws -> QrData

    /// Queries the status of a QR payment by its transaction id. See ``Gateway/qrStatus(_:)``.
    func qrStatus(_ transactionID: String) async throws -> StatusReport

    /// Queries a payment once and compares the report with the request. See ``Gateway/check(_:)``.
    func check(_ payment: PaymentRef) async throws -> Verdict

    /// Verifies a callback, which anybody can send. See ``Gateway/verifyCallback(_:payment:)``.
    func verifyCallback(_ callback: Callback, payment: PaymentRef) async throws -> Verdict

    /// Verifies the payer's return. See ``Gateway/verifyReturn(_:payment:)``.
    func verifyReturn(_ redirect: ReturnRedirect, payment: PaymentRef) async throws -> Verdict

    /// Follows a payment until it ends. See ``Gateway/watch(_:policy:)``.
    func watch(_ payment: PaymentRef, policy: PollPolicy) throws -> StatusWatch

    /// Refuses further calls and waits for the payments in flight. See ``Gateway/close()``.
    func close() async
}

extension PaymentGateway {
    /// The default of types that do not implement it.
    ///
    /// - Throws: ``PaymentError/misconfigured(detail:httpStatus:code:body:)``.
    public func checkMegapay(_ payment: MegapayPayment) async throws -> MegapayChecked { throw noMegapay }

    /// The default of types that do not implement it.
    ///
    /// - Throws: ``PaymentError/misconfigured(detail:httpStatus:code:body:)``.
    public func payByMegapay(_ payment: MegapayPayment, pin: String) async throws -> MegapayAccepted { throw noMegapay }
}

private let noMegapay = PaymentError.misconfigured(detail: "this gateway does not implement checkMegapay and payByMegapay")

extension PaymentGateway {
    /// Queries the status of a payment by the **gateway's** own number, with messages in the merchant's default language.
    public func paymentStatus(_ gatewayNumber: String) async throws -> StatusReport {
        try await paymentStatus(gatewayNumber, language: nil)
    }

    /// Follows a payment until it ends: a query every 10 seconds, for 20 minutes.
    public func watch(_ payment: PaymentRef) throws -> StatusWatch {
        try watch(payment, policy: PollPolicy())
    }
}
