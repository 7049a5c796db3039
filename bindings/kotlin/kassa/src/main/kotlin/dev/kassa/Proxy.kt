package dev.kassa

import dev.kassa.internal.Proxy as CoreProxy

/**
 * The proxy to the gateway: [direct], [environment] or [url].
 *
 * The URL of a proxy may hold a user and a password, so it is never printed.
 */
public class Proxy private constructor(internal val core: CoreProxy) {
    /** The way, without a URL. */
    override fun toString(): String = calling { core.asText() }

    /** Makes proxies. */
    public companion object {
        internal fun of(core: CoreProxy) = Proxy(core)

        /** No proxy, even if the environment names one. The default. */
        @JvmStatic
        public fun direct(): Proxy = Proxy(calling { CoreProxy.direct() })

        /**
         * The proxies that the environment names (`HTTPS_PROXY` and the like). They are not used for a plain http gateway on this
         * machine.
         */
        @JvmStatic
        public fun environment(): Proxy = Proxy(calling { CoreProxy.environment() })

        /**
         * A proxy by its http or https URL, which is checked when the gateway is made. The gateway's base URL must be https: plain http
         * is only for a gateway on this machine, which bypasses any proxy.
         *
         * @throws PaymentException.Invalid if it contains an unpaired surrogate, which is not valid text
         */
        @JvmStatic
        @Throws(PaymentException::class)
        public fun url(url: String): Proxy = Proxy(calling { CoreProxy.fromUrl(sendable("proxy", url)) })
    }
}
