package dev.kassa

import dev.kassa.internal.CallbackKey as CoreCallbackKey

/**
 * Signs which payment an address is about: into the callback and return URLs that go out, and read back from the address that was
 * called.
 *
 * The interface signs no callbacks. With a key, a shop without a database still knows which order a callback is about, and a forged
 * one goes no further: not even as far as a question to the gateway.
 *
 * **What arrives is a hint all the same.** A true address can be called again, by the gateway and by everybody who saw it; the
 * payer's browser sees the return URL. The signature says that this shop made the reference, never that anything was paid: the
 * gateway's report decides ([Gateway.verifyCallback], [Gateway.watch]). A return URL does not pass as a callback URL, nor the other
 * way about.
 *
 * The reference is signed, not hidden: whoever sees the address can read it. Of the address nothing else is signed, neither host and
 * path nor parameters of the shop's own, and not the `OrderNumber` that the gateway adds either.
 *
 * The address grows by one query parameter, `kassa`, of some 110 to 200 characters with ordinary order numbers: 45, and four for
 * every three bytes of the reference's text. The interface limits no length.
 *
 * The key belongs where the gateway's password is, which is **not in a mobile app**.
 *
 * ```
 * val key = CallbackKey(secret)
 * val url = key.callbackUrl("https://shop.example/callbacks?shop=7", payment)
 * // Later, with the path and the query that were called:
 * val payment = key.readCallbackUrl(called)
 * ```
 */
public class CallbackKey private constructor(private val core: CoreCallbackKey) {
    /**
     * A key by its secret: 32 bytes or more that nobody can guess, such as `openssl rand -base64 32` prints. Give every shop its own.
     *
     * @throws PaymentException.Invalid where it is shorter than 32 bytes
     */
    @Throws(PaymentException::class)
    public constructor(secret: String) : this(calling { CoreCallbackKey(sendable("secret", secret)) })

    /**
     * The same key, which also reads what was signed with a previous secret: for key rotation. Sign with the new one, and drop the
     * previous one once its payments are over.
     *
     * @throws PaymentException.Invalid where it is shorter than 32 bytes
     */
    @Throws(PaymentException::class)
    public fun withPrevious(secret: String): CallbackKey = CallbackKey(calling { core.withPrevious(sendable("secret", secret)) })

    /**
     * A callback URL with the reference in it, signed. What the URL holds stays as it is.
     *
     * @throws PaymentException.Invalid where the URL is not an absolute http or https one or has a parameter `kassa` already, and where
     *   the reference would not be read back as it is
     */
    @Throws(PaymentException::class)
    public fun callbackUrl(url: String, payment: PaymentRef): String =
        calling { core.callbackUrl(sendable("callbackUrl", url), payment.toCore()) }

    /**
     * A return URL with the reference in it, signed. The deep link of an app will do. What it holds stays as it is, and the gateway
     * adds parameters of its own.
     *
     * @throws PaymentException.Invalid where the text is not an absolute URI or has a parameter `kassa` already, and where the
     *   reference would not be read back as it is
     */
    @Throws(PaymentException::class)
    public fun returnUrl(url: String, payment: PaymentRef): String =
        calling { core.returnUrl(sendable("returnUrl", url), payment.toCore()) }

    /**
     * The reference that was signed into the callback URL that was called: all of it, or the path and the query.
     *
     * @throws PaymentException.Invalid where there is no parameter `kassa` or more than one, and where it was not signed by this key as
     *   a callback URL. Answer such a call with an HTTP error, and ask the gateway nothing
     */
    @Throws(PaymentException::class)
    public fun readCallbackUrl(called: String): PaymentRef =
        calling { core.readCallbackUrl(sendable("kassa", called)).toKassa() }

    /**
     * The reference that was signed into the return URL that the payer came back to: all of it, or the path and the query.
     *
     * @throws PaymentException.Invalid as [readCallbackUrl] does
     */
    @Throws(PaymentException::class)
    public fun readReturnUrl(called: String): PaymentRef = calling { core.readReturnUrl(sendable("kassa", called)).toKassa() }

    /** Nothing of the secret. */
    override fun toString(): String = "CallbackKey(***)"
}
