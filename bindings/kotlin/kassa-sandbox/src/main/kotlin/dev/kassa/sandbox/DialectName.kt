// Generated from sandbox/data/test_data.json. Change that, and then:
// cargo test -p kassa-conformance --test tables -- --generate
package dev.kassa.sandbox

/**
 * Which gateway's responses the sandbox gives.
 *
 * @property word how the sandbox spells it
 */
public enum class DialectName(override val word: String) : Word {
    /** The responses of the gateway's interface. */
    INTERFACE("interface"),

    /** Responses in another format, to test a client's configuration. */
    OTHER("other"),

    /** The responses that FINIPAY's public pages show. */
    FINIPAY("finipay"),
}
