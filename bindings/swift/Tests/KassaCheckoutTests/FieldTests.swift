import Foundation
import Kassa
@testable import KassaCheckout
import KassaStage
import Testing

@MainActor @Suite struct FieldTests {
    /// The errors of a field in every language.
    private func errors(_ model: CheckoutModel, _ field: CheckoutField) -> [String?] {
        Language.allCases.map { language in
            model.language = language
            return model.error(of: field)
        }
    }

    @Test func whatIsWrongStandsAtItsFieldInEveryLanguage() async throws {
        let stage = try await Stage.start()
        defer { stage.stop() }
        let screen = try await PayerScreen.ready(stage, ["cards": .bool(true), "checkout": ["methods": ["mbank", "card"]]])
        let model = screen.model
        #expect(CheckoutField.allCases.allSatisfy { model.error(of: $0) == nil })
        for phone in ["", "+", "0", "0555", "+996 555 000 10", "+996 555 000 1011", "+12345", "7000000012", "0555000101, 102", "0555\n000101"] {
            model.choose(.mbank)
            model.phone = phone
            #expect(model.error(of: .phone) == nil)  // not yet
            model.pay()
            let told = errors(model, .phone).compactMap { $0 }
            #expect(Set(told).count == 3 && told.first == "Enter your phone number, such as 0555 123 456.", "\(phone): \(told)")
        }
        model.phone = "0555000101"
        #expect(model.error(of: .phone) == nil && model.state.kind == "ready")

        model.choose(.card)
        model.pay()
        let card: [CheckoutField] = [.cardNumber, .cardExpiry, .cardCvc, .cardHolder]
        for field in card { #expect(Set(errors(model, field).compactMap { $0 }).count == 3, "\(field)") }
        screen.typeCard("4111 1111 1111 1112")
        #expect(card.filter { model.error(of: $0) != nil } == [.cardNumber])  // by its check digit, while it is typed
        model.cardNumber = "4111 1111 1111 1111"
        model.cardExpiry = "13/31"
        #expect(card.filter { model.error(of: $0) != nil } == [.cardExpiry])
        #expect(Set(errors(model, .cardExpiry)).count == 3)
        #expect(try await screen.charged == [])
    }

    @Test func codeThatIsMissingIsToldInEveryLanguage() async throws {
        let stage = try await Stage.start()
        defer { stage.stop() }
        let screen = try await PayerScreen.ready(stage)
        try await screen.askForCode()
        screen.model.confirm()
        #expect(Set(errors(screen.model, .code).compactMap { $0 }).count == 3)
        #expect(screen.model.state.kind == "enter_otp")
        screen.model.code = "1"
        #expect(screen.model.error(of: .code) == nil)
    }

    @Test func codeThatIsTooShortBurnsNoTry() async throws {
        let stage = try await Stage.start()
        defer { stage.stop() }
        let screen = try await PayerScreen.ready(stage)
        let model = screen.model
        try await screen.askForCode()
        for code in ["1", "101", "1 0 1", "10-1", "1.0.1.", "１０１", "١٠١", "1\u{200d}0\u{200d}1\u{200d}", "A-1"] {
            model.code = code
            model.confirm()
            #expect(model.state.kind == "enter_otp" && !model.code.isEmpty, "\(code)")
            let told = errors(model, .code).compactMap { $0 }
            #expect(Set(told).count == 3 && told.first == "This code is too short. Enter all of the code from the SMS.", "\(code)")
        }
        model.language = .english
        model.code = "9999"
        #expect(model.error(of: .code) == nil)
        model.confirm()
        try await screen.until("word of the wrong code") { $0.texts.message != nil && $0.state.kind == "enter_otp" }
        #expect(model.texts.explanation?.hasSuffix("Attempts left: 2") == true)
        model.code = "101\u{2011}101"
        model.confirm()
        try await screen.until("paid")
    }

    /// Whatever stands in the field is what is sent, and what it is taken for stands below it.
    @Test func phoneIsTakenForWhatItsHintSays() async throws {
        let stage = try await Stage.start()
        defer { stage.stop() }
        let screen = try await PayerScreen.ready(stage)
        let model = screen.model
        let ours = "The code goes to +996\u{a0}555\u{a0}000\u{a0}101"
        let none = "The number of your account or wallet, such as 0555 123 456"
        let cases: [(String, String)] = [
            ("", none), ("+", none), ("0555", none), ("+996 555 000 10", none), ("0555000101", ours), ("555000101", ours),
            ("996555000101", ours), ("00996 555 000 101", ours), ("+996 (555) 00-01-01", ours), ("+996 0555 000 101", ours),
            // As a phone's address book and a web page give it.
            ("\u{202a}+996 555 000 101\u{202c}", ours), ("\u{feff}0555\u{200b}000\u{ad}101", ours), ("tel:+996555000101", ours),
            ("＋９９６ ５５５ ０００ １０１", ours), ("٠٥٥٥٠٠٠١٠١", ours),
            // Cut to nine digits it would be somebody else's.
            ("5550001012", none), ("05550001012", none), ("+996 555 000 1012", none), ("+996 996 555 000 101", none),
            ("0555000101 доб. 2", none), ("0555000101, 0555000102", none), ("8 701 000 00 01", none),
            ("996123456", "The code goes to +996\u{a0}996\u{a0}123\u{a0}456"), ("+7 701 000-00-01", "The code goes to +77010000001"),
            ("77010000001", "The code goes to +77010000001"),
        ]
        for (typed, hint) in cases {
            model.phone = typed
            #expect(model.phone == typed && model.phoneHint == hint, "\(typed)")
            #expect((normalizedPhone(typed) == nil) == (hint == none), "\(typed)")
        }
        let hints = Language.allCases.map { language in
            model.language = language
            return model.phoneHint
        }
        #expect(Set(hints).count == 3 && hints.allSatisfy { $0.contains("+77010000001") })
        model.language = .english
        try await screen.askForCode(phone: "\u{202a}＋９９６ 555 000 101\u{202c}")
        #expect(model.texts.explanation?.contains("to the number that ends in 01.") == true)
    }
}
