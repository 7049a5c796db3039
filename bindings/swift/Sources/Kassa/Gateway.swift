internal import KassaGenerated

/// The payment gateway: one for a whole program, from any task.
///
/// Every call throws a ``PaymentError`` that says whether it may have moved money, and `CancellationError` **at once** when its task is
/// cancelled. A cancelled query ends. A cancelled payment is not sent if no connection was made yet; later it continues without its
/// caller. Query it with the ``PaymentRef`` that you stored before.
///
/// ```swift
/// let credentials = Credentials(login: "shop", password: password)
/// let gateway = try Gateway(GatewayConfig(baseURL: "https://pay.example.kg", credentials: credentials))
/// let payment = MbankPayment(
///     orderNumber: newOrderNumber(), phone: "996700000001", amountSom: 250, comment: "Two tickets")
/// try store(payment.paymentRef().description)  // before anything is sent
/// do {
///     let created = try await gateway.createMbankPayment(payment)
///     try store(created.payment.description)  // it may know more
///     _ = try await gateway.confirmMbankPayment(created.payment, otp: codeFromTheSMS)
/// } catch let error as PaymentError where error.paymentMayExist {
///     print(error)  // it may have been charged; query it, and never send it again
/// }
/// switch try await gateway.watch(payment.paymentRef()).outcome() {
/// case .charged: print("paid")  // the only reason to ship
/// case .rejected: print("not paid")
/// case .pending, .mismatch, .unverifiable: print("a person has to look")
/// case nil: print("stopped polling")
/// }
/// ```
///
/// Code that takes a ``PaymentGateway`` in its place can be tested with something else behind it; ``FakeGateway`` gives a gateway for
/// tests that needs no network.
public final class Gateway: PaymentGateway {
    let core: KassaGenerated.Gateway
    /// Shared by all gateways that share its connections.
    let closing: Closing
    private let baseURL: String
    /// The gateway's journal, if any.
    public let journal: Journal?

    /// Creates a gateway from a configuration. Sends nothing.
    ///
    /// - Parameters:
    ///   - config: The gateway's address, the credentials, and the dialect.
    ///   - journal: The journal that records payments before they are sent.
    /// - Throws: ``PaymentError/misconfigured(detail:httpStatus:code:body:)`` if a setting is invalid; the error names it.
    public init(_ config: GatewayConfig, journal: Journal? = nil) throws {
        let core = try translated { try KassaGenerated.Gateway(config: config.core()) }
        self.core = journal.map { core.withJournal(journal: $0.core) } ?? core
        closing = Closing()
        baseURL = config.baseURL
        self.journal = journal
    }

    init(core: KassaGenerated.Gateway, baseURL: String, journal: Journal? = nil, closing: Closing = Closing()) {
        self.core = core
        self.closing = closing
        self.baseURL = baseURL
        self.journal = journal
    }

    /// Creates a gateway with every other setting at its default. Sends nothing.
    ///
    /// - Parameters:
    ///   - baseURL: The gateway's address, without a path of its endpoints.
    ///   - credentials: The merchant's login and password.
    ///   - journal: The journal that records payments before they are sent.
    /// - Throws: As ``init(_:journal:)`` does.
    public convenience init(baseURL: String, credentials: Credentials, journal: Journal? = nil) throws {
        try self.init(GatewayConfig(baseURL: baseURL, credentials: credentials), journal: journal)
    }

    /// Creates a card payment. **Moves money**; sent once.
    ///
    /// An answer means that the gateway accepted the payment, not that it is paid: follow ``CardPaymentCreated/nextStep``, then watch it.
    ///
    /// - Throws: ``PaymentError/outcomeUnknown(payment:httpStatus:code:reason:detail:body:)`` if the payment may exist: watch it, and
    ///   never send it again. Every other ``PaymentError`` says that no money moved.
    public func createCardPayment(_ payment: CardPayment) async throws -> CardPaymentCreated {
        try CardPaymentCreated(
            await answer(
                to: .createCardPayment(gateway: core, payment: payment.core), FfiConverterTypeCardPaymentCreated.read))
    }

