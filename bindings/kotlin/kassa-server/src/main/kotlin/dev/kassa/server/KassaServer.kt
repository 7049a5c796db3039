package dev.kassa.server

import dev.kassa.sandbox.Sandbox
import dev.kassa.sandbox.TestPhone
import dev.kassa.sandbox.TestPhones
import kotlinx.serialization.json.Json
import kotlinx.serialization.json.jsonArray
import kotlinx.serialization.json.jsonObject
import kotlinx.serialization.json.jsonPrimitive
import kotlinx.serialization.json.long
import java.io.IOException
import java.net.InetAddress
import java.net.ServerSocket
import java.net.URI
import java.nio.file.Files
import java.nio.file.Path
import java.security.SecureRandom
import java.time.Duration
import java.util.Base64
import java.util.Locale
import java.util.concurrent.locks.ReentrantLock
import kotlin.concurrent.withLock

/** Of all settings that the environment names. */
internal const val PREFIX = "KASSA_SERVER_"
private const val PAUSE_MILLIS = 20L

/** To find a port: one that was free may be taken a moment later. */
private const val ATTEMPTS = 5

/**
 * kassa-server on this machine, with an API key and a secret for events, and a sandbox as its gateway: for the tests of a shop.
 *
 * ```
 * KassaServer.start(KassaServerOptions(eventsUrl = "http://127.0.0.1:8000/events")).use { server ->
 *     val shop = Shop(server.url, server.apiKey, server.eventsSecret)
 *     server.payByForm(shop.buy("order-17"))
 *     server.waitFor("checkout.paid", reference = "order-17")
 * }
 * ```
 *
 * It is a separate process with an SQLite file in a temporary folder, and never outlives the JVM that started it. It is thread-safe.
 */
public class KassaServer private constructor(private val options: KassaServerOptions) : AutoCloseable {
    private val lock = ReentrantLock()
    private val http = Http()
    private val folder = Files.createTempDirectory("kassa-server-")
    private val log = folder.resolve("server.log")

    /** The gateway's side: real charges, faults, and the payer's actions. */
    public val sandbox: Sandbox = options.sandbox ?: Sandbox.start()

    /** The secret that signs events (Standard Webhooks). */
    public val eventsSecret: String = "whsec_" + Base64.getEncoder().encodeToString(ByteArray(32).also(SecureRandom()::nextBytes))

    @Volatile
    private var child: Child

    /** Its address, without a trailing slash. It stays the same after a restart. */
    public val url: String

    /** The API key that was made for the shop. */
    public val apiKey: String

    init {
        try {
            Files.writeString(folder.resolve("dialect.json"), Sandbox.dialectJson(sandbox.switches.read().actsAs))
            child = firstChild()
            url = child.url
            apiKey = newApiKey("tests")
        } catch (error: RuntimeException) {
            if (options.sandbox == null) sandbox.close()
            delete(folder)
            throw error
        }
    }

    /** Whether it runs. */
    public val isRunning: Boolean get() = child.isRunning

    /** The number of its process, while it runs. */
    public val pid: Long? get() = child.takeIf { it.isRunning }?.pid

    /**
     * Stops the server alone and starts it again, on the same port, with the same database. After [kill] it is a start after a
     * crash.
     *
     * @throws KassaServerException.NotStarted if it could not
     */
    public fun restart(): Unit = lock.withLock {
        child.stop()
        child = newChild(URI(url).port)
    }

    /** Kills only the server, as a crash would. [restart] starts it again. */
    public fun kill(): Unit = lock.withLock { child.kill() }

    /** Shuts it down gracefully if it runs, with its own sandbox, and deletes its database. */
    override fun close(): Unit = lock.withLock {
        child.stop()
        if (options.sandbox == null) sandbox.close()
        delete(folder)
    }

    /** Its log. */
    public fun log(): String = Files.readString(log)

    /** One more API key, made as an operator makes it. */
    public fun newApiKey(name: String): String {
        val builder = ProcessBuilder(Program.find().toString(), "keys", "new", "--name", name)
        builder.redirectError(ProcessBuilder.Redirect.appendTo(log.toFile()))
        val made = builder.apply { take(settings(URI(child.url).port)) }.start()
        val key = made.inputStream.bufferedReader().readText().trim()
        if (made.waitFor() != 0) throw KassaServerException("no API key was made: see the log")
        return key
    }

    /**
     * Sends a request as a shop, or as a payer's app with a client token; returns the response as JSON.
     *
     * @param path such as `/v1/checkouts`
     * @param body as JSON
     * @param key an API key or a client token; its own [apiKey] without it
     * @throws KassaServerException.Refused if the server refuses
     */
    @JvmOverloads
    public fun request(
        method: String,
        path: String,
        body: String? = null,
        key: String? = null,
        idempotencyKey: String? = null,
    ): String {
        val headers = buildMap {
            put("Authorization", "Bearer ${key ?: apiKey}")
            idempotencyKey?.let { put("Idempotency-Key", it) }
        }
        return http.request(method, "$url$path", headers, body)
    }

