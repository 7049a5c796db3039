import Foundation
import KassaSandbox
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The programs, as somebody runs them.
@Suite struct CheckoutTests {
    @Test func cardIsConfirmedAndACodeIsScannedWhileTheirProgramsWait() async throws {
        let shop = try await Shop()
        let card = try shop.start("card", "100.10", typed: Shop.card(.approved))
        let qr = try shop.start("qr", "120.50")
        _ = try await card.line(with: "open: http")
        _ = try await qr.line(with: "scan it, or open: http")
        for payment in try await shop.sandbox.ledger() { try await shop.sandbox.approve(payment.orderNumber) }
        for program in [card, qr] {
            let run = await program.end()
            #expect(run.code == 0 && run.output.contains("paid, deliver: Two coffees"), "\(run)")
            #expect(!run.output.contains(Sandbox.TestCard.approved.pan))
        }
        #expect(try await shop.sandbox.ledger().map(\.timesCharged) == [1, 1])
        await shop.close()
    }

    @Test func mobileBankPaymentIsPaidByTheRightCodeAlone() async throws {
        let shop = try await Shop()
        let phone = Sandbox.TestPhone.mbankApproved
        let wrong = try await shop.start("mbank", phone.phone, "250", typed: "999999").end()
        #expect(wrong.code == 1 && !wrong.output.contains("paid"), "\(wrong)")
        let right = try await shop.start("mbank", phone.phone, "250", typed: phone.otp).end()
        #expect(right.code == 0 && right.output.contains("paid, deliver: Two coffees"), "\(right)")
        #expect(try await shop.sandbox.ledger().map(\.timesCharged).sorted() == [0, 1])
        await shop.close()
    }

    @Test func megapayShowsTheTotalBeforeThePin() async throws {
        let shop = try await Shop()
        let phone = Sandbox.TestPhone.megaPayApproved
        let paid = try await shop.start("megapay", phone.phone, "250.50", "7", typed: phone.otp).end()
        #expect(paid.code == 0 && paid.output.contains("total: 255.51 som"), "\(paid)")
        #expect(paid.output.contains("paid, deliver: Two coffees"), "\(paid)")
        #expect(try await shop.sandbox.ledger().map(\.timesCharged) == [1])
        await shop.close()
    }

    @Test func pinThatIsNeverRightEndsIt() async throws {
        let shop = try await Shop()
        let phone = Sandbox.TestPhone.megaPayApproved
        let typed = try await shop.start("megapay", phone.phone, "250.50", "7", typed: "000000\n\(phone.otp)").end()
        #expect(typed.code == 0 && typed.output.contains("paid, deliver: Two coffees"), "\(typed)")
        let wrong = try await shop.start("megapay", phone.phone, "250.50", "7", typed: "000000\n000000\n000000").end()
        #expect(wrong.code == 1 && !wrong.output.contains("paid"), "\(wrong)")
        #expect(try await shop.sandbox.ledger().map(\.timesCharged).sorted() == [0, 1])
        await shop.close()
    }

    @Test func payFormIsPaidByItsCallbackAndByItsReturn() async throws {
        let shop = try await Shop()
        let made = try await shop.start("pay-form", "100.10").end()
        let page = String(try #require(made.output.firstMatch(of: #/open: (http\S+)/#), "\(made)").1)
        _ = try await pay(page, "provider=MBank&phone=996555000101")
        let back = try await pay(page.replacing("/pay-form?", with: "/wallet?"), "otp=101101")
        var came: Sandbox.CallbackAttempt?
        try await until {
            came = try await shop.sandbox.callbacks().first
            return came != nil
        }
        let callback = try #require(came)

        let forged = try await shop.start("callback", callback.url + "x", typed: callback.body).end()
        #expect(forged.code == 1 && forged.output.contains("kassa"), "\(forged)")
        for program in [try shop.start("callback", callback.url, typed: callback.body), try shop.start("returned", back)] {
            let run = await program.end()
            #expect(run.code == 0 && run.output.contains("paid, deliver: Two coffees"), "\(run)")
        }
        await shop.close()
    }

    @Test func programThatWasKilledForgetsNothing() async throws {
        let shop = try await Shop()
        let late = try await shop.sandbox.faults.add(.delay, endpoint: .payment, delay: .seconds(600))
        let card = try shop.start("card", "100.10", typed: Shop.card(.without3DSApproved))
        try await until { try await !shop.sandbox.ledger().isEmpty }
        await card.kill()
        try await late.remove()
        let resumed = try await shop.start("resume").end()
        #expect(resumed.code == 0 && resumed.output.contains("paid, deliver: Two coffees"), "\(resumed)")
        #expect(try await shop.start("resume").end() == .init(code: 0, output: ""))
        #expect(try await shop.sandbox.ledger().map(\.timesCharged) == [1])
        await shop.close()
    }

    @Test func supportDeskAsksByWhatWasStored() async throws {
        let shop = try await Shop()
        _ = try await shop.start("card", "100.10", typed: Shop.card(.without3DSApproved)).end()
        let number = try #require(await shop.sandbox.ledger().first?.orderNumber)
        let stored = "kassa1:kind=card&order=\(number)&provider=Cards&amount=100.1&currency=KGS"
        #expect(try await shop.start("check", stored).end() == .init(code: 0, output: "charged: \(stored)\n"))
        let other = try await shop.start("check", stored.replacing("100.1", with: "1")).end()
        #expect(other.code == 0 && other.output.hasPrefix("a person should look, these differ: [\"amount\"]"), "\(other)")
        await shop.close()
    }

    @Test func whatIsNotUnderstoodSendsNothing() async throws {
        let shop = try await Shop()
        #expect(try await shop.start("card").end().code == 2)
        let half = try await shop.start("qr", "1.005").end()
        #expect(half.code == 1 && half.output.contains("two decimals"), "\(half)")
        #expect(try await shop.sandbox.requests() == [])
        await shop.close()
    }

    /// Posts a form of the sandbox's pages; where the payer is sent then.
    private func pay(_ page: String, _ form: String) async throws -> String {
        var request = URLRequest(url: try #require(URL(string: page)))
        request.httpMethod = "POST"
        request.httpBody = Data(form.utf8)
        let session = URLSession(configuration: .ephemeral, delegate: NoRedirects(), delegateQueue: nil)
        defer { session.finishTasksAndInvalidate() }
        let answer = try await session.data(for: request).1 as? HTTPURLResponse
        return try #require(answer?.value(forHTTPHeaderField: "Location"), "\(String(describing: answer))")
    }
}

private final class NoRedirects: NSObject, URLSessionTaskDelegate, Sendable {
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }
}
