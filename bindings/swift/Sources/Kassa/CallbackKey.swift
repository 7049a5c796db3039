internal import KassaGenerated

/// Signs a payment reference into callback and return URLs, and reads it back from the URL that was called.
///
/// The gateway does not sign its callbacks. With a key, a shop without a database knows which order a callback is about, and rejects a
/// forged one without a query to the gateway.
///
/// **A signed callback is still only a hint.** A genuine URL can be called again by the gateway and by everybody who saw it; the payer's
/// browser sees the return URL. The signature proves that this shop made the reference, never that anything was paid: the gateway's
/// report decides (``Gateway/verifyCallback(_:payment:)``, ``Gateway/watch(_:policy:)``). A return URL is not accepted as a callback URL,
/// or the reverse.
///
/// The reference is signed, not encrypted: whoever sees the URL can read it. Nothing else in the URL is signed: not the host, the path,
/// your own parameters, or the `OrderNumber` that the gateway adds.
///
/// The URL grows by one query parameter, `kassa`. With ordinary order numbers it has 140 to 250 characters: 45, plus four for every three
/// bytes of the reference's text. The interface sets no length limit.
///
/// Keep the key where you keep the gateway's password, and **not in a mobile app**.
///
/// ```swift
/// let key = try CallbackKey(secret: secret)
/// let url = try key.callbackURL("https://shop.example/callbacks?shop=7", for: payment)
/// // Later, with the path and the query that were called:
/// let payment = try key.readCallbackURL(called)
/// ```
public struct CallbackKey: Sendable {
    let core: KassaGenerated.CallbackKey

    private init(core: KassaGenerated.CallbackKey) {
        self.core = core
    }

    /// Creates a key from a secret: at least 32 bytes that nobody can guess, such as `openssl rand -base64 32` prints. Use a different
    /// one for each shop.
    ///
    /// - Throws: ``PaymentError/invalid(violations:)`` if it is shorter than 32 bytes.
    public init(secret: String) throws {
        core = try translated { try KassaGenerated.CallbackKey(secret: checked(secret, "secret")) }
    }

    /// The same key, which also accepts signatures made with a previous secret: for key rotation. Drop the previous secret once its
    /// payments are final.
    ///
    /// - Throws: As ``init(secret:)`` does.
    public func withPrevious(_ secret: String) throws -> CallbackKey {
        CallbackKey(core: try translated { try core.withPrevious(secret: checked(secret, "secret")) })
    }

    /// Adds the signed reference to a callback URL. The rest of the URL stays unchanged.
    ///
    /// - Throws: ``PaymentError/invalid(violations:)`` if the URL is not an absolute http or https URL, already has a parameter `kassa`,
    ///   or if the reference could not be read back unchanged.
    public func callbackURL(_ url: String, for payment: PaymentRef) throws -> String {
        try translated { try core.callbackUrl(url: checked(url, "callbackUrl"), payment: payment.core) }
    }

    /// Adds the signed reference to a return URL, which can be an app's deep link. The rest of the URL stays unchanged, and the gateway
    /// adds parameters of its own.
    ///
    /// - Throws: ``PaymentError/invalid(violations:)`` if the text is not an absolute URI, already has a parameter `kassa`, or if the
    ///   reference could not be read back unchanged.
    public func returnURL(_ url: String, for payment: PaymentRef) throws -> String {
        try translated { try core.returnUrl(url: checked(url, "returnUrl"), payment: payment.core) }
    }

    /// Reads the signed reference from the callback URL that was called: the whole URL, or its path and query.
    ///
    /// - Throws: ``PaymentError/invalid(violations:)`` if there is not exactly one parameter `kassa`, or if this key did not sign it as a
    ///   callback URL. Answer such a call with an HTTP error, and do not query the gateway.
    public func readCallbackURL(_ called: String) throws -> PaymentRef {
        PaymentRef(try translated { try core.readCallbackUrl(called: checked(called, "kassa")) })
    }

    /// Reads the signed reference from the return URL that the payer came back to: the whole URL, or its path and query.
    ///
    /// - Throws: As ``readCallbackURL(_:)`` does.
    public func readReturnURL(_ called: String) throws -> PaymentRef {
        PaymentRef(try translated { try core.readReturnUrl(called: checked(called, "kassa")) })
    }
}

extension CallbackKey: CustomStringConvertible, CustomReflectable {
    /// A mask.
    public var description: String { "CallbackKey(***)" }

    /// A mask: nothing of the content.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
