import Foundation
import KassaSandbox
import Testing

@Suite struct CommandTests {
    @Test func allTakesFourPaymentsToTheirEnd() async throws {
        let shop = try Shop.embedded()
        let run = try await shop.run("all")
        #expect(run.code == 0, "\(run)")
        for words in [
            "1/4  Card with 3DS", "4/4  Dynamic QR code", "│ Flow", "│ qr", "█▄▄▄█", "All four payments ended as expected",
        ] {
            #expect(run.output.contains(words), "\(words)")
        }
        #expect(!run.output.contains("\u{1B}"), "colours are for terminals")
        #expect(run.output.matches(of: #/charged 100\.10 KGS/#).count == 2, "at the end of the flow and in the table")
        #expect(run.output.matches(of: #/ 1 charged/#).count == 4)
        #expect(try shop.states() == ["charged", "charged", "charged", "charged"])
    }

    @Test func allTellsProgramsInOneLine() async throws {
        let shop = try Shop.embedded()
        let (run, line) = try await shop.json("all")
        #expect(run.errors.contains("4/4  Dynamic QR code"), "the story goes to standard error")
        #expect((run.code, line["ok"], line["command"], line["exit_code"]) == (0, true, "all", 0))
        #expect(line["flows"].items.map { $0["flow"] } == ["card", "mbank", "pay-form", "qr"])
        for flow in line["flows"].items {
            #expect((flow["outcome"], flow["callbacks"][0]["verdict"]) == ("charged", "charged"))
            #expect((flow["error"], flow["status"]["is_final"]) == (nil, true))
        }
    }

    @Test func everyCommandWorksWithAGatewayByItsURL() async throws {
        let gateway = try await startSandbox()
        let shop = try Shop.at(gateway)
        let (run, card) = try await shop.json("card", "--order-number", "CARD-1", "--amount", "17.30")
        #expect(run.code == 0, "\(run)")
        #expect(card["answer"]["next_step"]["kind"] == "OpenConfirmation")
        #expect(try await gateway.payment(orderNumber: "CARD-1").amount == Decimal(string: "17.30"))

        let (_, created) = try await shop.json("mbank", "--order-number", "MBANK-1", "--no-wait")
        #expect(created["outcome"] == "created")
        let (wrong, refusal) = try await shop.json("confirm", "--order-number", "MBANK-1", "--otp", "999999")
        #expect((wrong.code, refusal["error"]["kind"], refusal["outcome"]) == (1, "Refused", "open"))
        #expect(try await shop.run("confirm", "--order-number", "MBANK-1", "--otp", "101101").code == 0)
        #expect(try await gateway.payment(orderNumber: "MBANK-1").isCharged)

        for choice in ["card", "mbank", "megapay"] {
            let (run, form) = try await shop.json("pay-form", "--pay-with", choice)
            #expect(run.code == 0, "\(run)")
            #expect(try await gateway.payment(orderNumber: form["order_number"].text ?? "").isCharged)
        }
        #expect(try await shop.run("pay-form", "--pay-with", "card", "--pan", cardAtOnce).code == 0)

        // The callback names nothing to ask with in the default dialect; the transaction that was stored does.
        let (_, qr) = try await shop.json("qr")
        #expect(qr["callbacks"][0]["verdict"] == "charged")
        let id = try #require(qr["answer"]["transaction_id"].text)
        let (_, status) = try await shop.json("status", "--transaction-id", id)
        #expect((status["answer"]["status"], status["answer"]["amount"]) == ("charged", "12050"))

        let payment = try #require(card["payment"].text)
        let (_, judged) = try await shop.json("status", "--payment", payment)
        #expect((judged["verdict"], judged["answer"]["amount"]) == ("charged", "17.3"))
        let number = ["--order-number", "CARD-1", "--provider", "cards"]
        let asked = try await shop.start(["status", "--json"] + number).end()
        #expect(try asked.line()["answer"]["amount"] == "17.3")
        for (subject, code) in [
            (["--payment", payment], Int32(0)), (number + ["--amount", "17.30"], 0), (number + ["--amount", "17.31"], 3),
        ] {
            #expect(try await shop.start(["watch"] + subject).end().code == code, "\(subject)")
        }
        #expect(try await shop.run("all").code == 0)
        #expect(try shop.states().allSatisfy { $0 == "charged" })
        await gateway.stop()
    }

