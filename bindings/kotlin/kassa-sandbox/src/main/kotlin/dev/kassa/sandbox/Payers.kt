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

/** The test cards, by name. Those whose name says nothing else take part in 3DS 2.0. */
public object TestCards {
    /** Approved. */
    @JvmField public val APPROVED: TestCard = v2("4111111111111111", Outcome.APPROVED)

    /** Declined. */
    @JvmField public val DECLINED: TestCard = v2("4111111111000124", Outcome.DECLINED)

    /** Rejected for want of money. */
    @JvmField public val INSUFFICIENT_FUNDS: TestCard = v2("4111111111000231", Outcome.INSUFFICIENT_FUNDS)

    /** Open until it is decided. */
    @JvmField public val STUCK_PENDING: TestCard = v2("4111111111000348", Outcome.STUCK_PENDING)

    /** 3DS 1.0, approved. */
    @JvmField public val THREE_DS_1_APPROVED: TestCard = v1("5200000000001013", Outcome.APPROVED)

    /** 3DS 1.0, declined. */
    @JvmField public val THREE_DS_1_DECLINED: TestCard = v1("5200000000001021", Outcome.DECLINED)

    /** 3DS 1.0, rejected for want of money. */
    @JvmField public val THREE_DS_1_INSUFFICIENT_FUNDS: TestCard = v1("5200000000001039", Outcome.INSUFFICIENT_FUNDS)

    /** 3DS 1.0, open until it is decided. */
    @JvmField public val THREE_DS_1_STUCK_PENDING: TestCard = v1("5200000000001047", Outcome.STUCK_PENDING)

    /** Without 3DS, approved at once. */
    @JvmField public val WITHOUT_3DS_APPROVED: TestCard = plain("4000000000002016", Outcome.APPROVED)

    /** The same, with a number of 13 digits. */
    @JvmField public val WITHOUT_3DS_APPROVED_13_DIGITS: TestCard = plain("4222222222222", Outcome.APPROVED)

    /** The same, with a number of 20 digits. */
    @JvmField public val WITHOUT_3DS_APPROVED_20_DIGITS: TestCard = plain("62000000000000002019", Outcome.APPROVED)

    /** Without 3DS, declined. */
    @JvmField public val WITHOUT_3DS_DECLINED: TestCard = plain("4000000000002024", Outcome.DECLINED)

    /** Without 3DS, rejected for want of money. */
    @JvmField public val WITHOUT_3DS_INSUFFICIENT_FUNDS: TestCard = plain("4000000000002032", Outcome.INSUFFICIENT_FUNDS)

    /** Without 3DS, open until it is decided. */
    @JvmField public val WITHOUT_3DS_STUCK_PENDING: TestCard = plain("4000000000002040", Outcome.STUCK_PENDING)

    /** Without 3DS; the request is answered by HTTP 500 although the payment exists, and ends rejected. */
    @JvmField public val WITHOUT_3DS_ERROR: TestCard = plain("4000000000002057", Outcome.ERROR)

    /** Every test card. */
    @JvmField
    public val ALL: List<TestCard> = listOf(
        APPROVED,
        DECLINED,
        INSUFFICIENT_FUNDS,
        STUCK_PENDING,
        THREE_DS_1_APPROVED,
        THREE_DS_1_DECLINED,
        THREE_DS_1_INSUFFICIENT_FUNDS,
        THREE_DS_1_STUCK_PENDING,
        WITHOUT_3DS_APPROVED,
        WITHOUT_3DS_APPROVED_13_DIGITS,
        WITHOUT_3DS_APPROVED_20_DIGITS,
        WITHOUT_3DS_DECLINED,
        WITHOUT_3DS_INSUFFICIENT_FUNDS,
        WITHOUT_3DS_STUCK_PENDING,
        WITHOUT_3DS_ERROR,
    )

    private fun v2(pan: String, outcome: Outcome) = TestCard(pan, ThreeDs.V2, outcome, "123456")

    private fun v1(pan: String, outcome: Outcome) = TestCard(pan, ThreeDs.V1, outcome, "123456")

    private fun plain(pan: String, outcome: Outcome) = TestCard(pan, ThreeDs.NONE, outcome, null)
}

/** The test phones, by name. */
public object TestPhones {
    /** MBank, approved. */
    @JvmField public val MBANK_APPROVED: TestPhone = mbank("996555000101", Outcome.APPROVED, "101101")

    /** MBank, declined. */
    @JvmField public val MBANK_DECLINED: TestPhone = mbank("996555000102", Outcome.DECLINED, "102102")

    /** MBank, rejected for want of money. */
    @JvmField public val MBANK_INSUFFICIENT_FUNDS: TestPhone = mbank("996555000103", Outcome.INSUFFICIENT_FUNDS, "103103")

    /** MBank, open until it is decided. */
    @JvmField public val MBANK_STUCK_PENDING: TestPhone = mbank("996555000104", Outcome.STUCK_PENDING, "104104")

    /** MegaPay, approved. */
    @JvmField public val MEGAPAY_APPROVED: TestPhone = megapay("996755000201", Outcome.APPROVED, "201201")

    /** MegaPay, declined. */
    @JvmField public val MEGAPAY_DECLINED: TestPhone = megapay("996755000202", Outcome.DECLINED, "202202")

    /** MegaPay, rejected for want of money. */
    @JvmField
    public val MEGAPAY_INSUFFICIENT_FUNDS: TestPhone = megapay("996755000203", Outcome.INSUFFICIENT_FUNDS, "203203")

    /** MegaPay, open until it is decided. */
    @JvmField public val MEGAPAY_STUCK_PENDING: TestPhone = megapay("996755000204", Outcome.STUCK_PENDING, "204204")

    /** Every test phone. */
    @JvmField
    public val ALL: List<TestPhone> = listOf(
        MBANK_APPROVED,
        MBANK_DECLINED,
        MBANK_INSUFFICIENT_FUNDS,
        MBANK_STUCK_PENDING,
        MEGAPAY_APPROVED,
        MEGAPAY_DECLINED,
        MEGAPAY_INSUFFICIENT_FUNDS,
        MEGAPAY_STUCK_PENDING,
    )

    private fun mbank(phone: String, outcome: Outcome, otp: String) = TestPhone(phone, Sandbox.Provider.M_BANK, outcome, otp)

    private fun megapay(phone: String, outcome: Outcome, otp: String) = TestPhone(phone, Sandbox.Provider.MEGA_PAY, outcome, otp)
}
