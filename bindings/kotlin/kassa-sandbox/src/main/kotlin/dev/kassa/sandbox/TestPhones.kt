// Generated from sandbox/data/test_data.json. Change that, and then:
// cargo test -p kassa-conformance --test tables -- --generate
package dev.kassa.sandbox

/** The test phones, by name. */
public object TestPhones {
    /** MBank: approved. */
    @JvmField
    public val MBANK_APPROVED: TestPhone =
        TestPhone("996555000101", Sandbox.Provider.M_BANK, Outcome.APPROVED, "101101")

    /** MBank: declined. */
    @JvmField
    public val MBANK_DECLINED: TestPhone =
        TestPhone("996555000102", Sandbox.Provider.M_BANK, Outcome.DECLINED, "102102")

    /** MBank: rejected for insufficient funds. */
    @JvmField
    public val MBANK_INSUFFICIENT_FUNDS: TestPhone =
        TestPhone("996555000103", Sandbox.Provider.M_BANK, Outcome.INSUFFICIENT_FUNDS, "103103")

    /** MBank: pending until it is decided. */
    @JvmField
    public val MBANK_STUCK_PENDING: TestPhone =
        TestPhone("996555000104", Sandbox.Provider.M_BANK, Outcome.STUCK_PENDING, "104104")

    /** MegaPay: approved. */
    @JvmField
    public val MEGAPAY_APPROVED: TestPhone =
        TestPhone("996755000201", Sandbox.Provider.MEGA_PAY, Outcome.APPROVED, "201201")

    /** MegaPay: declined. */
    @JvmField
    public val MEGAPAY_DECLINED: TestPhone =
        TestPhone("996755000202", Sandbox.Provider.MEGA_PAY, Outcome.DECLINED, "202202")

    /** MegaPay: rejected for insufficient funds. */
    @JvmField
    public val MEGAPAY_INSUFFICIENT_FUNDS: TestPhone =
        TestPhone("996755000203", Sandbox.Provider.MEGA_PAY, Outcome.INSUFFICIENT_FUNDS, "203203")

    /** MegaPay: pending until it is decided. */
    @JvmField
    public val MEGAPAY_STUCK_PENDING: TestPhone =
        TestPhone("996755000204", Sandbox.Provider.MEGA_PAY, Outcome.STUCK_PENDING, "204204")

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
}