    /// Queries the status of a payment by the **gateway's** own number (the `token` of the confirmation page).
    ///
    /// - Parameters:
    ///   - gatewayNumber: The number that the gateway gave the payment.
    ///   - language: The language (ISO 639-1) of the gateway's messages; by default the merchant's.
    /// - Throws: No ``PaymentError`` says anything about the payment itself. A number that the gateway does not know is
    ///   ``PaymentError/refused(httpStatus:code:reason:body:)``.
    public func paymentStatus(_ gatewayNumber: String, language: String? = nil) async throws -> StatusReport {
        try await report(.paymentStatus(gateway: core, gatewayNumber: gatewayNumber, language: language))
    }

    /// Creates a mobile-bank payment; the payer then receives a one-time password. **Moves money**; sent once.
    ///
    /// - Throws: As ``createCardPayment(_:)`` does.
    public func createMbankPayment(_ payment: MbankPayment) async throws -> MbankPaymentCreated {
        MbankPaymentCreated(
            try await answer(
                to: .createMbankPayment(gateway: core, payment: payment.core), FfiConverterTypeMbankPaymentCreated.read))
    }

    /// Confirms a mobile-bank payment with the payer's one-time password. **Moves money**; sent once.
    ///
    /// - Parameters:
    ///   - payment: The reference from the create answer: it has the merchant's order number, and the identifier that the gateway wants
    ///     back, if the dialect names it.
    ///   - otp: The one-time password.
    /// - Throws: As ``createCardPayment(_:)`` does. A wrong password is ``PaymentError/refused(httpStatus:code:reason:body:)``.
    public func confirmMbankPayment(_ payment: PaymentRef, otp: String) async throws -> MbankConfirmed {
        MbankConfirmed(
            try await answer(
                to: .confirmMbankPayment(gateway: core, payment: payment.core, otp: otp), FfiConverterTypeMbankConfirmed.read))
    }

    /// Sends the payer a PIN and returns the commission. **Treat it as moving money**: the gateway's interface does not say that it does
    /// not. It is sent once. Show the payer the total before you ask for the PIN.
    ///
    /// - Throws: As ``createCardPayment(_:)`` does; ``PaymentError/misconfigured(detail:httpStatus:code:body:)`` if the dialect has no
    ///   MegaPay requests (`megapay`): without them, payers choose MegaPay on the pay-form.
    public func checkMegapay(_ payment: MegapayPayment) async throws -> MegapayChecked {
        MegapayChecked(
            try await answer(to: .checkMegapay(gateway: core, payment: payment.core), FfiConverterTypeMegapayChecked.read))
    }

    /// Pays from a MegaPay wallet with the payer's PIN. **Moves money**; sent once.
    ///
    /// - Parameters:
    ///   - payment: The same request as in ``checkMegapay(_:)``, which had the PIN sent.
    ///   - pin: The PIN that the payer received.
    /// - Throws: As ``checkMegapay(_:)`` does. A wrong PIN is ``PaymentError/refused(httpStatus:code:reason:body:)``.
    public func payByMegapay(_ payment: MegapayPayment, pin: String) async throws -> MegapayAccepted {
        MegapayAccepted(
            try await answer(
                to: .payByMegapay(gateway: core, payment: payment.core, pin: pin), FfiConverterTypeMegapayAccepted.read))
    }

    /// Creates a pay-form, the gateway's own page on which the payer chooses a method. Moves no money, whatever the error, and is sent
    /// once.
    public func createPayForm(_ form: PayForm) async throws -> PayFormCreated {
        try PayFormCreated(await answer(to: .createPayForm(gateway: core, form: form.core), FfiConverterTypePayFormCreated.read))
    }

    /// Queries the status of a payment by the **merchant's** order number and the provider.
    ///
    /// - Throws: As ``paymentStatus(_:language:)`` does.
    public func providerStatus(_ orderNumber: String, provider: Provider) async throws -> StatusReport {
        try await report(.providerStatus(gateway: core, orderNumber: orderNumber, provider: provider.core))
    }

    /// Creates a QR code as the gateway's own picture, 400x400. Moves no money, whatever the error, and is sent once.
    public func createQrImage(_ payment: QrPayment) async throws -> QrImage {
        QrImage(try await answer(to: .createQrImage(gateway: core, payment: payment.core), FfiConverterTypeQrImage.read))
    }

