// Generated from sandbox/data/test_data.json. Change that, and then:
// cargo test -p kassa-conformance --test tables -- --generate
package dev.kassa.sandbox

/** The test cards, by name. Those whose name says nothing else take part in 3DS 2.0. */
public object TestCards {
    /** 3DS 2.0: approved. */
    @JvmField public val APPROVED: TestCard = TestCard("4111111111111111", ThreeDs.V2, Outcome.APPROVED, "123456")

    /** 3DS 2.0: declined. */
    @JvmField public val DECLINED: TestCard = TestCard("4111111111000124", ThreeDs.V2, Outcome.DECLINED, "123456")

    /** 3DS 2.0: rejected for insufficient funds. */
    @JvmField
    public val INSUFFICIENT_FUNDS: TestCard =
        TestCard("4111111111000231", ThreeDs.V2, Outcome.INSUFFICIENT_FUNDS, "123456")

    /** 3DS 2.0: pending until it is decided. */
    @JvmField
    public val STUCK_PENDING: TestCard = TestCard("4111111111000348", ThreeDs.V2, Outcome.STUCK_PENDING, "123456")

    /** 3DS 1.0: approved. */
    @JvmField
    public val THREE_DS_1_APPROVED: TestCard = TestCard("5200000000001013", ThreeDs.V1, Outcome.APPROVED, "123456")

    /** 3DS 1.0: declined. */
    @JvmField
    public val THREE_DS_1_DECLINED: TestCard = TestCard("5200000000001021", ThreeDs.V1, Outcome.DECLINED, "123456")

    /** 3DS 1.0: rejected for insufficient funds. */
    @JvmField
    public val THREE_DS_1_INSUFFICIENT_FUNDS: TestCard =
        TestCard("5200000000001039", ThreeDs.V1, Outcome.INSUFFICIENT_FUNDS, "123456")

    /** 3DS 1.0: pending until it is decided. */
    @JvmField
    public val THREE_DS_1_STUCK_PENDING: TestCard =
        TestCard("5200000000001047", ThreeDs.V1, Outcome.STUCK_PENDING, "123456")

    /** Without 3DS: approved at once. */
    @JvmField
    public val WITHOUT_3DS_APPROVED: TestCard = TestCard("4000000000002016", ThreeDs.NONE, Outcome.APPROVED, null)

    /** Without 3DS: approved at once. The number has 13 digits, the minimum of the interface. */
    @JvmField
    public val WITHOUT_3DS_APPROVED_13_DIGITS: TestCard =
        TestCard("4222222222222", ThreeDs.NONE, Outcome.APPROVED, null)

    /** Without 3DS: approved at once. The number has 20 digits, the maximum of the interface. */
    @JvmField
    public val WITHOUT_3DS_APPROVED_20_DIGITS: TestCard =
        TestCard("62000000000000002019", ThreeDs.NONE, Outcome.APPROVED, null)

    /** Without 3DS: declined. */
    @JvmField
    public val WITHOUT_3DS_DECLINED: TestCard = TestCard("4000000000002024", ThreeDs.NONE, Outcome.DECLINED, null)

    /** Without 3DS: rejected for insufficient funds. */
    @JvmField
    public val WITHOUT_3DS_INSUFFICIENT_FUNDS: TestCard =
        TestCard("4000000000002032", ThreeDs.NONE, Outcome.INSUFFICIENT_FUNDS, null)

    /** Without 3DS: pending until it is decided. */
    @JvmField
    public val WITHOUT_3DS_STUCK_PENDING: TestCard =
        TestCard("4000000000002040", ThreeDs.NONE, Outcome.STUCK_PENDING, null)

    /** Without 3DS: the response is HTTP 500 although the payment exists, and the payment is then rejected. */
    @JvmField public val WITHOUT_3DS_ERROR: TestCard = TestCard("4000000000002057", ThreeDs.NONE, Outcome.ERROR, null)

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
}
