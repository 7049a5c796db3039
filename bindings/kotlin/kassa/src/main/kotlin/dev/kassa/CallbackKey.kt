package dev.kassa

import dev.kassa.internal.CallbackKey as CoreCallbackKey

/**
 * Signs a payment reference into callback and return URLs, and reads it back from the URL that was called.
 *
 * The gateway does not sign its callbacks. With a key, a shop without a database knows which order a callback is about, and rejects a
 * forged one without a query to the gateway.
 *
 * **A signed callback is still only a hint.** A genuine URL can be called again by the gateway and by everybody who saw it; the payer's
 * browser sees the return URL. The signature proves that this shop made the reference, never that anything was paid: the gateway's report
 * decides ([Gateway.verifyCallback], [Gateway.watch]). A return URL is not accepted as a callback URL, or the reverse.
 *
 * The reference is signed, not encrypted: whoever sees the URL can read it. Nothing else in the URL is signed: not the host, the path,
 * your own parameters, or the `OrderNumber` that the gateway adds.
 *
 * The URL grows by one query parameter, `kassa`. With ordinary order numbers it has 140 to 250 characters: 45, plus four for every three
 * bytes of the reference's text. The interface sets no length limit.
 *
 * Keep the key where you keep the gateway's password, and **not in a mobile app**.
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
     * Creates a key from a secret: at least 32 bytes that nobody can guess, such as `openssl rand -base64 32` prints. Use a different one
     * for each shop.
     *
     * @throws PaymentException.Invalid if it is shorter than 32 bytes
     */
    @Throws(PaymentException::class)
    public constructor(secret: String) : this(calling { CoreCallbackKey(sendable("secret", secret)) })

    /**
     * The same key, which also accepts signatures made with a previous secret: for key rotation. Drop the previous secret once its
     * payments are final.
     *
     * @throws PaymentException.Invalid if it is shorter than 32 bytes
     */
    @Throws(PaymentException::class)
    public fun withPrevious(secret: String): CallbackKey = CallbackKey(calling { core.withPrevious(sendable("secret", secret)) })

    /**
     * Adds the signed reference to a callback URL. The rest of the URL stays unchanged.
     *
     * @throws PaymentException.Invalid if the URL is not an absolute http or https URL, already has a parameter `kassa`, or if the
     *   reference could not be read back unchanged
     */
    @Throws(PaymentException::class)
    public fun callbackUrl(url: String, payment: PaymentRef): String =
        calling { core.callbackUrl(sendable("callbackUrl", url), payment.toCore()) }

    /**
     * Adds the signed reference to a return URL, which can be an app's deep link. The rest of the URL stays unchanged, and the gateway
     * adds parameters of its own.
     *
     * @throws PaymentException.Invalid if the text is not an absolute URI, already has a parameter `kassa`, or if the reference could not
     *   be read back unchanged
     */
    @Throws(PaymentException::class)
    public fun returnUrl(url: String, payment: PaymentRef): String =
        calling { core.returnUrl(sendable("returnUrl", url), payment.toCore()) }

    /**
     * Reads the signed reference from the callback URL that was called: the whole URL, or its path and query.
     *
     * @throws PaymentException.Invalid if there is not exactly one parameter `kassa`, or if this key did not sign it as a callback URL.
     *   Answer such a call with an HTTP error, and do not query the gateway
     */
    @Throws(PaymentException::class)
    public fun readCallbackUrl(called: String): PaymentRef =
        calling { core.readCallbackUrl(sendable("kassa", called)).toKassa() }

    /**
     * Reads the signed reference from the return URL that the payer came back to: the whole URL, or its path and query.
     *
     * @throws PaymentException.Invalid as [readCallbackUrl] does
     */
    @Throws(PaymentException::class)
    public fun readReturnUrl(called: String): PaymentRef = calling { core.readReturnUrl(sendable("kassa", called)).toKassa() }

    /** A mask: nothing of the secret. */
    override fun toString(): String = "CallbackKey(***)"
}