    @Test func aPictureIsSavedAndPaidForByItsCallback() async throws {
        let gateway = try await startSandbox()
        let shop = try Shop.at(gateway)
        try Sandbox.DialectName.shown.json.write(to: shop.dialect, atomically: true, encoding: .utf8)
        let program = try shop.start("qr", "--image", "code.png", "--deadline", "60")
        _ = try await program.line(with: "scan the code with a phone")
        let id = try #require(try await gateway.ledger().last?.transactionID)
        try await gateway.approve(id)
        let run = try await program.end()
        #expect(run.code == 0, "\(run)")
        #expect(try Data(contentsOf: shop.folder.appending(path: "code.png")).starts(with: [0x89, 0x50, 0x4E, 0x47]))
        #expect(
            try shop.payments() == [["kassa1:kind=qr&claimed=yes&transaction=\(id)&amount=120.5&currency=KGS", "charged"]])
        await gateway.stop()
    }

    @Test func aPaymentCreatedElsewhereStaysOpenAfterAWrongPassword() async throws {
        let gateway = try await startSandbox()
        let shop = try Shop.at(gateway)
        #expect(try await Shop.at(gateway).run("mbank", "--order-number", "MBANK-2", "--no-wait").code == 0)
        #expect(try await shop.run("confirm", "--order-number", "MBANK-2", "--otp", "999999").code == 2, "which amount?")
        let (run, wrong) = try await shop.json("confirm", "--order-number", "MBANK-2", "--amount", "250", "--otp", "999999")
        #expect((run.code, wrong["error"]["kind"], wrong["outcome"]) == (1, "Refused", "open"))
        let (_, none) = try await shop.json("confirm", "--order-number", "NONE", "--amount", "250", "--otp", "999999")
        #expect((none["error"]["kind"], none["outcome"]) == ("Refused", "not_made"))
        #expect(try shop.states() == ["open", "not_made"])
        await gateway.stop()
    }

    @Test func paymentsThatEndOtherwiseEndTheProgramOtherwise() async throws {
        let gateway = try await startSandbox()
        let shop = try Shop.at(gateway)
        let (run, declined) = try await shop.json("card", "--pan", Sandbox.TestCard.declined.pan)
        #expect((run.code, declined["outcome"], declined["callbacks"][0]["verdict"]) == (1, "rejected", "rejected"))
        #expect(try await shop.run("mbank", "--phone", Sandbox.TestPhone.mbankDeclined.phone).code == 1)
        #expect(try await shop.run("qr", "--decline").code == 1)
        let (late, pending) = try await shop.json("card", "--pan", Sandbox.TestCard.stuckPending.pan, "--deadline", "1")
        #expect((late.code, pending["outcome"], pending["watch_error"]["kind"]) == (3, "open", "DeadlineExpired"))
        let (_, unknown) = try await shop.json("card", "--pan", Sandbox.TestCard.without3DSError.pan)
        #expect((unknown["error"]["kind"], unknown["outcome"]) == ("OutcomeUnknown", "rejected"))
        #expect(try shop.states() == ["rejected", "rejected", "rejected", "open", "rejected"])
        await gateway.stop()
    }

    @Test func whatIsInvalidIsNamedAndNotSent() async throws {
        let gateway = try await startSandbox()
        let shop = try Shop.at(gateway)
        let (run, line) = try await shop.json("card", "--cvc", "1", "--ip", "nowhere", "--expiry-month", "13")
        #expect(line["error"]["violations"].items.map { $0["field"] } == ["expiryMonth", "cvc", "ip"])
        #expect((run.code, line["error"]["payment_may_exist"]) == (1, false))
        #expect(try await gateway.requests() == [])
        #expect(try shop.states() == ["not_made"])
        await gateway.stop()
    }

    @Test func callbacksAreCheckedFromAFile() async throws {
        let gateway = try await startSandbox()
        let shop = try Shop.at(gateway)
        #expect(try await shop.run("card", "--order-number", "CARD-2", "--pan", cardAtOnce).code == 0)
        let body = try await callbackBody(of: gateway)
        func check(_ body: String, _ options: [String] = []) async throws -> Run {
            let program = try shop.start(["callback", "--file", "-", "--json"] + options)
            try program.type(body)
            return try await program.end()
        }
        let named = ["--order-number", "CARD-2", "--provider", "Cards", "--amount"]
        for good in [try await check(body), try await check(body, named + ["100.10"])] {
            #expect(try (good.code, good.line()["callbacks"][0]["verdict"]) == (0, "charged"))
        }
        let other = try await check(body, named + ["500"])
        #expect(try (other.code, other.line()["callbacks"][0]["fields"][0]) == (1, "amount"))
        #expect(try await check(body, ["--amount", "500"]).code == 2, "of which payment?")
        #expect(try await check("{}").code == 1)
        #expect(try await check(body.replacing("CARD-2", with: "CARD-3")).code == 3)
        await gateway.stop()
    }

    @Test(arguments: [
        [], ["pay"], ["card", "--amount", "much"], ["card", "--amount", "12abc"], ["status"], ["card", "--expiry-year", "later"],
        ["watch", "--order-number", "1"], ["watch", "--resume", "--payment", "kassa1:kind=card"],
        ["card", "--dialect", "/no/such/file"], ["status", "--payment", "kassa9:x"], ["card", "--poll-interval", "0"],
        ["card", "--callback-wait", "1e19"], ["card", "--no-such-option"], ["card", "--amount"], ["card", "--json", "--json"],
        ["card", "--no-wait=yes"], ["card", "--callback-port", "70000"], ["card", "--amount", String(repeating: "1", count: 29)],
    ])
    func wrongCommandLinesAreToldAsSuch(arguments: [String]) async throws {
        var shop = try Shop.at("http://127.0.0.1:1")
        shop.options = []
        let state = arguments.isEmpty ? [] : ["--state", shop.state.path]
        let program = try Program(arguments + state, environment: shop.environment, in: shop.folder)
        let run = try await program.end()
        #expect(run.code == 2, "\(run)")
        #expect(!run.errors.isEmpty && shop.stateText.isEmpty)
    }

    @Test func aGatewayAbroadNeedsAPersonAndAWayBack() async throws {
        let abroad = try Shop.at("https://pay.example.kg")
        let (run, line) = try await abroad.json("all")
        #expect((run.code, line["error"]["kind"], line["error"]["payment_may_exist"]) == (2, "Usage", false))
        #expect(line["error"]["describe"].text?.contains("--interactive") == true)
        #expect(try await abroad.run("card").code == 2)
        #expect(abroad.stateText.isEmpty, "nothing was begun")
    }

    @Test func helpNamesEveryOption() async throws {
        let shop = try Shop.at("http://127.0.0.1:1")
        let program = try Program(["--help"], environment: shop.environment, in: shop.folder)
        let overview = try await program.end()
        #expect(overview.code == 0 && overview.output.contains("pay-form"))
        let run = try await shop.run("pay-form", "--help")
        for option in ["--pay-with", "--base-url", "KASSA_URL", "--callback-wait"] {
            #expect(run.output.contains(option), "\(option)")
        }
    }
}
