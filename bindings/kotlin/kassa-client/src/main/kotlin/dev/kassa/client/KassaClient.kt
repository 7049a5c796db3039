package dev.kassa.client

import kotlinx.serialization.json.JsonArray
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive
import java.lang.System.Logger.Level
import java.math.BigDecimal
import java.net.ProxySelector
import java.time.Duration

private const val PAGE_SIZE = 100
private val LONGEST_WAIT = Duration.ofSeconds(60)
private val LOG: System.Logger = System.getLogger("dev.kassa.client")

/**
 * The client of a merchant's kassa-server, for the back end of a shop: it opens checkouts, and reads them and their events.
 *
 * ```
 * val client = KassaClient.fromEnvironment()
 * val checkout = client.openCheckout(NewCheckout("order-17", BigDecimal("390"), "Two tickets", "https://shop.example.kg/paid"))
 * // send the payer to checkout.pageUrl, and deliver when the event `checkout.paid` arrives: Events.verify
 * ```
 *
 * Each call blocks its thread, for the timeout at most, and throws a [KassaClientException] if it fails. Calls that are safe to repeat
 * are repeated while the server cannot be reached or is too busy, eight attempts in all. No redirect is followed. One client serves the whole program: it is
 * thread-safe.
 *
 * @param url the server's address, such as `https://pay.example.kg`; plain http only to this machine, or to one of [plainHttpHosts]
 * @param apiKey the shop's key, as `kassa-server keys new` prints it. It is never printed
 * @param timeout the time limit of each call, repetitions included: above zero, and one day at most
 * @param proxy the proxy to use; without it there is none, whatever the system's settings say
 * @param plainHttpHosts hosts that may be called by plain `http`, such as machines in a network of your own: whoever listens there reads
 *   the API key; none by default, and loopback needs no name
 * @throws IllegalArgumentException naming the argument and its rule
 */
