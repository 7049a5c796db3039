// Generated from sandbox/data/test_data.json. Change that, and then:
// cargo test -p kassa-conformance --test tables -- --generate

extension Sandbox.TestCard {
    /// 3DS 2.0: approved.
    public static let approved = Self("4111111111111111", .version2, .approved, otp: "123456")
    /// 3DS 2.0: declined.
    public static let declined = Self("4111111111000124", .version2, .declined, otp: "123456")
    /// 3DS 2.0: rejected for insufficient funds.
    public static let insufficientFunds = Self("4111111111000231", .version2, .insufficientFunds, otp: "123456")
    /// 3DS 2.0: pending until it is decided.
    public static let stuckPending = Self("4111111111000348", .version2, .stuckPending, otp: "123456")
    /// 3DS 1.0: approved.
    public static let threeDS1Approved = Self("5200000000001013", .version1, .approved, otp: "123456")
    /// 3DS 1.0: declined.
    public static let threeDS1Declined = Self("5200000000001021", .version1, .declined, otp: "123456")
    /// 3DS 1.0: rejected for insufficient funds.
    public static let threeDS1InsufficientFunds = Self("5200000000001039", .version1, .insufficientFunds, otp: "123456")
    /// 3DS 1.0: pending until it is decided.
    public static let threeDS1StuckPending = Self("5200000000001047", .version1, .stuckPending, otp: "123456")
    /// Without 3DS: approved at once.
    public static let without3DSApproved = Self("4000000000002016", .none, .approved, otp: nil)
    /// Without 3DS: approved at once. The number has 13 digits, the minimum of the interface.
    public static let without3DSApproved13Digits = Self("4222222222222", .none, .approved, otp: nil)
    /// Without 3DS: approved at once. The number has 20 digits, the maximum of the interface.
    public static let without3DSApproved20Digits = Self("62000000000000002019", .none, .approved, otp: nil)
    /// Without 3DS: declined.
    public static let without3DSDeclined = Self("4000000000002024", .none, .declined, otp: nil)
    /// Without 3DS: rejected for insufficient funds.
    public static let without3DSInsufficientFunds = Self("4000000000002032", .none, .insufficientFunds, otp: nil)
    /// Without 3DS: pending until it is decided.
    public static let without3DSStuckPending = Self("4000000000002040", .none, .stuckPending, otp: nil)
    /// Without 3DS: the response is HTTP 500 although the payment exists, and the payment is then rejected.
    public static let without3DSError = Self("4000000000002057", .none, .error, otp: nil)

    /// Every test card.
    public static let all: [Self] = [
        .approved,
        .declined,
        .insufficientFunds,
        .stuckPending,
        .threeDS1Approved,
        .threeDS1Declined,
        .threeDS1InsufficientFunds,
        .threeDS1StuckPending,
        .without3DSApproved,
        .without3DSApproved13Digits,
        .without3DSApproved20Digits,
        .without3DSDeclined,
        .without3DSInsufficientFunds,
        .without3DSStuckPending,
        .without3DSError,
    ]
}
