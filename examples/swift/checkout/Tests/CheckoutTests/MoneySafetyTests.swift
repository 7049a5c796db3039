import Foundation
import KassaSandbox
import Testing

/// What happens to the money when replies, programs and passwords get lost.
@Suite struct MoneySafetyTests {
    @Test func aProgramKilledAfterSendingFindsItsPaymentAgain() async throws {
        let gateway = try await startSandbox()
        let shop = try Shop.at(gateway)
        let late = try await gateway.faults.add(.delay, endpoint: .payment, delay: .seconds(600))
        let program = try shop.start("card", "--order-number", "KILLED-1", "--pan", cardAtOnce)
        try await until { try await !gateway.ledger().isEmpty }
        await program.kill()
        try await late.remove()
        let reference = "kassa1:kind=card&order=KILLED-1&provider=Cards&amount=100.1&currency=KGS"
        #expect(try shop.payments() == [[reference, "open"]])
        #expect(try await gateway.payment(orderNumber: "KILLED-1").isCharged, "the money was taken")

        let (run, line) = try await shop.json("watch", "--resume")
        #expect(run.code == 0, "\(run)")
        #expect((line["payments"][0]["payment"], line["payments"][0]["outcome"]) == (JSON(stringLiteral: reference), "charged"))
        #expect(try shop.payments() == [[reference, "charged"]])
        let (_, again) = try await shop.json("watch", "--resume")
        #expect(again["payments"].items == [], "what is over is not asked about again")
        #expect(try await gateway.payment(orderNumber: "KILLED-1").timesCharged == 1)
        await gateway.stop()
    }

    @Test func aLostReplyIsAnUnknownOutcomeAndIsWatched() async throws {
        let gateway = try await startSandbox()
        let shop = try Shop.at(gateway)
        try await gateway.faults.add(.replyLost, endpoint: .payment)
        let unasked = try await gateway.faults.add(.unavailable, endpoint: .getStatus)
        let (run, line) = try await shop.json(
            "card", "--order-number", "LOST-1", "--pan", cardAtOnce, "--deadline", "700ms")
        #expect((run.code, line["outcome"], line["ok"]) == (3, "unknown", false))
        #expect((line["error"]["kind"], line["error"]["payment_may_exist"]) == ("OutcomeUnknown", true))
        #expect(run.errors.contains("the payment may have happened") && run.errors.contains("it is not sent again"))
        #expect(try await gateway.requests().count { $0.endpoint == .payment } == 1)

        try await unasked.remove()
        #expect(try await shop.run("watch", "--resume").code == 0)
        #expect(try shop.states() == ["charged"])
        #expect(try await gateway.payment(orderNumber: "LOST-1").timesCharged == 1)
        await gateway.stop()
    }

    @Test func whatIsFoundByAskingEndsAsExpected() async throws {
        let gateway = try await startSandbox()
        let shop = try Shop.at(gateway)
        for name in [Sandbox.FaultName.resetInBody, .html502, .notJSON] {
            try await gateway.faults.add(name, endpoint: .payment, times: 1)
            let run = try await shop.run("card", "--pan", cardAtOnce)
            #expect(run.code == 0, "\(name)")
            #expect(run.output.contains("found by asking"), "\(run.output)")
        }
        for name in [Sandbox.FaultName.replyLost, .unavailable] {
            try await gateway.faults.add(name, endpoint: .payForm, times: 1)
            let (run, line) = try await shop.json("pay-form")
            #expect((run.code, line["error"]["kind"], line["outcome"]) == (1, "Unavailable", "not_made"), "\(name)")
        }
        #expect(try await gateway.ledger().allSatisfy { $0.timesCharged <= 1 })
        await gateway.stop()
    }

    @Test func aPaymentThatCannotBeAskedAboutIsNotFailed() async throws {
        let gateway = try await startSandbox()
        let shop = try Shop.at(gateway)
        #expect(try await shop.run("card", "--order-number", "PAID-1", "--pan", cardAtOnce, "--no-wait").code == 0)
        let lockedOut = try Shop.at(gateway, password: "wrong", in: shop.folder)
        let named = ["--order-number", "PAID-1", "--provider", "Cards", "--amount", "100.10"]
        for subject in [["--resume"], named] {
            let run = try await lockedOut.start(["watch"] + subject).end()
            #expect(run.code == 3)
            // Asking may fail, the payment did not.
            let told = run.output.replacingOccurrences(of: "asking failed", with: "")
            #expect(told.contains("open      still open") && !told.contains("failed"), "\(run.output)")
        }
        #expect(try shop.states() == ["open"])
        let (run, line) = try await lockedOut.json("card")
        #expect((run.code, line["error"]["kind"], line["outcome"]) == (1, "Unauthorized", "not_made"))
        await gateway.stop()
    }

    @Test func withoutAUsableStateFileNothingIsSent() async throws {
        let gateway = try await startSandbox()
        let shop = try Shop.at(gateway)
        for text in ["not JSON", #"{"version": 2, "payments": []}"#] {
            try text.write(to: shop.state, atomically: true, encoding: .utf8)
            let (run, line) = try await shop.json("mbank")
            #expect((run.code, line["error"]["kind"]) == (1, "State"))
            #expect(shop.stateText == text, "what is not understood is not overwritten")
        }
        let nowhere = try await shop.start("mbank", environment: ["KASSA_STATE": "/no/such/folder/state.json"]).end()
        #expect(nowhere.code == 1)
        #expect(try await gateway.requests() == [])
        await gateway.stop()
    }