    /// Creates the data of a QR code, to be drawn with ``QrCode``. Moves no money, whatever the error, and is sent once.
    public func createQrData(_ payment: QrPayment) async throws -> QrData {
        QrData(try await answer(to: .createQrData(gateway: core, payment: payment.core), FfiConverterTypeQrData.read))
    }

    /// Queries the status of a QR payment by its transaction id.
    ///
    /// - Throws: As ``paymentStatus(_:language:)`` does.
    public func qrStatus(_ transactionID: String) async throws -> StatusReport {
        try await report(.qrStatus(gateway: core, transactionId: transactionID))
    }

    /// Queries a payment once and compares the gateway's report with the request. It queries by the most reliable of the payment's
    /// numbers, and by the next one if that query is refused or its response is not understood.
    ///
    /// - Throws: ``PaymentError/invalid(violations:)`` if the reference has no number to query by; otherwise as
    ///   ``paymentStatus(_:language:)`` does. None of them says anything about the payment.
    public func check(_ payment: PaymentRef) async throws -> Verdict {
        try await verdict(.check(gateway: core, payment: payment.core))
    }

    /// Verifies a callback: compares it with the request, and queries the gateway. **A callback is only a hint**: nothing proves who sent
    /// it.
    ///
    /// If the payment has no number of its own (a pay-form, the gateway's own QR picture), the callback's number is taken as a claim.
    /// Then the gateway must report the requested amount, and the number must not be that of a QR payment, whose amount may be in tyiyn:
    /// `qr_numbers` in the ``Dialect`` tells how to exclude that.
    ///
    /// - Parameters:
    ///   - callback: What somebody sent.
    ///   - payment: The reference that was stored at the sale, **never one made from the callback**.
    /// - Throws: If the query failed, or the gateway does not know the payment. That proves nothing: verify again.
    public func verifyCallback(_ callback: Callback, payment: PaymentRef) async throws -> Verdict {
        try await verdict(.verifyCallback(gateway: core, callback: callback.core, payment: payment.core))
    }

    /// Verifies the payer's return: queries the gateway. **A return is only a hint**: it passes through the payer's browser. For a
    /// pay-form, its order number is taken as a claim, as ``verifyCallback(_:payment:)`` does with a callback's.
    ///
    /// - Parameters:
    ///   - redirect: The address that the payer came back to.
    ///   - payment: The reference that was stored at the sale.
    /// - Throws: As ``verifyCallback(_:payment:)`` does.
    public func verifyReturn(_ redirect: ReturnRedirect, payment: PaymentRef) async throws -> Verdict {
        try await verdict(.verifyReturn(gateway: core, redirect: redirect.core, payment: payment.core))
    }

    /// Polls a payment until there is a final ``Verdict``, or the policy's deadline passes. Nothing is sent until you request a report.
    ///
    /// - Throws: ``PaymentError/invalid(violations:)`` if the reference has no number to query by.
    public func watch(_ payment: PaymentRef, policy: PollPolicy = PollPolicy()) throws -> StatusWatch {
        StatusWatch(try translated { try core.watch(payment: payment.core, policy: policy.core) })
    }

    /// The same gateway with one deadline for every call, whether it moves money or not, as in
    /// `gateway.withDeadline(.seconds(5)).qrStatus(...)`.
    ///
    /// It shares connections and payments in flight, and is cheap enough to create for one call. In a watch, the deadline applies to each
    /// query. Closing one gateway closes both.
    ///
    /// - Throws: ``PaymentError/misconfigured(detail:httpStatus:code:body:)`` for a deadline of zero or less.
    public func withDeadline(_ deadline: Duration) throws -> Gateway {
        let changed = try translated { try core.withDeadline(deadline: deadline.core) }
        return Gateway(core: changed, baseURL: baseURL, journal: journal, closing: closing)
    }

    /// The same gateway with a journal: it records each payment before sending it. Closing one of them closes both.
    public func withJournal(_ journal: Journal) -> Gateway {
        Gateway(core: core.withJournal(journal: journal.core), baseURL: baseURL, journal: journal, closing: closing)
    }

