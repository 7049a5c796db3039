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
        /// The response is HTTP 500, but the payment exists, and is rejected in the end.
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

        init(_ pan: String, _ threeDS: ThreeDS, _ outcome: Outcome, otp: String?) {
            self.pan = pan
            self.threeDS = threeDS
            self.outcome = outcome
            self.otp = otp
        }
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

        init(_ phone: String, _ provider: Provider, _ outcome: Outcome, otp: String) {
            self.phone = phone
            self.provider = provider
            self.outcome = outcome
            self.otp = otp
        }
    }
}