    /** The checkout that the shop opened with this reference, as JSON. */
    public fun checkout(reference: String): String = request("GET", "/v1/checkouts?reference=${encoded(reference)}")

    /** Every event, or those of this kind or about this reference, in the order in which they happened. */
    @JvmOverloads
    public fun events(kind: String? = null, reference: String? = null): List<Event> {
        val all = mutableListOf<Event>()
        var after = ""
        var next = "0"
        while (next != after) {
            after = next
            val answer = Json.parseToJsonElement(request("GET", "/v1/events?after=$after&limit=1000")).jsonObject
            answer.getValue("events").jsonArray.mapTo(all) { event(it.jsonObject) }
            next = answer.getValue("next").jsonPrimitive.content
        }
        return all.filter { (kind == null || it.kind == kind) && (reference == null || it.reference == reference) }
    }

    /**
     * The first event of this kind, as soon as there is one.
     *
     * @throws KassaServerException.TooLate if there is none in time
     */
    @JvmOverloads
    public fun waitFor(kind: String, reference: String? = null, timeout: Duration = Duration.ofSeconds(30)): Event {
        val until = System.nanoTime() + timeout.toNanos()
        while (true) {
            events(kind, reference).firstOrNull()?.let { return it }
            if (System.nanoTime() > until) {
                throw KassaServerException.TooLate("there was no event $kind of ${reference ?: "any checkout"} within $timeout")
            }
            Thread.sleep(PAUSE_MILLIS)
        }
    }

    /**
     * Pays on the sandbox's pay-form, as a payer with that wallet does; the address that the payer is sent back to, if any.
     *
     * @throws dev.kassa.sandbox.SandboxException.Refused if the page refuses the payer, or the payment is decided already
     */
    @JvmOverloads
    public fun payByForm(pageUrl: String, phone: TestPhone = TestPhones.MBANK_APPROVED): String? = sandbox.payByForm(pageUrl, phone)

    /**
     * The environment variables of a shop that talks to this server: `KASSA_SERVER_URL` and `KASSA_API_KEY`, which
     * `KassaClient.fromEnvironment` reads, and `KASSA_EVENTS_SECRET`.
     *
     * ```
     * ProcessBuilder("java", "-jar", "shop.jar").apply { environment() += server.environment() }.start()
     * ```
     */
    public fun environment(): Map<String, String> = mapOf(
        "KASSA_SERVER_URL" to url,
        "KASSA_API_KEY" to apiKey,
        "KASSA_EVENTS_SECRET" to eventsSecret,
    )

    /** Where it is. */
    override fun toString(): String = "KassaServer($url)"

    private fun firstChild(): Child {
        if (options.port != 0) return newChild(options.port)
        repeat(ATTEMPTS - 1) {
            try {
                return newChild(freePort())
            } catch (error: KassaServerException.NotStarted) {
                if ("in use" !in error.log) throw error
            }
        }
        return newChild(freePort())
    }

    private fun newChild(port: Int) = Child(Program.find(), settings(port), log)

    // Secrets go by the environment: everybody can read the arguments of a process.
    private fun settings(port: Int): Map<String, String> {
        val own = buildMap {
            put("listen", "127.0.0.1:$port")
            put("public_url", "http://127.0.0.1:$port")
            put("database", folder.resolve("kassa-server.db").toString())
            put("gateway.url", sandbox.baseUrl)
            put("gateway.login", sandbox.login)
            put("gateway.password", sandbox.password)
            put("gateway.dialect", folder.resolve("dialect.json").toString())
            options.eventsUrl?.let { put("events.url", it) }
            put("events.secret", eventsSecret)
            putAll(options.settings)
        }
        return own.mapKeys { (name, _) -> PREFIX + name.replace('.', '_').uppercase(Locale.ROOT) }
    }

    /** Starts servers. */
    public companion object {
        /**
         * Starts a server, and a sandbox behind it. Both are ready when this returns.
         *
         * @throws KassaServerException.NotStarted saying why it could not
         */
        @JvmStatic
        @JvmOverloads
        public fun start(options: KassaServerOptions = KassaServerOptions()): KassaServer = KassaServer(options)
    }
}

private fun freePort(): Int = ServerSocket(0, 1, InetAddress.getLoopbackAddress()).use { it.localPort }

private fun delete(folder: Path) {
    try {
        Files.list(folder).use { files -> files.forEach(Files::deleteIfExists) }
        Files.deleteIfExists(folder)
    } catch (_: IOException) {
        // It is in the folder for temporary files.
    }
}
