import Kassa
@testable import KassaCheckout
import Testing

@Suite struct ResultTests {
    private let cancelled = CheckoutMessage(topic: .cancelled)
    private let tooMany = CheckoutMessage(topic: .tooManyTries)
    private let contradicted = CheckoutMessage(topic: .contradicted)

    @Test func eachStateHasItsResult() {
        func result(_ state: CheckoutState, after mayHavePaid: Bool) -> CheckoutResult {
            CheckoutResult(state, mayHavePaid: mayHavePaid)
        }
        for mayHavePaid in [true, false] {
            #expect(result(.paid(amount: 5, currency: "KGS"), after: mayHavePaid) == .paid(amount: 5, currency: "KGS"))
            #expect(result(.ready(methods: [.qr], canKeepMethod: true), after: mayHavePaid) == .stillOpen)
            #expect(result(.notPaid(reason: tooMany), after: mayHavePaid) == .notPaid(tooMany))
            #expect(result(.personNeeded(message: contradicted), after: mayHavePaid) == .personNeeded(contradicted))
            for open: CheckoutState in [
                .opening(), .sending(), .enterOtp(attemptsLeft: 1), .openPage(url: "", begunHere: true, methods: [.qr]),
                .showQr(text: ""), .waiting(methods: [.qr]), .tokenExpired,
            ] { #expect(result(open, after: mayHavePaid) == .stillOpen, "\(open)") }
        }
        #expect(result(.notPaid(reason: cancelled), after: false) == .notPaid(cancelled))
        #expect(result(.expired, after: false) == .notPaid(nil))
        #expect(result(.ready(methods: [.qr]), after: false) == .notPaid(nil))
        #expect(result(.ready(methods: [.qr]), after: true) == .stillOpen)  // a QR code was left
        // Money comes late.
        #expect(result(.notPaid(reason: cancelled), after: true) == .stillOpen)
        #expect(result(.expired, after: true) == .stillOpen)
    }
}
