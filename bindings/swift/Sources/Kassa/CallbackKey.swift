internal import KassaGenerated

/// Signs which payment an address is about: into the callback and return URLs that go out, and read back from the address that was
/// called.
///
/// The interface signs no callbacks. With a key, a shop without a database still knows which order a callback is about, and a forged one
/// goes no further: not even as far as a question to the gateway.
///
/// **What arrives is a hint all the same.** A true address can be called again, by the gateway and by everybody who saw it; the payer's
/// browser sees the return URL. The signature says that this shop made the reference, never that anything was paid: the gateway's
/// report decides (``Gateway/verifyCallback(_:expected:)``, ``Gateway/watch(_:policy:)``). A return URL does not pass as a callback
/// URL, nor the other way about.
///
/// The reference is signed, not hidden: whoever sees the address can read it. Of the address nothing else is signed, neither host and
/// path nor parameters of the shop's own, and not the `OrderNumber` that the gateway adds either.
///
/// The address grows by one query parameter, `kassa`, of some 110 to 200 characters with ordinary order numbers: 45, and four for every
/// three bytes of the reference's text. The interface limits no length.
///
/// The key belongs where the gateway's password is, which is **not inside a mobile app**.
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

    /// A key by its secret: 32 bytes or more that nobody can guess, such as `openssl rand -base64 32` prints. Give every shop its own.
    ///
    /// - Throws: ``PaymentError/invalid(violations:)`` where it is shorter than 32 bytes.
    public init(secret: String) throws {
        core = try translated { try KassaGenerated.CallbackKey(secret: checked(secret, "secret")) }
    }

    /// The same key, which also reads what was signed with a previous secret: for key rotation. Sign with the new one, and drop the
    /// previous one once its payments are over.
    ///
    /// - Throws: As ``init(secret:)`` does.
    public func withPrevious(_ secret: String) throws -> CallbackKey {
        CallbackKey(core: try translated { try core.withPrevious(secret: checked(secret, "secret")) })
    }

    /// A callback URL with the reference in it, signed. What the URL holds stays as it is.
    ///
    /// - Throws: ``PaymentError/invalid(violations:)`` where the URL is not an absolute http or https one or has a parameter `kassa`
    ///   already, and where the reference would not be read back as it is.
    public func callbackURL(_ url: String, for payment: PaymentRef) throws -> String {
        try translated { try core.callbackUrl(url: checked(url, "callbackUrl"), payment: payment.core) }
    }

    /// A return URL with the reference in it, signed. The deep link of an app will do. What it holds stays as it is, and the gateway adds
    /// parameters of its own.
    ///
    /// - Throws: ``PaymentError/invalid(violations:)`` where the text is not an absolute URI or has a parameter `kassa` already, and where
    ///   the reference would not be read back as it is.
    public func returnURL(_ url: String, for payment: PaymentRef) throws -> String {
        try translated { try core.returnUrl(url: checked(url, "returnUrl"), payment: payment.core) }
    }

    /// The reference that was signed into the callback URL that was called: all of it, or the path and the query.
    ///
    /// - Throws: ``PaymentError/invalid(violations:)`` where there is no parameter `kassa` or more than one, and where it was not signed
    ///   by this key as a callback URL. Answer such a call with an HTTP error, and ask the gateway nothing.
    public func readCallbackURL(_ called: String) throws -> PaymentRef {
        PaymentRef(try translated { try core.readCallbackUrl(called: checked(called, "kassa")) })
    }

    /// The reference that was signed into the return URL that the payer came back to: all of it, or the path and the query.
    ///
    /// - Throws: As ``readCallbackURL(_:)`` does.
    public func readReturnURL(_ called: String) throws -> PaymentRef {
        PaymentRef(try translated { try core.readReturnUrl(called: checked(called, "kassa")) })
    }
}

extension CallbackKey: CustomStringConvertible, CustomReflectable {
    /// A mask.
    public var description: String { "CallbackKey(***)" }

    /// Nothing of what is inside.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