public class KassaClient @JvmOverloads constructor(
    url: String,
    apiKey: String,
    private val timeout: Duration = Duration.ofSeconds(30),
    proxy: ProxySelector? = null,
    plainHttpHosts: List<String> = emptyList(),
) {
    private val http = Http(url, apiKey, timeout, proxy, plainHttpHosts)

    /** The server's address, without a trailing slash. */
    public val url: String get() = http.url

    /**
     * Opens a checkout. It is safe to repeat: the same reference with the same content returns the same checkout, even after it ended.
     *
     * @throws KassaClientException.Conflict if the reference was used for other content
     */
    public fun openCheckout(checkout: NewCheckout): Checkout =
        http.send(Call("POST", "/v1/checkouts", body = checkout.body()), ::Checkout)

    /** The checkout with this identifier. */
    public fun checkout(id: String): Checkout = http.send(Call("GET", path(id)), ::Checkout)

    /** The checkout that was opened with this reference; null if there is none. */
    public fun findCheckout(reference: String): Checkout? = try {
        http.send(Call("GET", "/v1/checkouts", "?reference=${encoded(reference)}"), ::Checkout)
    } catch (_: KassaClientException.NotFound) {
        null
    }

    /**
     * The checkout as soon as its version is above [afterVersion], or as it is after [wait]: rounded up to whole seconds, and 60 s at
     * most. The server may answer earlier.
     */
    @JvmOverloads
    public fun waitForChange(id: String, afterVersion: Long, wait: Duration = Duration.ofSeconds(25)): Checkout {
        val bounded = wait.coerceIn(Duration.ZERO, LONGEST_WAIT)
        val seconds = bounded.toSeconds() + if (bounded.nano > 0) 1 else 0
        val query = "?after=$afterVersion&wait=$seconds"
        return http.send(Call("GET", path(id), query, timeout = timeout.plusSeconds(seconds)), ::Checkout)
    }

    /**
     * Cancels a checkout that is not paid; a cancelled one stays as it is.
     *
     * @throws KassaClientException.Conflict if it is paid or expired, or a payment of it may still be charged
     */
    public fun cancel(id: String): Checkout = http.send(Call("POST", path(id, "/cancel")), ::Checkout)

    /** Has the server query the checkout's payments now, for example when the payer returns. */
    public fun check(id: String): Unit = http.send(Call("POST", path(id, "/check"))) {}

    /**
     * A new client token, for the payer's app. Each call makes another one. If a response is lost, the call asks again, and the token
     * that nobody received expires.
     */
    public fun newToken(id: String): Token = http.send(Call("POST", path(id, "/tokens"))) {
        Token(it.text("token"), Duration.ofSeconds(it.long("lifetime_s")))
    }

    /** Revokes all client tokens of the checkout; how many they were. */
    public fun revokeTokens(id: String): Int = http.send(Call("DELETE", path(id, "/tokens"))) { it.int("count") }

    /**
     * Delivers again the events that the shop refused, or whose delivery was given up: those of one checkout, or of all. Returns the
     * number of checkouts whose delivery was restarted.
     */
    @JvmOverloads
    public fun replayEvents(checkout: String? = null): Int {
        val body = JsonObject(if (checkout == null) emptyMap() else mapOf("checkout" to JsonPrimitive(checkout)))
        return http.send(Call("POST", "/v1/events/replay", body = body)) { it.int("count") }
    }

    /**
     * Decides what became of a payment that the server cannot decide, for a person who has looked into the gateway's own records. It is
     * repeated only if the server certainly did not carry it out. If it fails with [KassaClientException.Unavailable], read the checkout.
     *
     * @param reason what the person found; the event has it
     * @param by the person's name; the event has it
     * @throws KassaClientException.Conflict if the outcome is known or still being determined
     */
    public fun resolvePayment(payment: String, outcome: Outcome, reason: String, by: String): Payment {
        val body = mapOf("outcome" to outcome.name.lowercase(), "reason" to reason, "by" to by)
        val json = JsonObject(body.mapValues { (_, value) -> JsonPrimitive(value) })
        return http.send(Call("POST", "/v1/payments/${encoded(payment)}/resolve", body = json, isRepeatable = false), ::Payment)
    }

    /**
     * The events after a cursor, in the order in which they happened, up to the newest one. They are read page by page while you
     * iterate. Store each one's cursor after you have dealt with it. Each iteration begins at [after] again.
     *
     * @param after the cursor of the last event that you know; `0` begins with the first event
     * @throws KassaClientException.HistoryGone while you iterate, if the server's database was restored and lacks that event
     */
    @JvmOverloads
    public fun events(after: String = "0"): Iterable<EventAt> = feed(after, null)

    /**
     * The same as [events], but it goes on with the events that happen from now on, and asks for them at this interval. While the
     * server is away it goes on asking, and logs why to the `System.Logger` named `dev.kassa.client`. It ends when you leave the loop, by
     * [KassaClientException.Interrupted], or by another error. Each iteration begins at [after] again: after an error, pass the cursor
     * that you stored.
     */
    @JvmOverloads
    public fun followEvents(after: String = "0", interval: Duration = Duration.ofSeconds(5)): Iterable<EventAt> {
        require(interval > Duration.ZERO) { "interval: must be above zero" }
        return feed(after, interval)
    }

    private fun feed(after: String, interval: Duration?): Iterable<EventAt> = sequence {
        var cursor = after
        while (true) {
            val call = Call("GET", "/v1/events", "?after=${encoded(cursor)}&limit=$PAGE_SIZE")
            val page = try {
                http.send(call) { page ->
                    page.objects("events") { EventAt(it.text("cursor"), Event(it.child("event"))) } to page.text("next")
                }
            } catch (error: KassaClientException) {
                if (interval == null || !isTransient(error)) throw error
                LOG.log(Level.WARNING, "the events could not be read, and are read again in $interval: ${error.message}")
                pause(interval)
                continue
            }
            val (events, next) = page
            yieldAll(events)
            cursor = next
            if (events.isEmpty()) pause(interval ?: break)
        }
    }.asIterable()

    private fun isTransient(error: KassaClientException) =
        error is KassaClientException.Unavailable || (error is KassaClientException.BadResponse && error.status >= 500)

    /** Without the API key. */
    override fun toString(): String = "KassaClient($url)"

    /** Makes clients. */
    public companion object {
        /**
         * A client of the server at `KASSA_SERVER_URL`, with the key `KASSA_API_KEY`. `KASSA_PLAIN_HTTP_HOSTS` can name the hosts that
         * may be called by plain http, separated by commas.
         *
         * @throws IllegalArgumentException if one of them is missing or is none
         */
        @JvmStatic
        @JvmOverloads
        public fun fromEnvironment(timeout: Duration = Duration.ofSeconds(30)): KassaClient =
            fromEnvironment(System.getenv(), timeout)

        internal fun fromEnvironment(environment: Map<String, String>, timeout: Duration): KassaClient {
            fun variable(name: String) =
                requireNotNull(environment[name]?.takeIf { it.isNotEmpty() }) { "$name: must be set in the environment" }
            val hosts = environment["KASSA_PLAIN_HTTP_HOSTS"].orEmpty().split(',').map { it.trim() }.filter { it.isNotEmpty() }
            return KassaClient(variable("KASSA_SERVER_URL"), variable("KASSA_API_KEY"), timeout, plainHttpHosts = hosts)
        }
    }
}

