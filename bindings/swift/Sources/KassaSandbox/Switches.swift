extension Sandbox {
    /// The sandbox's behaviour where the gateway's interface is not specified.
    public struct SwitchValues: Hashable, Sendable, Codable {
        /// How a reused order number is treated.
        public var reusedOrderNumber: ReusedOrderNumber
        /// Which numbers the two status endpoints know.
        public var statusNumbers: StatusNumbers
        /// Whether 3DS 1.0 cards get a confirmation page, too.
        public var threeDS1Page: Bool
        /// Whether a declined payer is redirected to the return URL, too.
        public var redirectDeclines: Bool
        /// The language of messages if a request names none.
        public var language: Language
        /// Which gateway's responses the sandbox gives.
        public var actsAs: DialectName
        /// For FINIPAY: where a confirmation carries the `quid` of an MBank payment.
        public var mbankQuid: MbankQuid

        /// As the sandbox has them unless told otherwise.
        public init(
            reusedOrderNumber: ReusedOrderNumber = .refuse, statusNumbers: StatusNumbers = .strict, threeDS1Page: Bool = false,
            redirectDeclines: Bool = false, language: Language = .english, actsAs: DialectName = .interface,
            mbankQuid: MbankQuid = .field
        ) {
            self.reusedOrderNumber = reusedOrderNumber
            self.statusNumbers = statusNumbers
            self.threeDS1Page = threeDS1Page
            self.redirectDeclines = redirectDeclines
            self.language = language
            self.actsAs = actsAs
            self.mbankQuid = mbankQuid
        }

        private enum CodingKeys: String, CodingKey {
            case language
            case actsAs = "acts_as"
            case mbankQuid = "mbank_quid"
            case reusedOrderNumber = "reused_order_number"
            case statusNumbers = "status_numbers"
            case threeDS1Page = "three_ds_1_page"
            case redirectDeclines = "redirect_declines"
        }
    }

    /// The sandbox's behaviour where the gateway's interface is not specified. ``Sandbox/reset()`` restores the initial values.
    public struct Switches: Sendable {
        let admin: Admin

        /// The current values.
        public func read() async throws -> SwitchValues {
            try await admin.request(SwitchValues.self, "GET", "switches")
        }

        /// Changes them, from the next request on.
        ///
        /// ```swift
        /// try await sandbox.switches.change { $0.reusedOrderNumber = .chargeTwice }
        /// ```
        ///
        /// - Returns: The values after that.
        @discardableResult
        public func change(_ change: (inout SwitchValues) -> Void) async throws -> SwitchValues {
            var values = try await read()
            change(&values)
            return try await admin.request(SwitchValues.self, "PATCH", "switches", body: values)
        }
    }
}
