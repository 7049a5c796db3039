internal import KassaGenerated

/// One checkout, as its payer's app pays it: what a payment screen shows (``CheckoutState``) and what the payer can do. It talks to
/// the merchant's server (`kassa-server`) with a client token that opens this one checkout, so **an app holds no secret of the
/// merchant's**.
///
/// It follows the checkout by itself until it is closed, or nobody holds it any more: hold it for as long as its screen is there.
/// Actions return at once; what comes of them is a state. Whatever fails between app and server is tried again with the same
/// idempotency key, and shown as a message: **never is anything paid twice, and never is a payment called failed, because of the
/// network.** An app that was killed opens the checkout again with its token, and is where it was. Everybody who has it open sees the
/// same.
///
/// ```swift
/// let checkout = try Checkout(serverURL: "https://pay.shop.example.kg", clientToken: token) { try await newTokenFromTheShop() }
/// for await state in checkout.states {
///     show(state)  // and where the payer taps: try checkout.payByMbank(phone: typed)
/// }
/// ```
///
/// The state ``CheckoutState/paid(amount:currency:)`` is the server's word, which an app can show. **The shop delivers by the server's
/// event, never because an app says so.**
public final class Checkout: Sendable {
    private let core: KassaGenerated.Checkout
    private let serverURL: String
    private let renewal: Task<Void, Never>?

    /// Opens a checkout of the merchant's server by a client token, and begins to follow it. Whether the server is reached, and takes
    /// the token, the states tell.
    ///
    /// - Parameters:
    ///   - serverURL: https, or http to a loopback address.
    ///   - clientToken: What the shop's back end handed to the app.
    ///   - settings: How it reaches the server; as they are by themselves unless given.
    ///   - renewToken: Gets a new client token from the shop's back end, called when the one before is not good any more (it lives for 15
    ///     minutes unless the server is set up otherwise). Where it throws, it is called again, after a while; the error is for you, and
    ///     stands in the log (``KassaLog``), while the payer reads ``MessageTopic/tokenNotRenewed``. Its task is cancelled when the
    ///     checkout is closed, or nobody holds it any more.
    /// - Throws: ``PaymentError/misconfigured(detail:httpStatus:code:body:)`` where the address or a setting cannot work, or the token can
    ///   be no client token (such as an API key of the shop's), naming it.
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

    /// Where it stands now.
    public var state: CheckoutState { CheckoutState(core.state()) }

    /// What is to be paid; nil before the server has answered.
    public var details: CheckoutDetails? { core.details().map(CheckoutDetails.init) }

    /// The states as they come: the one of now first, then each that is another one. See ``CheckoutStates``.
    public var states: CheckoutStates { CheckoutStates(core) }

    /// Pays by the mobile bank: it sends a one-time password to this phone. However it is written, what is sent is
    /// ``normalizedPhone(_:)`` of it: show that to the payer before.
    ///
    /// - Throws: ``PaymentError/invalid(violations:)``, by ``Rule/state`` where this does not fit the state, or where it is no phone number.
    ///   Nothing was sent then.
    public func payByMbank(phone: String) throws {
        try translated { try core.payByMbank(phone: checked(phone, "phone")) }
    }

    /// Confirms the payment by the mobile bank with the one-time password that the payer got, as the message shows it: spaces, hyphens
    /// and marks that are not seen are left out.
    ///
    /// - Throws: ``PaymentError/invalid(violations:)``, by ``Rule/state`` where none is awaited, or where none is given or it has no digit.
    ///   Nothing was sent then.
    public func confirm(otp: String) throws {
        try translated { try core.confirm(otp: checked(otp, "otp")) }
    }

    /// Pays by a card. **A form for card numbers in an app puts the merchant under PCI DSS**; on the gateway's own page
    /// (``payByForm()``) payers pay by card too.
    ///
    /// - Throws: ``PaymentError/invalid(violations:)``, by ``Rule/state`` where this does not fit the state (also where the server takes no
    ///   cards), or with everything that is wrong with the card. Nothing was sent then.
    public func payByCard(_ card: Card) throws {
        try translated { try core.payByCard(card: card.core) }
    }

    /// Makes a QR code to pay by.
    ///
    /// - Throws: ``PaymentError/invalid(violations:)``, by ``Rule/state`` where this does not fit the state.
    public func payByQr() throws {
        try translated { try core.payByQr() }
    }

    /// Makes a page of the gateway's, where the payer chooses how to pay.
    ///
    /// - Throws: ``PaymentError/invalid(violations:)``, by ``Rule/state`` where this does not fit the state.
    public func payByForm() throws {
        try translated { try core.payByForm() }
    }

    /// The payer wants another number, or another way to pay, than that of the open payment: the state becomes `ready` with
    /// `canKeepMethod`. **Nothing is sent yet, and the open payment can still be paid**; the `payBy…` that follows replaces it. What
    /// becomes of it meanwhile is shown at once. An app that was killed while its payer chose shows the open payment again.
    ///
    /// - Throws: ``PaymentError/invalid(violations:)``, by ``Rule/state`` where the state has no `canChangeMethod`, or it is false.
    public func changeMethod() throws {
        try translated { try core.changeMethod() }
    }

    /// The payer stays with the open payment after all: its state is shown again.
    ///
    /// - Throws: ``PaymentError/invalid(violations:)``, by ``Rule/state`` where nothing is being changed.
    public func keepMethod() throws {
        try translated { try core.keepMethod() }
    }

    /// The app has opened the page of ``CheckoutState/openPage(url:begunHere:methods:message:)``: it is not to be opened by itself again,
    /// whatever else of the state changes.
    public func pageOpened() { core.pageOpened() }

    /// The payer came back from a page, by a deep link or by closing it: the gateway is asked at once. **What the link says is not
    /// believed**, so it needs not be read.
    public func cameBack() { core.cameBack() }

    /// Has the gateway asked at once, and tries again at once what waits for a next try: for an app that has come back to the front, and
    /// for a button.
    public func checkNow() { core.checkNow() }

    /// Goes on with another client token of the same checkout. A text that can be none, such as an API key of the shop's, is sent to
    /// nobody, and a message says so (``MessageTopic/tokenNotRenewed``). One that is too long for a text of 2 GiB changes nothing.
    public func renewToken(_ clientToken: String) {
        if canBeHandedOn([clientToken]) { core.renewToken(clientToken: clientToken) }
    }

    /// Stops following. The states end. What was sent goes on at the server, and opening it again shows what became of it.
    public func close() {
        core.close()
        renewal?.cancel()
    }
}

/// Token renewal: asks the app's function for a token whenever one is wanted, until the checkout is closed. The core waits between two
/// tries.
private func renew(_ core: KassaGenerated.Checkout, by renewToken: @Sendable () async throws -> String) async {
    let call = CancellableCall()
    await withTaskCancellationHandler {
        while await call.tokenWanted(checkout: core) {
            do {
                let token = try checked(await renewToken(), "client_token")
                core.renewToken(clientToken: token)
            } catch {
                // A checkout that was closed needs no token any more.
                if !Task.isCancelled { KassaLog.write(.tokenNotRenewed(error)) }
                core.tokenNotRenewed(reason: error.localizedDescription)
            }
        }
    } onCancel: {
        call.cancel()
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
    /// Its address, and where it stands. The token is not printed, nor is a page, which whoever sees its address can open.
    public var description: String { "Checkout(\(serverURL), \(state.kind))" }

    /// The same as ``description``.
    public var customMirror: Mirror { Mirror(self, children: ["serverURL": serverURL, "state": state.kind]) }
}