private fun path(id: String, action: String = ""): String {
    require(id.isNotEmpty()) { "id: must be the identifier of a checkout" }
    return "/v1/checkouts/${encoded(id)}$action"
}

/**
 * A checkout to open. Its fields are checked by the server, which names each one that breaks a rule.
 *
 * @property reference the shop's own reference, such as the order number: 1 to 64 characters. One reference is one checkout
 * @property amount the amount in som, with at most two decimals
 * @property description what is paid for: 1 to 256 characters. The payer sees it
 * @property returnUrl where the payer returns to
 */
public class NewCheckout private constructor(
    public val reference: String,
    public val amount: BigDecimal,
    public val description: String,
    public val returnUrl: String,
    private val options: Options,
) {
    public constructor(reference: String, amount: BigDecimal, description: String, returnUrl: String) :
        this(reference, amount, description, returnUrl, Options())

    /** The [payment methods][PaymentMethod] to offer; null for all that can carry the amount. */
    public val methods: List<String>? get() = options.methods

    /** How long it can be paid, 60 s to 30 days in whole seconds; null for an hour. */
    public val lifetime: Duration? get() = options.lifetime

    /** Currency code of three letters; null for the server's, `KGS`. */
    public val currency: String? get() = options.currency

    /** The shop's own key-value pairs, which each response returns: at most 20. */
    public val metadata: Map<String, String> get() = options.metadata

    /** The same checkout, with these payment methods only. */
    public fun withMethods(vararg methods: String): NewCheckout = with(options.copy(methods = methods.toList()))

    /** The same checkout, which can be paid for this long. */
    public fun withLifetime(lifetime: Duration): NewCheckout = with(options.copy(lifetime = lifetime))

    /** The same checkout, in this currency. */
    public fun withCurrency(currency: String): NewCheckout = with(options.copy(currency = currency))

    /** The same checkout, with one more of the shop's own key-value pairs. */
    public fun withMetadata(key: String, value: String): NewCheckout = with(options.copy(metadata = metadata + (key to value)))

    private fun with(options: Options) = NewCheckout(reference, amount, description, returnUrl, options)

    /** The checkout in short. */
    override fun toString(): String = "NewCheckout(reference=$reference, amount=$amount)"

    private data class Options(
        val methods: List<String>? = null,
        val lifetime: Duration? = null,
        val currency: String? = null,
        val metadata: Map<String, String> = emptyMap(),
    )

    internal fun body() = JsonObject(
        buildMap {
            put("reference", JsonPrimitive(reference))
            // A database may return 390.0000, which is the same amount.
            put("amount", JsonPrimitive(amount.stripTrailingZeros().toPlainString()))
            put("description", JsonPrimitive(description))
            put("return_url", JsonPrimitive(returnUrl))
            currency?.let { put("currency", JsonPrimitive(it)) }
            methods?.let { put("methods", JsonArray(it.map(::JsonPrimitive))) }
            lifetime?.let { put("lifetime_s", JsonPrimitive(it.toSeconds())) }
            if (metadata.isNotEmpty()) put("metadata", JsonObject(metadata.mapValues { (_, value) -> JsonPrimitive(value) }))
        },
    )
}

/** What a person found in the gateway's own records about a payment. */
public enum class Outcome {
    /** The money was taken: the payment pays its checkout. */
    CHARGED,

    /** No money was taken. */
    NOT_CHARGED,
}
