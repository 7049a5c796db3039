// Generated from sandbox/data/test_data.json. Change that, and then:
// cargo test -p kassa-conformance --test tables -- --generate

extension Sandbox.TestPhone {
    /// MBank: approved.
    public static let mbankApproved = Self("996555000101", .mbank, .approved, otp: "101101")
    /// MBank: declined.
    public static let mbankDeclined = Self("996555000102", .mbank, .declined, otp: "102102")
    /// MBank: rejected for insufficient funds.
    public static let mbankInsufficientFunds = Self("996555000103", .mbank, .insufficientFunds, otp: "103103")
    /// MBank: pending until it is decided.
    public static let mbankStuckPending = Self("996555000104", .mbank, .stuckPending, otp: "104104")
    /// MegaPay: approved.
    public static let megaPayApproved = Self("996755000201", .megaPay, .approved, otp: "201201")
    /// MegaPay: declined.
    public static let megaPayDeclined = Self("996755000202", .megaPay, .declined, otp: "202202")
    /// MegaPay: rejected for insufficient funds.
    public static let megaPayInsufficientFunds = Self("996755000203", .megaPay, .insufficientFunds, otp: "203203")
    /// MegaPay: pending until it is decided.
    public static let megaPayStuckPending = Self("996755000204", .megaPay, .stuckPending, otp: "204204")

    /// Every test phone.
    public static let all: [Self] = [
        .mbankApproved,
        .mbankDeclined,
        .mbankInsufficientFunds,
        .mbankStuckPending,
        .megaPayApproved,
        .megaPayDeclined,
        .megaPayInsufficientFunds,
        .megaPayStuckPending,
    ]
}
