import Foundation
import Kassa
import KassaStage
import Testing

/// What is Swift's own about a checkout: tasks, sequences, and who holds what.
@Suite struct CheckoutTests {
    private let clock = ContinuousClock()

    /// A checkout of a scene, once its payer can choose how to pay.
    private func ready(_ scene: Stage.Scene) async throws -> Checkout {
        let checkout = try Checkout(serverURL: scene.serverURL, clientToken: scene.clientToken)
        for await state in checkout.states { if state.kind == "ready" { break } }
        return checkout
    }

    @Test func cancelledTaskStopsWaitingAtOnceAndTheCheckoutGoesOn() async throws {
        let stage = try await Stage.start()
        defer { stage.stop() }
        let checkout = try await ready(stage.open([:]))
        let (waits, waiting) = AsyncStream.makeStream(of: Void.self)
        let watching = Task {
            for await _ in checkout.states { waiting.yield() }
            return Task.isCancelled
        }
        _ = await waits.first { true }
        let begun = clock.now
        watching.cancel()
        #expect(await watching.value)
        #expect(clock.now - begun < Duration.seconds(patience / 2))
        try checkout.payByQr()
        for await state in checkout.states { if state.kind == "show_qr" { break } }
        #expect(checkout.details?.amount == 390 && checkout.details?.methods.contains(.qr) == true)
    }

    @Test func eachSequenceHasAllStatesForItself() async throws {
        let stage = try await Stage.start()
        defer { stage.stop() }
        let checkout = try await ready(stage.open([:]))
        var (first, second) = (checkout.states.makeAsyncIterator(), checkout.states.makeAsyncIterator())
        #expect(await first.next()?.kind == "ready")
        #expect(await second.next()?.kind == "ready")
        checkout.close()
        #expect(await first.next() == nil)
        #expect(await second.next() == nil)
        #expect(await second.next() == nil)
        #expect { try checkout.payByQr() } throws: { ($0 as? PaymentError)?.kind == "Misconfigured" }
    }

    @Test func itEndsWithTheLastOneWhoHoldsIt() async throws {
        let stage = try await Stage.start()
        defer { stage.stop() }
        let scene = try await stage.open([:])
        let (calls, called) = AsyncStream.makeStream(of: Void.self)
        let (ends, ended) = AsyncStream.makeStream(of: Bool.self)
        var checkout: Checkout? = try Checkout(serverURL: scene.serverURL, clientToken: "ct_none") {
            called.yield()
            try? await Task.sleep(for: .seconds(600))
            ended.yield(Task.isCancelled)
            throw CancellationError()
        }
        var states = try #require(checkout).states.makeAsyncIterator()
        _ = await calls.first { true }
        checkout = nil
        while await states.next() != nil {}
        #expect(await ends.first { _ in true } == true)
    }

    @Test func closingStopsTheRenewal() async throws {
        let stage = try await Stage.start()
        defer { stage.stop() }
        let scene = try await stage.open([:])
        let (calls, called) = AsyncStream.makeStream(of: Void.self)
        let (ends, ended) = AsyncStream.makeStream(of: Bool.self)
        let checkout = try Checkout(serverURL: scene.serverURL, clientToken: "ct_none") {
            called.yield()
            try? await Task.sleep(for: .seconds(600))
            ended.yield(Task.isCancelled)
            throw CancellationError()
        }
        _ = await calls.first { true }
        checkout.close()
        #expect(await ends.first { _ in true } == true)
    }

    @Test func whatCannotWorkIsSaidAtOnceAndNothingSecretIsPrinted() async throws {
        #expect(throws: PaymentError.self) { try Checkout(serverURL: "http://shop.example.kg", clientToken: "ct_secret") }
        let settings = CheckoutSettings(
            connectTimeout: .zero, extraRootCertificates: ["swordfish-77"], proxy: .url("http://user:swordfish-77@127.0.0.1:1"),
            userAgentSuffix: "my-shop/1.2", language: .kyrgyz)
        #expect(everyForm(of: settings).contains("my-shop/1.2") && !everyForm(of: settings).contains("swordfish-77"))
        do {
            _ = try Checkout(serverURL: "http://127.0.0.1:1", clientToken: "ct_secret", settings: settings)
            Issue.record("no time to connect was taken for one")
        } catch {
            #expect("\(error)".contains("connect_timeout") && !everyForm(ofError: error).contains("ct_secret"))
        }
        let checkout = try Checkout(serverURL: "http://127.0.0.1:1", clientToken: "ct_secret")
        #expect(!everyForm(of: checkout).contains("ct_secret"))
        #expect(rules { try checkout.payByQr() } == [.state])
    }

    /// The rules that the input of an action breaks.
    private func rules(_ act: () throws -> Void) -> [Rule] {
        do {
            try act()
        } catch PaymentError.invalid(let violations) {
            return violations.map(\.rule)
        } catch {}
        return []
    }

    @Test func everyMessageIsASentenceInEveryLanguage() {
        let said = MessageTopic.allCases.flatMap { topic in
            Language.allCases.map { CheckoutMessage(topic: topic, reason: "no more money").textIn($0) }
        }
        #expect(Set(said).count == said.count && said.allSatisfy { $0.hasSuffix(".") && !$0.contains("money,") })
        let labels = CheckoutLabels.of(.english)
        #expect(PaymentMethod.allCases.map(labels.name(of:)) == ["Card or wallet", "QR code", "MBank", "MegaPay", "Card"])
        #expect(PaymentMethod.allCases.filter(\.asksForPhone) == [.mbank, .megapay])
        #expect(Set(PaymentMethod.allCases.map(labels.hint(of:))).count == PaymentMethod.allCases.count)
        #expect(CheckoutMessage(topic: .codeRefused).textIn(.russian) == "Этот код не подошёл. Введите его ещё раз.")
    }

    @Test func messageSaysWhyInThePayersLanguage() {
        for decline in DeclineReason.allCases {
            let reasons = Language.allCases.map { CheckoutMessage(topic: .rejected, reason: "51", decline: decline).reasonIn($0) }
            #expect(Set(reasons.compactMap { $0 }).count == 3)
        }
        #expect(CheckoutMessage(topic: .rejected, reason: "51").reasonIn(.english) == nil)
    }
}

extension OneLog {
    @Test func whyAnAppHasNoTokenStandsInTheLog() async throws {
        let stage = try await Stage.start()
        defer { stage.stop() }
        let scene = try await stage.open([:])
        let log = Log()
        KassaLog.send { log.append($0) }
        let checkout = try Checkout(serverURL: scene.serverURL, clientToken: "ct_none") { throw Problem("HTTP 502 at \"orders/7\"") }
        await log.holds("HTTP 502")
        KassaLog.send(to: nil)
        let line = try #require(log.first(holding: "HTTP 502"))
        #expect(line.contains("warning: renewToken threw an error") && !line.contains("ct_none"), "\(line)")
        checkout.close()
    }
}
