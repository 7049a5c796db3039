package dev.kassa.sandbox

import java.net.URI
import java.security.SecureRandom
import java.util.Base64
import java.util.concurrent.locks.ReentrantLock
import kotlin.concurrent.withLock

/**
 * The payment gateway's side on this machine, for the tests of a shop: endpoints, pages, callbacks, a ledger, and faults on
 * demand. No real money moves here.
 *
 * ```
 * Sandbox.start().use { sandbox ->
 *     val shop = Shop(sandbox.baseUrl, sandbox.login, sandbox.password)
 *     sandbox.faults.add(FaultName.RESPONSE_LOST, orderNumber = "order-17", times = 1)
 *     shop.pay("order-17", TestCards.WITHOUT_3DS_APPROVED.pan)
 *     check(sandbox.payment("order-17").timesCharged == 1)
 * }
 * ```
 *
 * It is a separate process that never outlives the JVM that started it. It is thread-safe.
 */
public class Sandbox private constructor(private val options: SandboxOptions) : AutoCloseable {
    private val lock = ReentrantLock()

    @Volatile
    private var child: Child

    @Volatile
    private var admin: Admin

    /** The token for the admin interface. It is made for this sandbox, and stays the same after a restart. */
    public val adminToken: String = newToken()

    /** Its address, without a trailing slash. It stays the same after a restart. */
    public val baseUrl: String

    init {
        child = newChild(options.port)
        baseUrl = child.url
        admin = Admin(baseUrl, adminToken)
    }

    /** The merchant's login. */
    public val login: String get() = options.login

    /** The merchant's password. */
    public val password: String get() = options.password

    /** Whether it runs. */
    public val isRunning: Boolean get() = child.isRunning

    /** The number of its process, while it runs. */
    public val pid: Long? get() = child.takeIf { it.isRunning }?.pid

    /** Fault injection. */
    public val faults: Faults = Faults(::admin)

    /** Its behaviour where the gateway's interface is not specified. */
    public val switches: Switches = Switches(::admin)

    /** What time it is there, and when pending payments become final. */
    public val clock: Clock = Clock(::admin)

    /** Every payment, or those with this order number, the newest last: what really happened. */
    @JvmOverloads
    public fun ledger(orderNumber: String? = null): List<Payment> =
        admin.request("GET", "ledger", orderNumber = orderNumber).list("payments").map(::payment)

    /**
     * The payment with this order number; the newest if there are several.
     *
     * @throws SandboxException.UnknownPayment if there is no such payment
     */
    public fun payment(orderNumber: String): Payment = ledger(orderNumber).lastOrNull()
        ?: throw SandboxException.UnknownPayment("no payment has the order number $orderNumber")

    /** Every request that reached an endpoint, or those that named this order number, in order. */
    @JvmOverloads
    public fun requests(orderNumber: String? = null): List<Request> =
        admin.request("GET", "requests", orderNumber = orderNumber).list("requests").map(::request)

    /**
     * All attempts to deliver a callback, or those for this order number, in order. An attempt is listed after its receiver has answered
     * or failed.
     */
    @JvmOverloads
    public fun callbacks(orderNumber: String? = null): List<CallbackAttempt> =
        admin.request("GET", "callbacks", orderNumber = orderNumber).list("callbacks").map(::callbackAttempt)

    /**
     * Pays a payment that is open, as its payer would.
     *
     * @param number the merchant's or the gateway's number, or a transaction id
     * @param sumTyiyn the amount that the payer enters for a QR code without an amount
     * @throws SandboxException.UnknownPayment if there is no such payment
     * @throws SandboxException.Refused if it is already decided
     */
    @JvmOverloads
    public fun approve(number: String, sumTyiyn: Long? = null): Payment =
        admin.decide(number, "approve", sumTyiyn?.let { objectOf("amount" to it) })

    /** Declines a payment that is open, as its payer would; otherwise as [approve]. */
    public fun decline(number: String): Payment = admin.decide(number, "decline")

