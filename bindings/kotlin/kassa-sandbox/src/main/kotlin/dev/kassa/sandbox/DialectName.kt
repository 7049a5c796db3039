// Generated from sandbox/data/test_data.json. Change that, and then:
// cargo test -p kassa-conformance --test tables -- --generate
package dev.kassa.sandbox

/**
 * Which gateway's responses the sandbox gives.
 *
 * @property word how the sandbox spells it
 */
public enum class DialectName(override val word: String) : Word {
    /** Those of the gateway's interface. */
    INTERFACE("interface"),

    /** Others, for tests of a client's configuration. */
    OTHER("other"),

    /** Those that the public pages of the gateway FINIPAY show. */
    FINIPAY("finipay"),
}
