extension Sandbox {
    /// A snapshot of a fault that is set.
    public struct Fault: Hashable, Sendable, Decodable {
        /// Its number.
        public let id: Int
        /// What it does.
        public let name: FaultName
        /// How many times it has struck.
        public let struck: Int
        /// The endpoint it is for; nil for all.
        public let endpoint: Endpoint?
        /// The order it is for; nil for all.
        public let orderNumber: String?
        /// How likely it strikes, each time it could; nil for always.
        public let probability: Double?
        /// How many times it strikes before it is spent; nil for no limit.
        public let times: Int?

        private enum CodingKeys: String, CodingKey {
            case id, name, struck, endpoint, probability, times
            case orderNumber = "order_number"
        }

        /// A sandbox that was restarted counts its faults from the beginning, so the number alone says little.
        func isTheSame(as other: Fault) -> Bool {
            id == other.id && name == other.name && endpoint == other.endpoint && orderNumber == other.orderNumber
                && probability == other.probability && times == other.times
        }
    }

    /// Fault injection. ``clear()``, ``Sandbox/reset()`` and ``Sandbox/restart()`` remove all faults.
    public struct Faults: Sendable {
        let admin: Admin

        /// Sets a fault.
        ///
        /// ```swift
        /// let fault = try await sandbox.faults.add(.responseLost, orderNumber: "order-17", times: 1)
        /// // ...
        /// #expect(try await fault.struck == 1)
        /// ```
        ///
        /// - Parameters:
        ///   - name: What it does.
        ///   - orderNumber: Only what concerns this order: the merchant's number, the gateway's, or the transaction id.
        ///   - endpoint: Only requests to this endpoint.
        ///   - times: How often it strikes before it is spent; without it, no limit.
        ///   - probability: From 0 to 1, from a separate random generator seeded with `seed`.
        ///   - seed: See `probability`.
        ///   - delay: For ``FaultName/delay`` and ``FaultName/callbackLate``, in whole milliseconds.
        ///   - retryAfter: For ``FaultName/retryAfter`` and ``FaultName/unavailable``, in whole seconds.
        ///   - status: The word of ``FaultName/unknownStatus``.
        ///   - code: The code of ``FaultName/unknownCode``.
        /// - Throws: ``SandboxError/refused(httpStatus:detail:violations:)`` naming a field that is wrong, or that this fault does
        ///   not know.
        @discardableResult
        public func add(
            _ name: FaultName, orderNumber: String? = nil, endpoint: Endpoint? = nil, times: Int? = nil,
            probability: Double? = nil, seed: Int? = nil, delay: Duration? = nil, retryAfter: Duration? = nil,
            status: String? = nil, code: String? = nil
        ) async throws -> ActiveFault {
            let wanted = Wanted(
                name: name, orderNumber: orderNumber, endpoint: endpoint, times: times, probability: probability, seed: seed,
                delay: try delay.map { try whole($0, of: .milliseconds(1), "delay") },
                retryAfter: try retryAfter.map { try whole($0, of: .seconds(1), "retryAfter") }, status: status, code: code)
            return ActiveFault(admin, try await admin.request(Fault.self, "POST", "faults", body: wanted))
        }

        /// The faults that are set, with how often each has struck.
        public func list() async throws -> [Fault] {
            struct Answer: Decodable { let faults: [Fault] }
            return try await admin.request(Answer.self, "GET", "faults").faults
        }

        /// Ends every fault.
        public func clear() async throws {
            try await admin.tell("DELETE", "faults")
        }
    }

    /// A fault that was set: says how often it struck, and goes when it is removed.
    public actor ActiveFault {
        /// Its number.
        public nonisolated let id: Int
        /// What it does.
        public nonisolated let name: FaultName
        private let admin: Admin
        private var fault: Fault

        init(_ admin: Admin, _ fault: Fault) {
            self.admin = admin
            self.fault = fault
            id = fault.id
            name = fault.name
        }

        /// How many times it has struck by now; once it is gone, how many times it was last seen to have struck.
        public var struck: Int {
            get async throws {
                _ = try await isSet()
                return fault.struck
            }
        }

        /// Removes the fault if it is still set.
        public func remove() async throws {
            if try await isSet() { try await admin.tell("DELETE", "faults/\(id)") }
        }

        private func isSet() async throws -> Bool {
            let faults = try await Faults(admin: admin).list()
            guard let found = faults.first(where: { $0.isTheSame(as: fault) }) else { return false }
            fault = found
            return true
        }
    }
}

private struct Wanted: Encodable {
    let name: Sandbox.FaultName
    let orderNumber: String?
    let endpoint: Sandbox.Endpoint?
    let times: Int?
    let probability: Double?
    let seed: Int?
    let delay: Int64?
    let retryAfter: Int64?
    let status: String?
    let code: String?

    private enum CodingKeys: String, CodingKey {
        case name, endpoint, times, probability, seed, status, code
        case orderNumber = "order_number"
        case delay = "delay_ms"
        case retryAfter = "retry_after_s"
    }
}
