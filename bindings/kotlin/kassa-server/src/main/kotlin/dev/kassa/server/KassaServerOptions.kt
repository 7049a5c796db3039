package dev.kassa.server

import dev.kassa.sandbox.Sandbox

/**
 * How a server is started. The values are checked when it is.
 *
 * @property sandbox a running sandbox; by default the server starts its own, and stops it
 * @property eventsUrl the shop's URL for events; without it they are only listed
 * @property port the port to listen on, on this machine only; 0 takes a free one
 * @property settings others of the program's, by their names, such as `payment_wait` with `5s`
 */
public data class KassaServerOptions(
    public val sandbox: Sandbox? = null,
    public val eventsUrl: String? = null,
    public val port: Int = 0,
    public val settings: Map<String, String> = emptyMap(),
) {
    /** The names of settings alone: their values may be secrets. */
    override fun toString(): String =
        "KassaServerOptions(sandbox=$sandbox, eventsUrl=$eventsUrl, port=$port, settings=${settings.keys})"

    /** Makes options by their names, for Java. */
    public class Builder {
        private var options = KassaServerOptions()

        /** A sandbox that runs already. */
        public fun sandbox(sandbox: Sandbox): Builder = with { copy(sandbox = sandbox) }

        /** The shop's URL for events. */
        public fun eventsUrl(url: String): Builder = with { copy(eventsUrl = url) }

        /** The port to listen on; 0 takes a free one. */
        public fun port(port: Int): Builder = with { copy(port = port) }

        /** Another setting of the program's, by its name. */
        public fun setting(name: String, value: String): Builder = with { copy(settings = settings + (name to value)) }

        /** The options. */
        public fun build(): KassaServerOptions = options

        /** The options so far. */
        override fun toString(): String = "Builder($options)"

        private inline fun with(change: KassaServerOptions.() -> KassaServerOptions) = apply { options = options.change() }
    }
}
