package dev.kassa.sandbox

/** How a test payer's payment ends. */
public enum class Outcome {
    /** The money is taken. */
    APPROVED,

    /** It is rejected. */
    DECLINED,

    /** It is rejected for want of money. */
    INSUFFICIENT_FUNDS,

    /** It never ends by itself. */
    STUCK_PENDING,

    /** The request is answered by HTTP 500, and the payment ends rejected. */
    ERROR,
}

/** The check that a card takes part in. */
public enum class ThreeDs {
    /** 3DS 2.0. */
    V2,

    /** 3DS 1.0. */
    V1,

    /** None. */
    NONE,
}

/**
 * A test card. Any CVC of three characters and any expiry later than today go with it.
 *
 * @property pan the card number
 * @property threeDs the check it takes part in
 * @property outcome how its payment ends
 * @property otp the right one-time password; null for a card without 3DS
 */
public data class TestCard(
    public val pan: String,
    public val threeDs: ThreeDs,
    public val outcome: Outcome,
    public val otp: String?,
)

/**
 * A test phone.
 *
 * @property phone the number, with country code
 * @property provider whose wallet it is
 * @property outcome how its payment ends
 * @property otp the right one-time password
 */
public data class TestPhone(
    public val phone: String,
    public val provider: Sandbox.Provider,
    public val outcome: Outcome,
    public val otp: String,
)
