import Foundation
import Kassa
import KassaCheckout
import KassaStage
import Testing

/// What an app goes through: it is closed, killed, put into the background, or without a network or a token.
@MainActor @Suite struct LifeTests {
    /// Closes the screen, and opens it again: it is where it was.
    private func closeAndOpen(_ screen: PayerScreen, _ kind: String, _ result: CheckoutResult) async throws {
        #expect(screen.model.state.kind == kind)
        #expect(screen.model.close() == result, "\(kind)")
        #expect(screen.model.close() == result)
        try screen.openAgain()
        try await screen.until(kind)
    }

    @Test func closedAndOpenedItIsWhereItWas() async throws {
        let stage = try await Stage.start()
        defer { stage.stop() }
        let screen = try await PayerScreen.ready(stage)
        try await closeAndOpen(screen, "ready", .notPaid(nil))
        screen.model.choose(.payForm)
        screen.model.pay()
        try await screen.until("open_page")
        try await closeAndOpen(screen, "open_page", .stillOpen)
        screen.model.cameBack()
        #expect(screen.model.state.kind == "waiting" && screen.model.close() == .stillOpen)
        try screen.openAgain()
        try await screen.until("open_page")
        screen.model.choose(.qr)
        screen.model.pay()
        try await screen.until("show_qr")
        try await closeAndOpen(screen, "show_qr", .stillOpen)
        _ = try await screen.scene.step("decline")
        try await screen.until("other ways") { $0.methods.contains(.mbank) }
        try await screen.askForCode()
        try await closeAndOpen(screen, "enter_otp", .stillOpen)
        screen.model.code = "101101"
        screen.model.confirm()
        try await screen.until("paid")
        try await closeAndOpen(screen, "paid", .paid(amount: 390, currency: "KGS"))
    }

    @Test func withoutANetworkNothingIsCalledNotPaid() async throws {
        let stage = try await Stage.start()
        defer { stage.stop() }
        let scene = try await stage.open([:])
        _ = try await scene.step("network", ["is": "down"])
        let screen = try PayerScreen(scene)
        try await screen.until("word of the network") { $0.texts.message?.hasPrefix("There is no connection") == true }
        #expect(screen.model.state.kind == "opening" && screen.model.result == .stillOpen && screen.model.amountText == nil)
        _ = try await scene.step("network", ["is": "clear"])
        screen.model.cameToFront()
        try await screen.until("ready")
        _ = try await scene.step("network", ["is": "down"])
        screen.model.choose(.mbank)
        screen.model.phone = "555000101"
        screen.model.pay()
        try await screen.until("word of the network") { $0.texts.message != nil }
        #expect(screen.model.state.kind == "sending" && screen.model.result == .stillOpen)
        _ = try await scene.step("network", ["is": "clear"])
        screen.model.checkNow()
        try await screen.until("enter_otp")
        #expect(try await screen.charged == [false])
    }

    @Test func whatNobodyKnowsIsStillOpen() async throws {
        let stage = try await Stage.start()
        defer { stage.stop() }
        let screen = try await PayerScreen.ready(stage)
        _ = try await screen.scene.step("set_fault", ["name": "request-lost", "endpoint": "mbank/pay", "times": JSON(1)])
        screen.model.choose(.mbank)
        screen.model.phone = "0555000101"
        screen.model.pay()
        try await screen.until("waiting")
        try await closeAndOpen(screen, "waiting", .stillOpen)
        #expect(screen.model.texts.message?.contains("do not pay again") == true)
    }

    @Test func whoMayHavePaidIsNotToldToOrderAgain() async throws {
        let stage = try await Stage.start()
        defer { stage.stop() }
        let longTokens: JSON = ["token_lifetime_s": JSON(100_000)]
        let screen = try await PayerScreen.ready(stage, longTokens)
        screen.model.choose(.qr)
        screen.model.pay()
        try await screen.until("show_qr")
        _ = try await screen.scene.step("time_passes", ["seconds": JSON(3700)])
        try await screen.until("expired")
        #expect(screen.model.result == .stillOpen && screen.model.texts.explanation?.contains("If you have just paid") == true)
        #expect(screen.model.canCheckNow)
        _ = try await screen.scene.step("approve")
        screen.model.checkNow()
        try await screen.until("paid")
        #expect(screen.model.result.isPaid)

        let idle = try await PayerScreen.ready(stage, longTokens)
        _ = try await idle.scene.step("time_passes", ["seconds": JSON(3700)])
        try await idle.until("expired")
        #expect(idle.model.texts.explanation?.contains("order again") == true && idle.model.texts.explanation?.contains("If") == false)
        #expect(idle.model.close() == .notPaid(nil) && !idle.model.canCheckNow)
        // Of what came before it nothing is known now.
        try idle.openAgain()
        try await idle.until("expired")
        #expect(idle.model.result == .stillOpen)
    }

    @Test func shopCancels() async throws {
        let stage = try await Stage.start()
        defer { stage.stop() }
        let screen = try await PayerScreen.ready(stage)
        screen.model.choose(.mbank)
        screen.model.phone = "0555"
        _ = try await screen.scene.step("cancel_checkout")
        try await screen.until("not_paid")
        #expect(screen.model.texts.message == "The shop has cancelled this order." && screen.model.methods == [])
        #expect(screen.model.close() == .notPaid(CheckoutMessage(topic: .cancelled)))
    }

