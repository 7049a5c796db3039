import Foundation
import Kassa

/// What a command came to.
struct Ended {
    let exitCode: Int32
    /// What programs get to read.
    let body: [String: JSON]

    init(_ exitCode: Int32, _ body: [String: JSON]) {
        self.exitCode = exitCode
        self.body = body
    }

    init(_ report: Report) {
        self.init(report.exitCode, Output.report(report))
    }
}

extension Command {
    /// Runs the command and says how it ended: in words, in JSON, and by the exit code.
    func run(_ given: Given) async -> Int32 {
        let ended: Ended
        do {
            ended = try await prepareAndDispatch(given)
        } catch {
            FileHandle.standardError.write(Data("checkout: \(error.kind): \(error.localizedDescription)\n".utf8))
            ended = Ended(error.exitCode, ["error": Output.error(error)])
        }
        if given.has(FollowingOptions.json) { Output.print(rawValue, ended.exitCode, ended.body) }
        return ended.exitCode
    }

    private func prepareAndDispatch(_ given: Given) async throws -> Ended {
        var given = given
        try Secrets.take(into: &given)
        let shop = try await Shop.open(given)
        let ended: Result<Ended, any Error>
        do {
            ended = .success(try await dispatch(shop, given))
        } catch {
            ended = .failure(error)
        }
        await shop.close()
        return try ended.get()
    }

    private func dispatch(_ shop: Shop, _ given: Given) async throws -> Ended {
        switch self {
        case .card: return try await one(shop, "Card payment") { try await CardFlow.run(shop, given) }
        case .mbank: return try await one(shop, "MBank payment") { try await MbankFlow.run(shop, given) }
        case .confirm: return try await one(shop, "Confirmation of an MBank payment") { try await ConfirmFlow.run(shop, given) }
        case .payForm: return try await one(shop, "Pay-form") { try await PayFormFlow.run(shop, given) }
        case .qr: return try await one(shop, "QR payment") { try await QrFlow.run(shop, given) }
        case .status: return try await StatusCommand.run(shop, given)
        case .watch: return try await WatchCommand.run(shop, given)
        case .callback: return try await CallbackCommand.run(shop, given)
        case .all: return try await AllCommand.run(shop, given)
        }
    }

    /// Runs one flow under its title.
    private func one(_ shop: Shop, _ title: String, _ flow: () async throws -> Report) async throws -> Ended {
        shop.introduce()
        shop.narrator.title(title)
        return Ended(try await flow())
    }
}
