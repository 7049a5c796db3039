package dev.kassa

import dev.kassa.internal.FieldState as CoreFieldState

/** The state of a form's field while the payer types: [CardInput]. */
public sealed class FieldState {
    /** Incomplete, and nothing is wrong yet. */
    public data object Incomplete : FieldState()

    /** Complete: the field can be sent. The number may still get longer if its brand has several lengths. */
    public data object Complete : FieldState()

    /**
     * Wrong: further digits cannot make it valid.
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