    /// Forgetting what was expected would take any amount for the right one.
    @Test func aDamagedAmountInTheStateFileIsNotForgotten() async throws {
        let gateway = try await startSandbox()
        let shop = try Shop.at(gateway)
        #expect(try await shop.run("mbank", "--no-wait", "--amount", "250").code == 0)
        let damaged = shop.stateText.replacingOccurrences(of: "amount=250", with: "amount=2S0")
        #expect(damaged != shop.stateText)
        try damaged.write(to: shop.state, atomically: true, encoding: .utf8)
        let (run, line) = try await shop.json("watch", "--resume")
        #expect((run.code, line["error"]["kind"]) == (1, "State"))
        #expect(shop.stateText == damaged)
        await gateway.stop()
    }

    @Test func programsThatRunAtOnceLoseNoneOfEachOthersPayments() async throws {
        let gateway = try await startSandbox()
        let shop = try Shop.at(gateway)
        let programs = try (0..<6).map { _ in try shop.start("mbank", "--no-wait") }
        for program in programs { #expect(try await program.end().code == 0) }
        #expect(try shop.payments().count == 6)
        await gateway.stop()
    }

    @Test func resumingTellsWhosePaymentsItLeavesAlone() async throws {
        let gateway = try await startSandbox()
        let own = try Shop.embedded()
        #expect(try await own.run("mbank", "--no-wait").code == 0)
        let shop = try Shop.at(gateway, in: own.folder)
        for order in ["OPEN-1", "OPEN-2"] {
            #expect(try await shop.run("mbank", "--no-wait", "--order-number", order).code == 0)
        }
        try await gateway.decline("OPEN-2")
        // Long enough to hear of the one that is over; the other one takes all of it.
        let run = try await shop.run("watch", "--resume", "--deadline", "10")
        #expect(run.code == 3)
        #expect(run.output.contains("was in a sandbox that kept it in memory") && run.output.contains("│ resumed"), "\(run.output)")
        #expect(try shop.states() == ["gone", "open", "rejected"])
        let (_, line) = try await own.json("watch", "--resume")
        #expect(line["left_alone"] == 1)
        await gateway.stop()
    }

    @Test func aSandboxWithAFileOutlivesItsProgram() async throws {
        let shop = try Shop.embedded()
        let file = ["--sandbox-db", "sandbox.db"]
        for command in [
            ["mbank", "--order-number", "KEPT-1", "--no-wait"], ["confirm", "--order-number", "KEPT-1", "--otp", "101101", "--no-wait"],
            ["watch", "--resume"],
        ] {
            let run = try await shop.start(command + file).end()
            #expect(run.code == 0, "\(run)")
        }
        #expect(try shop.states() == ["charged"])
    }

    @Test func aKilledProgramLeavesNoSandboxBehind() async throws {
        let shop = try Shop.embedded()
        let program = try shop.start("card", "--interactive")
        let url = try await program.url(after: "a sandbox of its own at")
        _ = try await program.line(with: "open http")
        #expect(try await post(url, "") == 404)
        await program.kill()
        // The system closes the pipe that kept it alive, and it ends in order.
        try await until { try await post(url, "") == nil }
    }

    @Test func noSecretIsPrintedOrStored() async throws {
        let gateway = try await startSandbox()
        let shop = try Shop.at(gateway)
        let (pan, otp) = (Sandbox.TestCard.approved.pan, Sandbox.TestPhone.mbankApproved.otp)
        var codes: [Int32] = []
        var told = ""
        for (command, otp) in [
            (["card"], "123456"), (["card", "--json"], "123456"), (["card", "--ip", "x", "--json"], "123456"),
            (["pay-form", "--pay-with", "card"], "123456"), (["mbank", "--json"], otp), (["mbank", "--deadline", "x"], otp),
        ] {
            // The environment holds wrong ones.
            let program = try shop.start(
                command + ["--secrets-stdin"], environment: ["KASSA_PASSWORD": "wrong", "KASSA_OTP": "000000"])
            try program.type(#"{"password": "\#(password)", "pan": "\#(pan)", "cvc": "\#(cvc)", "otp": "\#(otp)"}"#)
            let run = try await program.end()
            codes.append(run.code)
            told += run.output + run.errors
        }
        #expect(codes == [0, 0, 1, 0, 0, 2], "\(told)")
        told += shop.stateText
        for secret in [pan, "4111 1111 1111 1111", cvc, password] { #expect(!told.contains(secret), "\(secret)") }
        // As words: a longer number may hold six digits by chance.
        for otp in ["123456", otp] { #expect(!told.contains(try Regex("\\b\(otp)\\b")), "\(otp)") }
        let help = try await shop.start("card", "--help", environment: ["KASSA_CARD_PAN": Sandbox.TestCard.declined.pan]).end()
        #expect(!help.output.contains(Sandbox.TestCard.declined.pan))
        await gateway.stop()
    }

    @Test func secretsThatAreNotUnderstoodAreNotRepeated() async throws {
        let shop = try Shop.embedded()
        for line in [#"{"pan": 4111111111111111}"#, #"{"card": "4111111111111111"}"#, "4111111111111111"] {
            let program = try shop.start("card", "--secrets-stdin")
            try program.type(line)
            let run = try await program.end()
            #expect(run.code == 2 && !run.errors.contains("4111"), "\(run)")
        }
        let typed = try await shop.run("card", "4111111111111111")
        #expect(typed.code == 2 && !typed.errors.contains("4111"))
    }
}
