import Kassa

/// Follows a payment to its end, or every one that an earlier run left open.
enum WatchCommand {
    static func run(_ shop: Shop, _ given: Given) async throws -> Ended {
        if given.has(WatchOptions.resume) {
            guard !SubjectOptions.all.contains(where: given.has) else {
                throw Failure.usage("--resume follows every open payment, so none can be named with it")
            }
            return try await resume(shop)
        }
        guard let payment = try Subject.payment(given) else { throw Subject.notNamed }
        shop.introduce()
        shop.narrator.title("Watching \(payment)")
        let stored = try shop.store.entries().last {
            $0.payment == payment.description && $0.gateway == shop.gatewayName && $0.state == .open
        }
        var flow: Flow
        if let stored {
            flow = try Flow(shop, resume: stored, flow: "watch")
        } else {
            flow = Flow(shop, .init(flow: "watch", reference: newOrderNumber(), payment: payment))
        }
        return Ended(try await flow.follow())
    }

    /// All at once: one that stays open must not keep the others waiting.
    private static func resume(_ shop: Shop) async throws -> Ended {
        shop.introduce()
        shop.narrator.title("Payments that an earlier run left open")
        let open = try shop.store.entries().filter { $0.state == .open }
        let here = open.filter { $0.gateway == shop.gatewayName && $0.gateway != Shop.sandboxInMemory }
        for entry in open where !here.contains(where: { $0.reference == entry.reference }) { try leave(shop, entry) }
        if here.isEmpty { shop.narrator.step("nothing", "is open with this gateway") }
        let reports = try await withThrowingTaskGroup(of: (Int, Report).self) { group in
            for (place, entry) in here.enumerated() {
                group.addTask {
                    var flow = try Flow(shop, resume: entry, flow: "resumed")
                    if here.count > 1 { flow.nameInStory() }
                    flow.narrator.step("open", "\(flow.report.payment)")
                    return (place, try await flow.follow())
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }.sorted { $0.0 < $1.0 }.map(\.1)
        }
        if reports.count > 1 { shop.narrator.print("\n\(Table.of(reports))") }
        // A resumed payment has done what is expected when it has come to its end, whichever.
        let codes = reports.map { $0.outcome == .rejected ? ExitCode.asExpected : $0.exitCode }
        return Ended(
            ExitCode.worst(codes),
            ["payments": JSON(reports.map { .object(Output.report($0)) }), "left_alone": .int(open.count - here.count)])
    }

    /// A payment of another gateway cannot be asked about here; one of a sandbox in memory nowhere.
    private static func leave(_ shop: Shop, _ entry: Entry) throws {
        guard entry.gateway == Shop.sandboxInMemory else {
            return shop.narrator.step("elsewhere", "\(entry.payment) is open with \(entry.gateway): left alone")
        }
        shop.narrator.step("gone", "\(entry.payment) was in a sandbox that kept it in memory and has ended")
        try shop.store.update(entry.reference) { $0.state = .gone }
    }
}
