internal import KassaGenerated

/// One checkout from its payer's side: the state for a payment screen (``CheckoutState``) and the payer's actions. It talks to the
/// merchant's server (`kassa-server`) with a client token that opens only this checkout, so **the app contains no credentials of the
/// merchant**.
///
/// It polls the checkout until it is closed or released: keep a reference while its screen is shown. Actions return at once; their result
/// is a new state. A failed request to the server is retried with the same idempotency key and shown as a message: **a network error
/// never causes a double payment, and never shows a payment as failed.** After the app was killed, open the checkout again with its
/// token, and it continues where it was. Everybody who has the checkout open sees the same state.
///
/// ```swift
/// let checkout = try Checkout(serverURL: "https://pay.shop.example.kg", clientToken: token) { try await newTokenFromTheShop() }
/// for await state in checkout.states {
///     show(state)  // and where the payer taps: try checkout.payByMbank(phone: typed)
/// }
/// ```
///
/// The state ``CheckoutState/paid(amount:currency:)`` is the server's report, which an app can show. **The shop delivers on the server's
/// event, never because an app says so.**
public final class Checkout: Sendable {
    private let core: KassaGenerated.Checkout
    private let serverURL: String
    private let renewal: Task<Void, Never>?

    /// Opens a checkout of the merchant's server with a client token, and begins to poll it. The states tell whether the server is
    /// reachable and accepts the token.
    ///
    /// - Parameters:
    ///   - serverURL: https, or http to a loopback address.
    ///   - clientToken: The client token from the shop's back end.
    ///   - settings: The connection settings.
    ///   - renewToken: Gets a new client token from the shop's back end. It is called when the old token expires (after 15 minutes by
    ///     default). If it throws, it is called again later; the error is logged for you (``KassaLog``), and the payer sees
    ///     ``MessageTopic/tokenNotRenewed``. Its task is cancelled when the checkout is closed or released.
    /// - Throws: ``PaymentError/misconfigured(detail:httpStatus:code:body:)`` if the address or a setting is invalid, or the token cannot
    ///   be a client token (for example, it is an API key of the shop); the error names it.
    public init(
        serverURL: String, clientToken: String, settings: CheckoutSettings = CheckoutSettings(),
        renewToken: (@Sendable () async throws -> String)? = nil
    ) throws {
        let core = try translated {
            try KassaGenerated.Checkout.open(
                serverUrl: checked(serverURL, "server_url"), clientToken: checked(clientToken, "client_token"), settings: settings.core)
        }
        self.core = core
        self.serverURL = serverURL
        renewal = renewToken.map { renewToken in Task { await renew(core, by: renewToken) } }
    }

    deinit {
        // The task of the renewal holds the core's, too.
        close()
    }

    /// The current state.
    public var state: CheckoutState { CheckoutState(core.state()) }

    /// The checkout's details; nil until the server has answered.
    public var details: CheckoutDetails? { core.details().map(CheckoutDetails.init) }

    /// The states as they change: the current one first, then each new one. See ``CheckoutStates``.
    public var states: CheckoutStates { CheckoutStates(core) }

    /// Pays by the mobile bank, which sends a one-time password to this phone. The number is normalized with ``normalizedPhone(_:)``
    /// before sending: show the result to the payer first.
    ///
    /// - Throws: ``PaymentError/invalid(violations:)``, by ``Rule/state`` if the state does not allow it, or if it is not a phone number.
    ///   Nothing was sent then.
    public func payByMbank(phone: String) throws {
        try translated { try core.payByMbank(phone: checked(phone, "phone")) }
    }

    /// Pays from a MegaPay wallet: a PIN is sent to this phone. ``CheckoutState/enterOtp(_:)`` has the commission and the total. The
    /// number is normalized with ``normalizedPhone(_:)`` before sending: show the result to the payer first.
    ///
    /// - Throws: As ``payByMbank(phone:)`` does.
    public func payByMegapay(phone: String) throws {
        try translated { try core.payByMegapay(phone: checked(phone, "phone")) }
    }

    /// Confirms the payment with the code that the payer received: the one-time password of the mobile bank, or the PIN of the wallet.
    /// Spaces, hyphens and invisible characters are removed.
    ///
    /// - Throws: ``PaymentError/invalid(violations:)``, by ``Rule/state`` if no code is expected, or if it is empty or has no digit.
    ///   Nothing was sent then.
    public func confirm(otp: String) throws {
        try translated { try core.confirm(otp: checked(otp, "otp")) }
    }

