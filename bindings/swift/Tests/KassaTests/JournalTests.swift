import Foundation
import KassaStage
import Testing

@testable import Kassa

/// What an app or a server relies on that was started again.
@Suite struct JournalTests {
    private let home = JournalFolder()
    private let order = MbankPayment(orderNumber: "order-2", phone: "996555000101", amountSom: 250, comment: "tea")

    @Test func paymentIsListedUntilItIsDelivered() async throws {
        let fake = try FakeGateway()
        let journal = try home.open()
        let gateway = fake.gateway.withJournal(journal)
        #expect(gateway.journal === journal && fake.gateway.journal == nil)
        fake.failNext(.responseLost)
        let noted = try gateway.withNote("cart 17").withDeadline(.seconds(5))
        await #expect(throws: PaymentError.self) { try await noted.createMbankPayment(order) }

        let known = try await entry(of: gateway)
        #expect(known.payment == order.paymentRef() && known.state == .unknown && known.note == "cart 17")
        #expect(known.begun.timeIntervalSinceNow.magnitude < 3600 && known.id.hasPrefix("order-2-"))
        try fake.charge("order-2")
        #expect(try await gateway.check(known.payment).isCharged)
        #expect(try await entry(of: gateway).state == .charged)
        try await gateway.finish(known)
        #expect(try await listed(gateway.unfinished()) == [])
        try await journal.prune(olderThan: .seconds(90 * 24 * 3600))
        #expect(try await journal.entry(known.payment)?.state == .charged)
        #expect(try await journal.entry(.mbank("order-3", amountSom: 250)) == nil)
        await #expect(throws: PaymentError.self) { try await journal.finish("order-3") }
        #expect("\(journal)".contains("journal") && everyForm(of: journal.unfinished()).contains("UnfinishedEntries"))
    }

