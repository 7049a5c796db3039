extension Sandbox {
    /// How a test payer's payment ends.
    public enum Outcome: String, Hashable, Sendable, CaseIterable {
        /// The money is taken.
        case approved
        /// The provider says no.
        case declined
        /// There is not enough money.
        case insufficientFunds = "insufficient funds"
        /// It stays open.
        case stuckPending = "stuck pending"
        /// HTTP 500 answers the request; the payment exists all the same, and ends rejected.
        case error
    }

    /// The check that a card takes part in.
    public enum ThreeDS: String, Hashable, Sendable, CaseIterable {
        /// A page that asks for a one-time password.
        case version2 = "3DS 2.0"
        /// The same, where the switch is set.
        case version1 = "3DS 1.0"
        /// None.
        case none = "without 3DS"
    }

    /// A test card. Any CVC of three characters and any expiry later than today go with it.
    public struct TestCard: Hashable, Sendable {
        /// The card number.
        public let pan: String
        /// The check it takes part in.
        public let threeDS: ThreeDS
        /// How its payment ends.
        public let outcome: Outcome
        /// The right one-time password; nil for a card without 3DS.
        public let otp: String?

        private init(_ pan: String, _ threeDS: ThreeDS, _ outcome: Outcome, otp: String?) {
            self.pan = pan
            self.threeDS = threeDS
            self.outcome = outcome
            self.otp = otp
        }

        /// 3DS 2.0: approved.
        public static let approved = TestCard("4111111111111111", .version2, .approved, otp: "123456")
        /// 3DS 2.0: declined.
        public static let declined = TestCard("4111111111000124", .version2, .declined, otp: "123456")
        /// 3DS 2.0: insufficient funds.
        public static let insufficientFunds = TestCard("4111111111000231", .version2, .insufficientFunds, otp: "123456")
        /// 3DS 2.0: stuck pending.
        public static let stuckPending = TestCard("4111111111000348", .version2, .stuckPending, otp: "123456")
        /// 3DS 1.0: approved.
        public static let threeDS1Approved = TestCard("5200000000001013", .version1, .approved, otp: "123456")
        /// 3DS 1.0: declined.
        public static let threeDS1Declined = TestCard("5200000000001021", .version1, .declined, otp: "123456")
        /// 3DS 1.0: insufficient funds.
        public static let threeDS1InsufficientFunds = TestCard("5200000000001039", .version1, .insufficientFunds, otp: "123456")
        /// 3DS 1.0: stuck pending.
        public static let threeDS1StuckPending = TestCard("5200000000001047", .version1, .stuckPending, otp: "123456")
        /// Without 3DS: approved.
        public static let without3DSApproved = TestCard("4000000000002016", .none, .approved, otp: nil)
        /// Without 3DS, of 13 digits: approved.
        public static let without3DSApproved13Digits = TestCard("4222222222222", .none, .approved, otp: nil)
        /// Without 3DS, of 20 digits: approved.
        public static let without3DSApproved20Digits = TestCard("62000000000000002019", .none, .approved, otp: nil)
        /// Without 3DS: declined.
        public static let without3DSDeclined = TestCard("4000000000002024", .none, .declined, otp: nil)
        /// Without 3DS: insufficient funds.
        public static let without3DSInsufficientFunds = TestCard("4000000000002032", .none, .insufficientFunds, otp: nil)
        /// Without 3DS: stuck pending.
        public static let without3DSStuckPending = TestCard("4000000000002040", .none, .stuckPending, otp: nil)
        /// Without 3DS: error.
        public static let without3DSError = TestCard("4000000000002057", .none, .error, otp: nil)

        /// Every test card.
        public static let all: [TestCard] = [
            .approved, .declined, .insufficientFunds,
            .stuckPending, .threeDS1Approved, .threeDS1Declined,
            .threeDS1InsufficientFunds, .threeDS1StuckPending, .without3DSApproved,
            .without3DSApproved13Digits, .without3DSApproved20Digits, .without3DSDeclined,
            .without3DSInsufficientFunds, .without3DSStuckPending, .without3DSError,
        ]
    }

    /// A test phone.
    public struct TestPhone: Hashable, Sendable {
        /// The number, with country code.
        public let phone: String
        /// Whose wallet it is.
        public let provider: Provider
        /// How its payment ends.
        public let outcome: Outcome
        /// The right one-time password.
        public let otp: String

        private init(_ phone: String, _ provider: Provider, _ outcome: Outcome, otp: String) {
            self.phone = phone
            self.provider = provider
            self.outcome = outcome
            self.otp = otp
        }

        /// MBank: approved.
        public static let mbankApproved = TestPhone("996555000101", .mbank, .approved, otp: "101101")
        /// MBank: declined.
        public static let mbankDeclined = TestPhone("996555000102", .mbank, .declined, otp: "102102")
        /// MBank: insufficient funds.
        public static let mbankInsufficientFunds = TestPhone("996555000103", .mbank, .insufficientFunds, otp: "103103")
        /// MBank: stuck pending.
        public static let mbankStuckPending = TestPhone("996555000104", .mbank, .stuckPending, otp: "104104")
        /// MegaPay: approved.
        public static let megaPayApproved = TestPhone("996755000201", .megaPay, .approved, otp: "201201")
        /// MegaPay: declined.
        public static let megaPayDeclined = TestPhone("996755000202", .megaPay, .declined, otp: "202202")
        /// MegaPay: insufficient funds.
        public static let megaPayInsufficientFunds = TestPhone("996755000203", .megaPay, .insufficientFunds, otp: "203203")
        /// MegaPay: stuck pending.
        public static let megaPayStuckPending = TestPhone("996755000204", .megaPay, .stuckPending, otp: "204204")

        /// Every test phone.
        public static let all: [TestPhone] = [
            .mbankApproved, .mbankDeclined, .mbankInsufficientFunds, .mbankStuckPending,
            .megaPayApproved, .megaPayDeclined, .megaPayInsufficientFunds, .megaPayStuckPending,
        ]
    }
}
