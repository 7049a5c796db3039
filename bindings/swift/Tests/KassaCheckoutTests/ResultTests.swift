import Kassa
@testable import KassaCheckout
import Testing

@Suite struct ResultTests {
    private let cancelled = CheckoutMessage(topic: .cancelled)
    private let tooMany = CheckoutMessage(topic: .tooManyTries)
    private let mismatch = CheckoutMessage(topic: .mismatch)
    private let codeEntry = CheckoutState.enterOtp(.init(method: .mbank, attemptsLeft: 1))

    @Test func eachStateHasItsResult() {
        func result(_ state: CheckoutState, after mayHavePaid: Bool) -> CheckoutResult {
            CheckoutResult(state, mayHavePaid: mayHavePaid)
        }
        for mayHavePaid in [true, false] {
            #expect(result(.paid(amount: 5, currency: "KGS"), after: mayHavePaid) == .paid(amount: 5, currency: "KGS"))
            #expect(result(.ready(methods: [.qr], canKeepMethod: true), after: mayHavePaid) == .stillOpen)
            #expect(result(.personNeeded(message: mismatch), after: mayHavePaid) == .personNeeded(mismatch))
            for open: CheckoutState in [
                .opening(), .sending(), codeEntry, .openPage(url: "", begunHere: true, methods: [.qr]),
                .showQr(text: ""), .waiting(methods: [.qr]), .tokenExpired,
            ] { #expect(result(open, after: mayHavePaid) == .stillOpen, "\(open)") }
        }
        for reason in [cancelled, tooMany] {
            #expect(result(.notPaid(reason: reason), after: false) == .notPaid(reason))
            // Money comes late, or by a QR code that was left.
            #expect(result(.notPaid(reason: reason), after: true) == .stillOpen)
        }
        #expect(result(.expired, after: false) == .notPaid(nil))
        #expect(result(.ready(methods: [.qr]), after: false) == .notPaid(nil))
        #expect(result(.ready(methods: [.qr]), after: true) == .stillOpen)  // a QR code was left
        #expect(result(.expired, after: true) == .stillOpen)
    }

    /// Who may have paid sees no cross.
    @Test func eachStateHasItsMark() {
        let cases: [(CheckoutState, CheckoutMark?, CheckoutMark?)] = [
            (.opening(), .progress, .progress), (.sending(), .progress, .progress), (.waiting(methods: []), .progress, .progress),
            (.paid(amount: 5, currency: "KGS"), .paid, .paid), (.expired, .notPaid, .unknown),
            (.notPaid(reason: cancelled), .notPaid, .unknown), (.personNeeded(message: mismatch), .unknown, .unknown),
            (.tokenExpired, .unknown, .unknown), (.ready(methods: [.qr]), nil, nil), (codeEntry, nil, nil),
            (.openPage(url: "", begunHere: true, methods: []), nil, nil), (.showQr(text: ""), nil, nil),
        ]
        for (state, mark, whereMayHavePaid) in cases {
            #expect(CheckoutMark(state, mayHavePaid: false) == mark && CheckoutMark(state, mayHavePaid: true) == whereMayHavePaid, "\(state)")
        }
        #expect(Set(CheckoutMark.allCases.map(\.symbol)).count == 4)
    }

    @Test func eventHasNoWordsOfTheGateways() {
        let told = CheckoutMessage(topic: .rejected, reason: "Aibek Usenov, 0555 000 101")
        #expect(CheckoutResult.notPaid(told).withoutReasons == .notPaid(CheckoutMessage(topic: .rejected)))
        #expect(CheckoutResult.personNeeded(told).withoutReasons == .personNeeded(CheckoutMessage(topic: .rejected)))
        for result in [CheckoutResult.notPaid(nil), .stillOpen, .paid(amount: 5, currency: "KGS")] {
            #expect(result.withoutReasons == result)
        }
    }
}