    @Test func tokenIsRenewedByTheAppOrByItsFunction() async throws {
        let stage = try await Stage.start()
        defer { stage.stop() }
        let scene = try await stage.open([:])
        let renewed = try PayerScreen(scene) { try await scene.newToken() }
        try await renewed.until("ready")
        let bare = try PayerScreen(scene)
        try await bare.until("ready")
        _ = try await scene.step("revoke_tokens")
        bare.model.cameToFront()
        try await bare.until("token_expired")
        #expect(bare.model.result == .stillOpen)
        bare.model.renewToken(try await scene.newToken())
        try await bare.until("ready")
        renewed.model.choose(.qr)
        renewed.model.pay()
        try await renewed.until("show_qr")
        try await bare.until("show_qr")  // everybody sees the same
    }

    @Test func errorOfTheAppIsNotForThePayer() async throws {
        let stage = try await Stage.start()
        defer { stage.stop() }
        let scene = try await stage.open([:])
        let screen = try PayerScreen(scene, token: "ct_none") { throw Problem("HTTP 502 at orders/7") }
        try await screen.until("word of the token") { $0.texts.message != nil }
        for language in Language.allCases {
            screen.model.language = language
            let texts = screen.model.texts
            #expect(texts.message == CheckoutMessage(topic: .tokenNotRenewed).textIn(language))
            #expect(texts.reason == nil && !texts.spoken.contains("502"))
        }
    }

    @Test func nothingTypedRemains() async throws {
        let stage = try await Stage.start()
        defer { stage.stop() }
        let screen = try await PayerScreen.ready(stage, withCards)
        screen.typeCard()
        let printed = "\(screen.model) \(String(reflecting: screen.model)) \(screen.model.draft) \(Mirror(reflecting: screen.model).children.count)"
        #expect(!printed.contains("1111") && printed.hasSuffix(" 0"))
        var dumped = ""
        dump(screen.model, to: &dumped)
        dump(screen.model.draft, to: &dumped)
        #expect(!dumped.contains("1111") && !dumped.contains("737") && !dumped.contains("Usenov"))
        screen.typeCard("4111 1111 1111 1112")
        screen.model.pay()  // refused here, so nothing was sent
        #expect(screen.model.cardCvc == "737" && screen.model.error(of: .cardNumber) != nil)
        screen.model.close()
        #expect(screen.secrets == nothing)

        let mbank = try await PayerScreen.ready(stage)
        try await mbank.askForCode()
        mbank.model.code = "101"
        _ = try await mbank.scene.step("decline")  // in the app of the bank
        try await mbank.until("ready")
        #expect(mbank.secrets == nothing)  // so it does not stand there at the next payment
        let another = try PayerScreen(screen.scene)
        try await another.until("ready")
        another.typeCard()
        _ = try await screen.scene.step("cancel_checkout")
        try await another.until("not_paid")
        #expect(another.secrets == nothing)
    }

    @Test func whatASceneKeepsIsTheWayAndThePhone() async throws {
        let stage = try await Stage.start()
        defer { stage.stop() }
        let screen = try await PayerScreen.ready(stage)
        screen.model.choose(.mbank)
        screen.model.phone = "0555000101"
        screen.model.code = "101101"
        let kept = screen.model.draft.rawValue
        #expect(kept == "mbank|0555000101")
        let again = try CheckoutModel(
            serverURL: screen.scene.serverURL, clientToken: screen.scene.clientToken,
            draft: #require(CheckoutDraft(rawValue: kept)))
        #expect(again.draft == screen.model.draft && again.phone == "0555000101" && again.code == "")
        for text in ["", "mbank", "cash|0555"] { #expect(CheckoutDraft(rawValue: text) == nil) }
        #expect(CheckoutDraft(rawValue: "|") == CheckoutDraft())
    }

    @Test(.timeLimit(.minutes(60))) func itEndsWithTheLastOneWhoHoldsIt() async throws {
        let stage = try await Stage.start()
        defer { stage.stop() }
        let scene = try await stage.open([:])
        let (ends, ended) = AsyncStream.makeStream(of: Void.self)
        let (calls, called) = AsyncStream.makeStream(of: Void.self)
        var model: CheckoutModel? = try CheckoutModel(serverURL: scene.serverURL, clientToken: "ct_none") {
            called.yield()
            try? await Task.sleep(for: .seconds(600))
            ended.finish()  // its task was cancelled
            throw CancellationError()
        }
        for await _ in calls { break }
        weak var held = model
        model = nil
        for await _ in ends {}
        #expect(held == nil)
    }

    @Test func afterTheEndNothingIsBegun() async throws {
        let stage = try await Stage.start()
        defer { stage.stop() }
        let screen = try await PayerScreen.ready(stage)
        screen.model.close()
        screen.model.choose(.qr)
        screen.model.pay()
        screen.model.cameBack()
        #expect(screen.model.state.kind == "ready" && screen.model.result == .notPaid(nil))
        #expect(try await screen.charged == [])
    }
}
