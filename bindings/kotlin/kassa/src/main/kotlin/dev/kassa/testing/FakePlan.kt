package dev.kassa.testing

import dev.kassa.sendable
import kotlin.time.Duration
import kotlin.time.toJavaDuration
import kotlin.time.toKotlinDuration
import dev.kassa.internal.FakePlan as CoreFakePlan

/** What happens automatically to payments created from now on. */
public sealed interface FakePlan {
    /** They stay open until the test acts as the payer. A payment by mobile bank or MegaPay is paid by its confirmation. */
    public data object StayPending : FakePlan

    /**
     * Their payers pay, after that time on the fake gateway's clock.
     *
     * @property after the time from the creation
     */
    public data class Charge(public val after: Duration) : FakePlan {
        /** By Java's duration. */
        public constructor(after: java.time.Duration) : this(after.toKotlinDuration())

        /** The time from the creation, for Java. */
        public fun getAfter(): java.time.Duration = after.toJavaDuration()
    }

    /**
     * Their payers decline, after that time on the fake gateway's clock.
     *
     * @property after the time from the creation
     */
    public data class Reject(public val after: Duration) : FakePlan {
        /** By Java's duration. */
        public constructor(after: java.time.Duration) : this(after.toKotlinDuration())

        /** The time from the creation, for Java. */
        public fun getAfter(): java.time.Duration = after.toJavaDuration()
    }

    /** What has no values, for Java. */
    public companion object {
        /** [StayPending], for Java. */
        @JvmStatic
        public fun stayPending(): FakePlan = StayPending
    }
}

internal fun FakePlan.toCore(): CoreFakePlan = when (this) {
    FakePlan.StayPending -> CoreFakePlan.StayPending
    is FakePlan.Charge -> CoreFakePlan.Charge(sendable(after))
    is FakePlan.Reject -> CoreFakePlan.Reject(sendable(after))
}
