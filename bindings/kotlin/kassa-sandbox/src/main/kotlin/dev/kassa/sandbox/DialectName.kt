// Generated from sandbox/data/test_data.json. Change that, and then:
// cargo test -p kassa-conformance --test tables -- --generate
package dev.kassa.sandbox

/**
 * The names of fields in replies.
 *
 * @property word how the sandbox spells it
 */
public enum class DialectName(override val word: String) : Word {
    /** Those of the gateway's interface. */
    SHOWN("shown"),

    /** Others, for tests of a client's configuration. */
    OTHER("other"),
}