    /// Pays by card. **A card form in an app puts the merchant under PCI DSS**; payers can also pay by card on the gateway's own page
    /// (``payByForm()``).
    ///
    /// - Throws: ``PaymentError/invalid(violations:)``, by ``Rule/state`` if the state does not allow it (also if the server accepts no
    ///   cards), or with all violations of the card. Nothing was sent then.
    public func payByCard(_ card: Card) throws {
        try translated { try core.payByCard(card: card.core) }
    }

    /// Creates a QR code to pay with.
    ///
    /// - Throws: ``PaymentError/invalid(violations:)``, by ``Rule/state`` if the state does not allow it.
    public func payByQr() throws {
        try translated { try core.payByQr() }
    }

    /// Creates a pay-form, the gateway's own page where the payer chooses a method.
    ///
    /// - Throws: ``PaymentError/invalid(violations:)``, by ``Rule/state`` if the state does not allow it.
    public func payByForm() throws {
        try translated { try core.payByForm() }
    }

    /// The payer wants another number or payment method than that of the open payment. The state becomes `ready` with `canKeepMethod`.
    /// **Nothing is sent yet, and the open payment can still be paid**; the `payBy…` that follows replaces it. If it ends meanwhile, that
    /// is shown at once. An app that was killed during the choice shows the open payment again.
    ///
    /// - Throws: ``PaymentError/invalid(violations:)``, by ``Rule/state`` if the state has no `canChangeMethod`, or it is false.
    public func changeMethod() throws {
        try translated { try core.changeMethod() }
    }

    /// The payer keeps the open payment: its state is shown again.
    ///
    /// - Throws: ``PaymentError/invalid(violations:)``, by ``Rule/state`` if no other method is being chosen.
    public func keepMethod() throws {
        try translated { try core.keepMethod() }
    }

    /// Tell the checkout that the app has opened the page of ``CheckoutState/openPage(url:begunHere:methods:message:)``, so that it is
    /// not opened automatically again when the state changes.
    public func pageOpened() { core.pageOpened() }

    /// The payer came back from a page, by a deep link or by closing it: the gateway is queried at once. **The link's content is not
    /// trusted**, so you need not read it.
    public func cameBack() { core.cameBack() }

    /// Queries the gateway at once, and runs pending retries at once: for an app that returns to the foreground, and for a button.
    public func checkNow() { core.checkNow() }

    /// Continues with a new client token of the same checkout. A text that cannot be a client token, such as an API key of the shop, is
    /// not sent, and a message says so (``MessageTopic/tokenNotRenewed``). A text longer than 2 GiB changes nothing.
    public func renewToken(_ clientToken: String) {
        if canBeHandedOn([clientToken]) { core.renewToken(clientToken: clientToken) }
    }

    /// Stops polling, and ends the states. A payment that was sent continues at the server; opening the checkout again shows its state.
    public func close() {
        core.close()
        renewal?.cancel()
    }
}

/// Token renewal: asks the app's function for a token whenever one is wanted, until the checkout is closed. The core waits between two
/// tries.
private func renew(_ core: KassaGenerated.Checkout, by renewToken: @Sendable () async throws -> String) async {
    // The only error is that the task was cancelled.
    while (try? await answer(to: .checkoutTokenWanted(checkout: core), bool)) == true {
        do {
            let token = try checked(await renewToken(), "client_token")
            core.renewToken(clientToken: token)
        } catch {
            // A checkout that was closed needs no token any more.
            if !Task.isCancelled { KassaLog.write(.tokenNotRenewed(error)) }
            core.tokenNotRenewed(reason: error.localizedDescription)
        }
    }
}

extension LogEvent {
    fileprivate static func tokenNotRenewed(_ error: any Error) -> LogEvent {
        // With quotes, so that it cannot pass for another field.
        let (kind, text) = ("\(type(of: error))", error.localizedDescription)
        let fields = "error=\(kind.debugDescription) text=\(text.debugDescription)"
        return LogEvent(level: .warning, text: "renewToken threw an error; it is called again \(fields)")
    }
}

extension Checkout: CustomStringConvertible, CustomReflectable {
    /// Its address and its state, without the token or the URL of a page.
    public var description: String { "Checkout(\(serverURL), \(state.kind))" }

    /// The same as ``description``.
    public var customMirror: Mirror { Mirror(self, children: ["serverURL": serverURL, "state": state.kind]) }
}
