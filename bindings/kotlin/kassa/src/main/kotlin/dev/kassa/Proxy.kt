package dev.kassa

import dev.kassa.internal.Proxy as CoreProxy

/**
 * The way to the gateway: [direct], [environment] or [url].
 *
 * The URL of a proxy may hold a user and a password, so it is never printed.
 */
public class Proxy private constructor(internal val core: CoreProxy) {
    /** The way, without a URL. */
    override fun toString(): String = calling { core.asText() }

    /** Makes proxies. */
    public companion object {
        internal fun of(core: CoreProxy) = Proxy(core)

        /** No proxy, whatever the environment says. The default. */
        @JvmStatic
        public fun direct(): Proxy = Proxy(calling { CoreProxy.direct() })

        /**
         * The proxies that the environment names (`HTTPS_PROXY` and the like). A gateway with plain http, on this machine, is
         * reached past them.
         */
        @JvmStatic
        public fun environment(): Proxy = Proxy(calling { CoreProxy.environment() })

        /**
         * A proxy by its http or https URL, which is checked when the gateway is made. The gateway's base URL has to be https:
         * plain http is for a gateway on this machine alone, and goes past any proxy.
         *
         * @throws PaymentException.Invalid where it has half a surrogate pair in it, which is no text
         */
        @JvmStatic
        @Throws(PaymentException::class)
        public fun url(url: String): Proxy = Proxy(calling { CoreProxy.fromUrl(sendable("proxy", url)) })
    }
}
