package dev.kassa

import kotlin.time.Duration
import kotlin.time.Duration.Companion.seconds
import kotlin.time.toJavaDuration
import kotlin.time.toKotlinDuration
import dev.kassa.internal.CheckoutSettings as CoreCheckoutSettings

/**
 * The connection settings of a [Checkout]. The defaults are right for most apps. For Java, there is a [Builder].
 *
 * ```
 * CheckoutSettings(userAgentSuffix = "my-shop/1.2", language = Language.fromTag(Locale.getDefault().toLanguageTag()))
 * ```
 *
 * @property connectTimeout the time limit of connecting, including TLS
 * @property extraRootCertificates certificates (PEM texts) to trust in addition to Mozilla's roots
 * @property proxy the proxy to the server; by default none, even if the environment names one
 * @property userAgentSuffix added to the user agent, such as `my-shop/1.2`
 * @property language the payer's language, for the page that confirms a card payment (3DS); by default the server's
 */
public class CheckoutSettings(
    public val connectTimeout: Duration = 10.seconds,
    public val extraRootCertificates: List<String> = emptyList(),
    public val proxy: Proxy = Proxy.direct(),
    public val userAgentSuffix: String? = null,
    public val language: Language? = null,
) {
    /** The time limit of connecting, for Java. */
    public fun getConnectTimeout(): java.time.Duration = connectTimeout.toJavaDuration()

    /** The settings without possible secrets. */
    override fun toString(): String = "CheckoutSettings(connectTimeout=$connectTimeout, " +
        "extraRootCertificates=${extraRootCertificates.size}, proxy=$proxy, userAgentSuffix=$userAgentSuffix, language=$language)"

    /** Builds settings by name, for Java. Others keep their default. */
    public class Builder {
        private val default = CheckoutSettings()
        private var connectTimeout = default.connectTimeout
        private var extraRootCertificates = default.extraRootCertificates
        private var proxy = default.proxy
        private var userAgentSuffix = default.userAgentSuffix
        private var language = default.language

        /** The time limit of connecting, including TLS. */
        public fun connectTimeout(connectTimeout: java.time.Duration): Builder =
            apply { this.connectTimeout = connectTimeout.toKotlinDuration() }

        /** Certificates (PEM texts) to trust in addition to Mozilla's roots. */
        public fun extraRootCertificates(certificates: List<String>): Builder =
            apply { this.extraRootCertificates = certificates }

        /** The way to the server. */
        public fun proxy(proxy: Proxy): Builder = apply { this.proxy = proxy }

        /** Added to the user agent. */
        public fun userAgentSuffix(userAgentSuffix: String?): Builder = apply { this.userAgentSuffix = userAgentSuffix }

        /** The payer's language. */
        public fun language(language: Language?): Builder = apply { this.language = language }

        /** The settings. */
        public fun build(): CheckoutSettings =
            CheckoutSettings(connectTimeout, extraRootCertificates, proxy, userAgentSuffix, language)

        /** The settings so far, without possible secrets. */
        override fun toString(): String = "Builder(${build()})"
    }
}

internal fun CheckoutSettings.toCore() = CoreCheckoutSettings(
    connectTimeout = sendable(connectTimeout),
    extraRootCertificates = extraRootCertificates.map { sendable("extra_root_certificates", it) },
    proxy = proxy.core,
    userAgentSuffix = sendable("user_agent_suffix", userAgentSuffix),
    language = language?.toCore(),
)
