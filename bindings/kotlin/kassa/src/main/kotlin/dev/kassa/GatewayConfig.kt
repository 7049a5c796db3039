package dev.kassa

import kotlin.time.Duration
import kotlin.time.Duration.Companion.seconds
import kotlin.time.toJavaDuration
import kotlin.time.toKotlinDuration
import dev.kassa.internal.GatewayConfig as CoreGatewayConfig
import dev.kassa.internal.StatusQueryForm as CoreStatusQueryForm
import dev.kassa.internal.configFromEnvironment

/**
 * How a gateway is reached. Java has a [Builder] for it.
 *
 * @property baseUrl the gateway's base URL; it can have a path prefix; plain http only to a loopback address
 * @property credentials the merchant's login and password
 * @property connectTimeout the time limit of connecting, including TLS
 * @property paymentDeadline the time limit of a whole call that moves money: connecting, sending, the response, and all retries. A
 *   payment that reaches it may still have happened
 * @property queryDeadline the time limit of every other call: status queries, pay-forms and QR codes
 * @property queryRetries how often a failed query is retried within the deadline. A payment is retried as often, but only if no
 *   connection was made; a pay-form or a QR code is never retried
 * @property statusQuery how the fields of a status query are sent
 * @property dialect how to read the gateway's responses; by default the documented envelope
 * @property extraRootCertificates certificates (PEM texts) to trust in addition to Mozilla's roots
 * @property proxy the proxy to the gateway; by default none, even if the environment names one
 * @property userAgentSuffix added to the user agent, such as `my-shop/1.2`
 * @property checkLuhn refuse card numbers with a wrong check digit before they are sent
 * @property plainHttpHosts hosts that may be called by plain `http`, as machines in a network of your own: whoever listens there reads the credentials and
 *   the cards; none by default, and loopback needs no name
 */