    /**
     * Pays on a pay-form, as a payer with that wallet does: chooses it, and enters the one-time password.
     *
     * ```
     * sandbox.payByForm(gateway.createPayForm(form).payFormUrl.toString())
     * ```
     *
     * @param pageUrl the page's address: `payFormUrl` of the response to the create request
     * @param phone the payer; one that is declined or has no money does not pay
     * @return the return URL to which the payer is redirected; null if the payer stays on the gateway's page
     * @throws SandboxException.Refused if the page refuses the payer, or the payment is decided already
     */
    @JvmOverloads
    public fun payByForm(pageUrl: String, phone: TestPhone = TestPhones.MBANK_APPROVED): String? {
        val wallet = admin.submit(URI(pageUrl), "provider" to phone.provider.word, "phone" to phone.phone)
            ?: throw SandboxException.Refused(409, "the pay-form is decided already: ${URI(pageUrl).path}")
        return admin.submit(wallet, "otp" to phone.otp)?.toString()
    }

    /**
     * The environment variables with which a program talks to this sandbox: `KASSA_URL`, `KASSA_LOGIN`, `KASSA_PASSWORD`, and
     * `KASSA_DIALECT`, a file with the dialect of its current responses. The SDK's `fromEnvironment` reads them.
     *
     * ```
     * ProcessBuilder("java", "-jar", "shop.jar").apply { environment() += sandbox.environment() }.start()
     * ```
     */
    public fun environment(): Map<String, String> = mapOf(
        "KASSA_URL" to baseUrl,
        "KASSA_LOGIN" to login,
        "KASSA_PASSWORD" to password,
        "KASSA_DIALECT" to DialectFiles.path(switches.read().actsAs).toString(),
    )

    /** Forgets payments, requests, callbacks and faults; switches and the clock go back to those of the start. */
    public fun reset() {
        admin.request("POST", "reset")
    }

    /**
     * Stops it and starts it on the same port, with the same database. Faults are gone, switches as at the start. Without a
     * database it comes back empty. After [kill] it is a start after a crash.
     *
     * @throws SandboxException.NotStarted if it could not
     */
    public fun restart(): Unit = lock.withLock {
        child.stop()
        child = newChild(URI(baseUrl).port)
        admin = Admin(baseUrl, adminToken)
    }

    /** Kills it, as a crash would. [restart] starts it again. */
    public fun kill(): Unit = lock.withLock { child.kill() }

    /** Stops it if it runs, after answering the running requests. */
    override fun close(): Unit = lock.withLock { child.stop() }

    /** Where it is. */
    override fun toString(): String = "Sandbox($baseUrl)"

    private fun newChild(port: Int) = Child(
        Program.find(),
        listOf("--listen", "127.0.0.1:$port") + options.arguments(),
        settings(),
        options.log,
    )

    // Secrets go by the environment: everybody can read the arguments of a process.
    private fun settings() = buildMap {
        put("KASSA_SANDBOX_LOGIN", login)
        put("KASSA_SANDBOX_PASSWORD", password)
        put("KASSA_SANDBOX_ADMIN_TOKEN", adminToken)
        if (options.log == null) put("RUST_LOG", "off")
    }

    /**
     * Who moves the money.
     *
     * @property word how the sandbox spells it
     */
    public enum class Provider(override val word: String) : Word {
        /** Payment cards. */
        CARDS("Cards"),

        /** The MegaPay wallet. */
        MEGA_PAY("MegaPay"),

        /** The MBank mobile bank. */
        M_BANK("MBank"),
    }

    /** Starts sandboxes. */
    public companion object {
        /**
         * Starts a sandbox. It is ready when this returns.
         *
         * @throws SandboxException.NotStarted saying why it could not
         */
        @JvmStatic
        @JvmOverloads
        public fun start(options: SandboxOptions = SandboxOptions()): Sandbox = Sandbox(options)

        /** The dialect, in JSON, with which the SDK reads a sandbox's responses: `Dialect.fromJson(Sandbox.dialectJson())`. */
        @JvmStatic
        @JvmOverloads
        public fun dialectJson(name: DialectName = DialectName.INTERFACE): String = DialectFiles.json(name)
    }
}

private fun newToken(): String {
    val bytes = ByteArray(32).also(SecureRandom()::nextBytes)
    return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes)
}