    @Test func programThatIsStartedAgainSendsNothingTwice() async throws {
        let it = try Loopback(Responses.envelope("0", [:]), Responses.charged)
        _ = try await it.gateway.withJournal(home.open()).createMbankPayment(order)
        await it.gateway.close()

        let again = try Gateway(
            baseURL: it.server.url, credentials: Credentials(login: "shop", password: "swordfish-77"), journal: home.open())
        await #expect {
            try await again.createMbankPayment(order)
        } throws: {
            guard case .outcomeUnknown(let payment, _, _, _, _, _)? = $0 as? PaymentError else { return false }
            return payment == order.paymentRef()
        }
        #expect(it.server.received.count == 1)
        let known = try await entry(of: again)
        #expect(known.state == .pending && known.code == "0")
        #expect(try await again.check(known.payment).isCharged)
        try await #require(again.journal).finish(known)
        #expect(try await listed(home.open().unfinished()) == [])
        await again.close()
    }

    @Test func paymentThatNobodyWaitsForIsListed() async throws {
        let it = try Loopback(Responses.silence)
        let gateway = try it.gateway.withJournal(home.open())
        let sending = Task { try await gateway.createMbankPayment(order) }
        #expect(await it.server.waitForRequests(1))
        sending.cancel()
        await #expect(throws: CancellationError.self) { try await sending.value }
        let known = try await entry(of: gateway)
        #expect(known.payment == order.paymentRef() && known.state == .unknown)
    }

    @Test func cancelledTaskListsNothingMoreAndFinishesWhatItFinishes() async throws {
        let journal = try home.open()
        let gateway = try FakeGateway().gateway.withJournal(journal)
        for number in 1...3 { try await makePayment("order-\(number)", by: gateway) }
        let working = Task {
            var seen: [JournalEntry] = []
            do {
                for try await case .payment(let entry) in gateway.unfinished() {
                    seen.append(entry)
                    withUnsafeCurrentTask { $0?.cancel() }
                }
            } catch is CancellationError {
                try await gateway.finish(seen[0])
            }
            return seen.count
        }
        #expect(try await working.value == 1)
        let left = try await listed(journal.unfinished())
        #expect(left.count == 2)
        let finishing = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            for case .payment(let entry) in left { try await journal.finish(entry) }
        }
        try await finishing.value
        #expect(try await listed(journal.unfinished()) == [])
    }

    /// More than cross the border to the core at once.
    @Test func listThatIsLeftEarlyBeginsAnewAndLosesNothingWhileItIsWorkedOff() async throws {
        let gateway = try FakeGateway().gateway.withJournal(home.open())
        let numbers = (0..<150).map { "order-\($0)" }
        for number in numbers { try await makePayment(number, by: gateway) }
        let entries = gateway.unfinished()
        for try await _ in entries { break }
        var seen: [String?] = []
        for try await case .payment(let entry) in entries {
            seen.append(entry.payment.orderNumber)
            try await gateway.finish(entry)
        }
        #expect(seen.count == 150 && Set(seen) == Set(numbers))
        #expect(try await listed(entries) == [])
    }

    @Test func diskThatIsSlowKeepsNoTaskWaiting() async throws {
        let (begun, begin) = AsyncStream.makeStream(of: Void.self)
        let homes = (0...ProcessInfo.processInfo.activeProcessorCount).map { _ in JournalFolder() }
        // A pipe is read when somebody writes into it.
        let pipes = try homes.map { home in
            _ = try home.open()
            try home.write("", to: "open/2026-01-01/gone")
            let pipe = home.folder.appending(path: "open/2026-01-01/order-2-817ecd563f9a6992a849132521cd42d9")
            try #require(mkfifo(pipe.path(percentEncoded: false), 0o600) == 0)
            return pipe.path(percentEncoded: false)
        }
        let allBegan = DispatchSemaphore(value: 0)
        let (waits, waited) = AsyncStream.makeStream(of: DispatchTimeoutResult.self)
        Thread.detachNewThread {
            waited.yield(allBegan.wait(timeout: .now() + patience))
            for pipe in pipes { try? FileHandle(forWritingTo: URL(filePath: pipe)).close() }
        }
        let lists = Task {
            try await withThrowingTaskGroup(of: [Unfinished].self) { group in
                for home in homes {
                    group.addTask {
                        begin.yield()
                        return try await listed(Journal(folder: home.folder).unfinished())
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
        }
        var beginnings = begun.makeAsyncIterator()
        for _ in homes { _ = await beginnings.next() }
        allBegan.signal()
        for await result in waits {
            #expect(result == .success, "a list that waits for the disk kept another one from beginning")
            break
        }
        #expect(try await lists.value.count == homes.count)
    }

    @Test func entryCanBeNamedBeforeItsPaymentIsMade() async throws {
        let gateway = try FakeGateway().gateway.withJournal(home.open())
        let named = try PaymentRef.payForm(amount: 250).withEntryID("cart-17")
        let form = PayForm(
            amount: 250, serviceName: "Honey", callbackURL: "https://shop.example.kg/cb", returnURL: "shop://back",
            entryID: named.entryID)
        #expect(try form.paymentRef() == named && PaymentRef(named.description) == named && form.description.contains("cart-17"))
        #expect(try await gateway.createPayForm(form).payment == named)
        let code = QrPayment(sumTyiyn: 500, entryID: "cart-18")
        #expect(code.paymentRef() == PaymentRef.qr(sumTyiyn: 500).withEntryID("cart-18") && code.description.contains("cart-18"))
        #expect(try await gateway.createQrImage(code).payment == code.paymentRef())
        #expect(try await listed(gateway.unfinished()).count == 2)
    }

    @Test func folderThatCannotBeUsedIsAnError() async throws {
        try home.write("a file", to: "file")
        for folder in [home.folder.appending(path: "file/journal"), try #require(URL(string: "https://pay.example.kg/journal"))] {
            #expect { try Journal(folder: folder) } throws: { ($0 as? PaymentError)?.kind == "Misconfigured" }
        }
        let gateway = try FakeGateway().gateway
        await #expect { try await listed(gateway.unfinished()) } throws: { ($0 as? PaymentError)?.kind == "Misconfigured" }
        await #expect { try await gateway.finish("x") } throws: { ($0 as? PaymentError)?.kind == "Misconfigured" }
    }

    @Test func exampleIsAsDocumented() throws {
        try expectDocumented("Journal.swift", in: #filePath, indentation: 4)
    }

    private func makePayment(_ orderNumber: String, by gateway: Gateway) async throws {
        _ = try await gateway.createMbankPayment(
            MbankPayment(orderNumber: orderNumber, phone: "996555000101", amountSom: 250, comment: "tea"))
    }

    /// The only one that is not done with.
    private func entry(of gateway: Gateway) async throws -> JournalEntry {
        let all = try await listed(gateway.unfinished())
        guard case .payment(let entry)? = all.first, all.count == 1 else { throw InternalError(detail: "\(all)") }
        return entry
    }
}

/// As it stands in the documentation of ``Journal``.
private func printWhatIsUnfinished(_ config: GatewayConfig) async throws {
    let gateway = try Gateway(config, journal: .standard())
    for try await item in gateway.unfinished() {
        switch item {
        case .payment(let entry): print("\(entry.payment) is \(entry.state)")
        case .unreadable(let id, let why): print("a person should look at \(id): it \(why)")
        }
    }
}

#if canImport(Darwin)
    @Test func appsJournalIsKeptOutOfBackups() throws {
        let home = JournalFolder()
        for _ in 1...2 {
            let folder = try appFolder(in: home.folder)
            #expect(try folder.resourceValues(forKeys: [.isExcludedFromBackupKey]).isExcludedFromBackup == true)
            _ = try Journal(folder: folder)
        }
    }
#else
    /// There is one environment for a whole program.
    extension OneLog {
        @Test func standardJournalIsTheUsersOwn() async throws {
            let home = JournalFolder()
            let place = home.folder.path(percentEncoded: false)
            let (byHome, data) = (place + ".local/share/kassa/journal/", place + "data")
            #expect(try standardPlace(["XDG_DATA_HOME": nil, "HOME": place]) == byHome)
            #expect(try standardPlace(["XDG_DATA_HOME": "relative", "HOME": place]) == byHome)
            #expect(try standardPlace(["XDG_DATA_HOME": data, "HOME": place]) == data + "/kassa/journal/")
            #expect(try FileManager.default.contentsOfDirectory(atPath: data + "/kassa/journal").sorted() == ["done", "open", "paid"])
        }

        @Test func readmesShopDeliversWhatWasUnfinished() async throws {
            let home = JournalFolder()
            let before = set(["XDG_DATA_HOME": home.folder.path(percentEncoded: false)])
            defer { _ = set(before) }
            let it = try Loopback(Responses.envelope("0", [:]), Responses.charged)
            let config = GatewayConfig(baseURL: it.server.url, credentials: Credentials(login: "shop", password: "swordfish-77"))
            let shop = try Gateway(config, journal: .standard())
            let order = MbankPayment(orderNumber: "order-2", phone: "996555000101", amountSom: 250, comment: "tea")
            _ = try await shop.withNote("cart 17").createMbankPayment(order)
            await shop.close()
            var delivered: [String?] = []
            for _ in 1...2 {
                try await deliverWhatIsPaid(config) { delivered.append($0.note) }
                #expect(delivered == ["cart 17"])
            }
        }

        private func standardPlace(_ variables: [String: String?]) throws -> String {
            let before = set(variables)
            defer { _ = set(before) }
            return try Journal.standard().folder.path(percentEncoded: false)
        }

        /// Sets variables of the environment, and gives what they were.
        private func set(_ variables: [String: String?]) -> [String: String?] {
            let before = ProcessInfo.processInfo.environment
            for (name, value) in variables {
                if let value { setenv(name, value, 1) } else { unsetenv(name) }
            }
            return variables.reduce(into: [:]) { $0.updateValue(before[$1.key], forKey: $1.key) }
        }
    }
#endif
