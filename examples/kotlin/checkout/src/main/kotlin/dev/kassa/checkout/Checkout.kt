package dev.kassa.checkout

import dev.kassa.Credentials
import dev.kassa.Dialect
import dev.kassa.Gateway
import dev.kassa.GatewayConfig
import dev.kassa.PollPolicy
import dev.kassa.StatusQueryForm
import dev.kassa.sandbox.Sandbox
import dev.kassa.sandbox.SandboxException
import dev.kassa.sandbox.SandboxOptions
import java.io.IOException
import java.net.URI
import java.net.URISyntaxException
import java.nio.file.Files
import java.nio.file.Path
import kotlin.time.Duration
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds

/** What the store calls the gateway of payments that do not outlive this program. */
const val SANDBOX_IN_MEMORY = "sandbox in memory"

/** How the gateway is reached, and how payments are followed: what the command line says. */
class Settings(
    val baseUrl: String?,
    val login: String?,
    val password: String?,
    val dialect: Path?,
    val sandboxDb: Path?,
    val timeout: Duration,
    val rootCertificates: List<Path>,
    val isStatusAsQuery: Boolean,
    val pollInterval: Duration?,
    val deadline: Duration?,
    val callbackUrl: String?,
    val callbackPort: Int,
    val callbackWait: Duration,
    val state: Path,
    val isInteractive: Boolean,
    val isJson: Boolean,
)

/** What every command works with: the gateway, the store, the port, the payer. */
class Checkout private constructor(private val settings: Settings, private val sandbox: Sandbox?) : AutoCloseable {
    private val baseUrl = sandbox?.baseUrl ?: settings.baseUrl.orEmpty()
    private val isLocal = uriOrNull(baseUrl)?.let(::isLoopback) == true
    private val publicCallback = settings.callbackUrl?.takeIf { it.isNotEmpty() }?.let(::publicUrl)

    /** False where the gateway has no way to this program's port. */
    val callbacksArrive: Boolean = isLocal || publicCallback != null

    /** True where a person asked to be the payer. */
    val isInteractive: Boolean = settings.isInteractive
    val isSandbox: Boolean = sandbox != null
    val narrator: Narrator = Narrator(settings.isJson)
    val store: Store = Store(settings.state)
    val callbackWait: Duration = settings.callbackWait
    val payer: Payer = Payer(if (isLocal && !isInteractive) Robot() else null)

    /** What the store calls the gateway. */
    val gatewayName: String = when {
        !isSandbox -> baseUrl.trimEnd('/')
        settings.sandboxDb == null -> SANDBOX_IN_MEMORY
        else -> "sandbox in ${settings.sandboxDb.toAbsolutePath().normalize()}"
    }
    val policy: PollPolicy = policy()
    val gateway: Gateway = Gateway(config())
    val receiver: Receiver = Receiver(settings.callbackPort, publicCallback)

    /** Says what this run works with. */
    fun introduce() {
        narrator.print("Kassa checkout with ${if (isSandbox) "an embedded sandbox at $baseUrl" else gatewayName}")
        if (callbacksArrive) narrator.print("Callbacks at ${receiver.shownCallbackUrl}")
        narrator.print("Payments are kept in ${store.file}")
    }

    /** The callback URL of a payment, where the gateway has a way to it. */
    fun callbackUrl(reference: String): String? = if (callbacksArrive) receiver.callbackUrl(reference) else null

    /** The callback URL of a payment where the interface demands one. */
    fun requiredCallbackUrl(reference: String): String = callbackUrl(reference) ?: throw Failure.Usage(
        "this gateway is not on this machine and cannot reach the callback port: give a public URL that leads to it with " +
            "--callback-url (and fix the port with --callback-port)",
    )

    /** Waits for what is on its way, and stops the sandbox. */
    override fun close() {
        gateway.close()
        receiver.close()
        sandbox?.close()
    }

    private fun config() = GatewayConfig(
        baseUrl = baseUrl,
        credentials = credentials(),
        paymentDeadline = settings.timeout,
        queryDeadline = settings.timeout,
        statusQuery = if (settings.isStatusAsQuery) StatusQueryForm.QUERY_STRING else StatusQueryForm.JSON_BODY,
        dialect = dialect(),
        extraRootCertificates = settings.rootCertificates.map(::read),
        userAgentSuffix = "kassa-checkout-kotlin/0.1.0",
    )

    private fun credentials(): Credentials {
        val login = sandbox?.login ?: settings.login
        val password = sandbox?.password ?: settings.password
        if (login == null || password == null) {
            throw Failure.Usage("a gateway needs KASSA_LOGIN and KASSA_PASSWORD (or --login and --secrets-stdin)")
        }
        return Credentials(login, password)
    }

    private fun dialect() = when {
        settings.dialect != null -> Dialect.fromJson(read(settings.dialect))
        isSandbox -> Dialect.fromJson(Sandbox.dialectJson())
        else -> Dialect()
    }

    private fun policy(): PollPolicy {
        val usual = PollPolicy()
        val interval = if (isSandbox) 1.seconds else usual.interval
        val deadline = if (isSandbox && !isInteractive) 1.minutes else usual.deadline
        return PollPolicy(settings.pollInterval ?: interval, settings.deadline ?: deadline)
    }

    companion object {
        /** Opens everything. A sandbox is started where no base URL is given. */
        fun open(settings: Settings): Checkout {
            val sandbox = if (settings.baseUrl.isNullOrEmpty()) startSandbox(settings.sandboxDb) else null
            try {
                return Checkout(settings, sandbox)
            } catch (error: Exception) {
                sandbox?.close()
                throw error
            }
        }
    }
}

private fun startSandbox(database: Path?): Sandbox = try {
    Sandbox.start(SandboxOptions(database = database))
} catch (error: SandboxException.NotStarted) {
    throw Failure.Machine("the embedded sandbox does not start: ${error.message}")
}

private fun read(file: Path): String = try {
    Files.readString(file)
} catch (error: IOException) {
    throw Failure.Usage("$file cannot be read: $error")
}

private fun publicUrl(text: String): URI = uriOrNull(text)?.takeIf { it.scheme in listOf("http", "https") && it.host != null }
    ?: throw Failure.Usage("--callback-url must be an absolute http or https URL")

private fun uriOrNull(text: String) = try {
    URI(text)
} catch (_: URISyntaxException) {
    null
}