    /// The same gateway, which writes this note into the journal's entries of the payments that it makes, so that after a crash it is
    /// known what each payment is for: `gateway.withNote("cart 17").createCardPayment(...)`. It costs next to nothing, so it can be made
    /// for one call.
    ///
    /// - Throws: ``PaymentError/invalid(violations:)`` for a note of more than 256 characters (Unicode scalars),
    ///   ``PaymentError/misconfigured(detail:httpStatus:code:body:)`` if the gateway has no journal.
    public func withNote(_ note: String) throws -> Gateway {
        let changed = try translated { try core.withNote(note: checked(note, "note")) }
        return Gateway(core: changed, baseURL: baseURL, journal: journal, closing: closing)
    }

    /// Polls every unfinished payment of the gateway's journal until it is final. Call it at startup, and repeatedly in a long-running
    /// program. No query is sent before you iterate: see ``Recovery``.
    ///
    /// - Throws: ``PaymentError/misconfigured(detail:httpStatus:code:body:)`` if the gateway has no journal, and
    ///   ``PaymentError/invalid(violations:)`` for a policy of zeros.
    public func recover(_ policy: RecoveryPolicy = RecoveryPolicy()) throws -> Recovery {
        let recovery = Recovery { [core] in try core.recover(policy: policy.core) }
        _ = try translated(recovery.begin)  // what is wrong is said at once
        return recovery
    }

    /// The unfinished entries of the gateway's journal, without queries: see ``Journal/unfinished()``.
    ///
    /// The iteration throws ``PaymentError/misconfigured(detail:httpStatus:code:body:)`` if the gateway has no journal.
    public func unfinished() -> UnfinishedEntries {
        UnfinishedEntries { [core] in try core.unfinishedPages() }
    }

    /// Marks an entry of the gateway's journal as finished: the goods were delivered, or a person has dealt with it. It completes even if
    /// the task is cancelled.
    ///
    /// - Throws: ``PaymentError/misconfigured(detail:httpStatus:code:body:)`` if the gateway has no journal; otherwise as
    ///   `Journal.finish(_:)` does.
    public func finish(_ entry: JournalEntry) async throws {
        try await finish(entry.id)
    }

    /// The same by the entry's own name: also for one that cannot be read, once a person has looked at it.
    ///
    /// - Throws: As the other one does.
    public func finish(_ id: String) async throws {
        try await answerDespiteCancellation(to: .finish(gateway: core, id: checked(id, "id")), nothing)
    }

    /// Refuses further calls, and ends every watch and recovery at once: their callers get
    /// ``PaymentError/misconfigured(detail:httpStatus:code:body:)``, which says nothing about a payment. Then waits until every payment
    /// in flight has its response, at most until its deadline, or until this task is cancelled; an already cancelled task does not wait.
    public func close() async {
        closing.close()
        do {
            try await answer(to: .close(gateway: core), nothing)
        } catch {
            await closeAtOnce()
        }
    }

    /// The same as ``close()``, with a limit to the wait; zero does not wait.
    ///
    /// - Returns: True if every payment has its response. **False means that the outcome of a payment is unknown**: it continues while
    ///   the process lives. The next ``recover(_:)`` polls it if there is a journal; without a journal, query with the ``PaymentRef``
    ///   that you stored. Never send it again.
    @discardableResult
    public func close(within timeout: Duration) async -> Bool {
        closing.close()
        do {
            return try await answer(to: .closeWithin(gateway: core, timeout: timeout.core), bool)
        } catch {
            return await closeAtOnce()
        }
    }

    /// Closes without waiting, after the task was cancelled. If that was before the call, the gateway is still open.
    @discardableResult
    private func closeAtOnce() async -> Bool {
        // Closing has no error.
        (try? await answerDespiteCancellation(to: .closeWithin(gateway: core, timeout: 0), bool)) ?? false
    }

    private func report(_ query: AsyncCall) async throws -> StatusReport {
        StatusReport(try await answer(to: query, FfiConverterTypeStatusReport.read))
    }

    private func verdict(_ query: AsyncCall) async throws -> Verdict {
        Verdict(try await answer(to: query, FfiConverterTypeVerdict.read))
    }
}

extension Gateway: CustomStringConvertible, CustomReflectable {
    /// Its address.
    public var description: String { "Gateway(\(baseURL))" }

    /// Its address.
    public var customMirror: Mirror { Mirror(self, children: ["baseURL": baseURL]) }
}
