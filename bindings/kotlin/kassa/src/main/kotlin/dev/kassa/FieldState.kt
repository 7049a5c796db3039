package dev.kassa

import dev.kassa.internal.FieldState as CoreFieldState

/** What a form shows at a field while the payer types: [CardInput]. */
public sealed class FieldState {
    /** Nothing is wrong yet, and something is missing: go on typing. */
    public data object Incomplete : FieldState()

    /** The field can be sent as it is. A number of a brand that has several lengths may still go on. */
    public data object Complete : FieldState()

    /**
     * No typing at the end can make it right.
     *
     * @property violation the rule that is broken, with its text
     */
    public data class Wrong(public val violation: Violation) : FieldState()

    /** The two without a violation, for Java. */
    public companion object {
        /** [Incomplete], for Java. */
        @JvmStatic
        public fun incomplete(): FieldState = Incomplete

        /** [Complete], for Java. */
        @JvmStatic
        public fun complete(): FieldState = Complete
    }
}

internal fun CoreFieldState.toKassa(): FieldState = when (this) {
    CoreFieldState.Incomplete -> FieldState.Incomplete
    CoreFieldState.Complete -> FieldState.Complete
    is CoreFieldState.Wrong -> FieldState.Wrong(violation.toKassa())
}