public class GatewayConfig(
    public val baseUrl: String,
    public val credentials: Credentials,
    public val connectTimeout: Duration = 10.seconds,
    public val paymentDeadline: Duration = 60.seconds,
    public val queryDeadline: Duration = 30.seconds,
    public val queryRetries: Int = 2,
    public val statusQuery: StatusQueryForm = StatusQueryForm.JSON_BODY,
    public val dialect: Dialect = Dialect(),
    public val extraRootCertificates: List<String> = emptyList(),
    public val proxy: Proxy = Proxy.direct(),
    public val userAgentSuffix: String? = null,
    public val checkLuhn: Boolean = false,
    public val plainHttpHosts: List<String> = emptyList(),
) {
    /** The time limit of connecting, for Java. */
    public fun getConnectTimeout(): java.time.Duration = connectTimeout.toJavaDuration()

    /** The deadline of calls that move money, for Java. */
    public fun getPaymentDeadline(): java.time.Duration = paymentDeadline.toJavaDuration()

    /** The deadline of all other calls, for Java. */
    public fun getQueryDeadline(): java.time.Duration = queryDeadline.toJavaDuration()

    /** The settings without possible secrets. */
    override fun toString(): String = "GatewayConfig(baseUrl=$shownBaseUrl, credentials=$credentials, " +
        "connectTimeout=$connectTimeout, paymentDeadline=$paymentDeadline, queryDeadline=$queryDeadline, " +
        "queryRetries=$queryRetries, statusQuery=$statusQuery, dialect=$dialect, extraRootCertificates=${extraRootCertificates.size}, proxy=$proxy, " +
        "userAgentSuffix=$userAgentSuffix, checkLuhn=$checkLuhn, plainHttpHosts=$plainHttpHosts)"

    /** One with credentials in it is refused later, but it can be printed before. */
    internal val shownBaseUrl: String get() = if (baseUrl.any { it in "@?#" }) "(not usable)" else baseUrl

    /**
     * Makes a configuration by the names of its settings, for Java.
     *
     * @param default the settings that stay unchanged
     */
    public class Builder(private val default: GatewayConfig) {
        private var connectTimeout = default.connectTimeout
        private var paymentDeadline = default.paymentDeadline
        private var queryDeadline = default.queryDeadline
        private var queryRetries = default.queryRetries
        private var statusQuery = default.statusQuery
        private var dialect = default.dialect
        private var extraRootCertificates = default.extraRootCertificates
        private var proxy = default.proxy
        private var userAgentSuffix = default.userAgentSuffix
        private var checkLuhn = default.checkLuhn
        private var plainHttpHosts = default.plainHttpHosts

        /**
         * One with every other setting at its default.
         *
         * @param baseUrl the gateway's base URL
         * @param credentials the merchant's login and password
         */
        public constructor(baseUrl: String, credentials: Credentials) : this(GatewayConfig(baseUrl, credentials))

        /** The time limit of connecting, including TLS. */
        public fun connectTimeout(connectTimeout: java.time.Duration): Builder =
            apply { this.connectTimeout = connectTimeout.toKotlinDuration() }

        /** How long all of a call that moves money may take. */
        public fun paymentDeadline(paymentDeadline: java.time.Duration): Builder =
            apply { this.paymentDeadline = paymentDeadline.toKotlinDuration() }

        /** How long every other call may take. */
        public fun queryDeadline(queryDeadline: java.time.Duration): Builder =
            apply { this.queryDeadline = queryDeadline.toKotlinDuration() }

        /** How often a failed query is repeated within the deadline. */
        public fun queryRetries(queryRetries: Int): Builder = apply { this.queryRetries = queryRetries }

        /** How the fields of a status query are sent. */
        public fun statusQuery(statusQuery: StatusQueryForm): Builder = apply { this.statusQuery = statusQuery }

        /** How to read the gateway's responses. */
        public fun dialect(dialect: Dialect): Builder = apply { this.dialect = dialect }

        /** Certificates (PEM texts) to trust in addition to Mozilla's roots. */
        public fun extraRootCertificates(certificates: List<String>): Builder =
            apply { this.extraRootCertificates = certificates }

        /** The way to the gateway. */
        public fun proxy(proxy: Proxy): Builder = apply { this.proxy = proxy }

        /** Added to the user agent. */
        public fun userAgentSuffix(userAgentSuffix: String?): Builder = apply { this.userAgentSuffix = userAgentSuffix }

        /** Refuse card numbers with a wrong check digit before they are sent. */
        public fun checkLuhn(checkLuhn: Boolean): Builder = apply { this.checkLuhn = checkLuhn }

        /** Hosts that may be called by plain `http`; whoever listens in their network reads the credentials and the cards. */
        public fun plainHttpHosts(hosts: List<String>): Builder = apply { this.plainHttpHosts = hosts }

        /** The configuration. */
        public fun build(): GatewayConfig = GatewayConfig(
            default.baseUrl,
            default.credentials,
            connectTimeout,
            paymentDeadline,
            queryDeadline,
            queryRetries,
            statusQuery,
            dialect,
            extraRootCertificates,
            proxy,
            userAgentSuffix,
            checkLuhn,
            plainHttpHosts,
        )

        /** The settings so far, without possible secrets. */
        override fun toString(): String = "Builder(${build()})"
    }

    /** Reads configurations. */
    public companion object {
        /**
         * The configuration from environment variables. Settings without a variable have their default, and can be changed with a
         * [Builder]; an empty variable counts as not set.
         *
         * - `KASSA_URL`: the gateway's base URL
         * - `KASSA_LOGIN`, `KASSA_PASSWORD`: the merchant's login and password
         * - `KASSA_DIALECT` (optional): a built-in dialect, such as `finipay`, or the path of a dialect's JSON file
         * - `KASSA_PROXY` (optional): the URL of a proxy, or `environment` to use `HTTPS_PROXY` and the like
         * - `KASSA_ROOT_CERTIFICATES` (optional): the path of a PEM file with certificates to trust in addition to Mozilla's roots
         * - `KASSA_PLAIN_HTTP_HOSTS` (optional): [plainHttpHosts], with commas between them
         *
         * @throws PaymentException.Misconfigured once, naming every variable that is missing or invalid, without their values
         */
        @JvmStatic
        @Throws(PaymentException::class)
        public fun fromEnvironment(): GatewayConfig = calling {
            val read = configFromEnvironment()
            GatewayConfig(
                baseUrl = read.baseUrl,
                credentials = Credentials(read.credentials),
                dialect = Dialect.of(read.dialect),
                extraRootCertificates = read.extraRootCertificates,
                proxy = Proxy.of(read.proxy),
                plainHttpHosts = read.plainHttpHosts,
            )
        }
    }
}

/** How the fields of `GET /api/v1.1.0/status` are sent. */
public enum class StatusQueryForm {
    /** As a JSON body, as the interface requires. */
    JSON_BODY,

    /** As a query string, for a proxy that drops the body of a GET. */
    QUERY_STRING,
}

internal fun GatewayConfig.toCore(): CoreGatewayConfig {
    if (queryRetries < 0) throw PaymentException.Misconfigured("query_retries must not be negative")
    return CoreGatewayConfig(
        baseUrl = sendable("base_url", baseUrl),
        credentials = credentials.core,
        connectTimeout = sendable(connectTimeout),
        paymentDeadline = sendable(paymentDeadline),
        queryDeadline = sendable(queryDeadline),
        queryRetries = queryRetries.toUInt(),
        statusQuery = CoreStatusQueryForm.valueOf(statusQuery.name),
        dialect = dialect.core,
        extraRootCertificates = extraRootCertificates.map { sendable("extra_root_certificates", it) },
        proxy = proxy.core,
        userAgentSuffix = sendable("user_agent_suffix", userAgentSuffix),
        checkLuhn = checkLuhn,
        plainHttpHosts = plainHttpHosts.map { sendable("plain_http_hosts", it) },
    )
}
