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
        for phone in ["", "+", "0", "0555", "+996 555 000 10", "+996 555 000 1011", "+12345"] {
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

    @Test func aCodeThatIsMissingIsToldInEveryLanguage() async throws {
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

    @Test func aCodeThatIsTooShortBurnsNoTry() async throws {
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

    @Test(arguments: [
        ("0555000101", "+996 555 000 101"), ("555000101", "+996 555 000 101"), ("996555000101", "+996 555 000 101"),
        ("+996 (555) 00-01-01", "+996 555 000 101"), ("+9960555000101", "+996 555 000 101"), ("00996555000101", "+996 555 000 101"), ("٠٥٥٥", "+996 555"),
        ("5", "+996 5"), ("0", "+996"), ("", ""), ("+", "+"), ("+9", "+9"), ("+99", "+99"), ("+996", "+996"), ("abc", ""),
        ("996", "+996 996"), ("996123456", "+996 996 123 456"), ("+7 999 123-45-67", "+79991234567"), ("79991234567", "+79991234567"),
        ("+996 555 000 1011", "+996 555 000 101 1"),
    ])
    func aPhoneIsShownAsPeopleWriteIt(typed: String, shown: String) {
        #expect(formattedPhone(typed) == shown)
        #expect(formattedPhone(shown) == shown)
    }

    @Test func aPhoneCanBeTypedAndDeletedLetterByLetter() throws {
        var field = ""
        for typed in ["0555000101", "555000101", "996555000101", "+996555000101"] {
            field = typed.reduce(into: "") { $0 = formattedPhone($0 + String($1)) }
            #expect(field == "+996 555 000 101", "\(typed)")
        }
        while !field.isEmpty {
            let shorter = formattedPhone(String(field.dropLast()))
            try #require(shorter.count < field.count, "stuck at \(field)")
            field = shorter
        }
    }

    @Test func aPhoneIsSentInTheFormOfTheInterface() throws {
        #expect(try checkedPhone("+996 555 000 101") == "996555000101")
        #expect(try checkedPhone("+79991234567") == "79991234567")
        for short in ["+996", "+996 555", "+996 555 000 101 1"] { #expect(throws: PaymentError.self) { try checkedPhone(short) } }
    }
}
