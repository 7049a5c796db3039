import Kassa
import KassaCheckout
import KassaStage
import Testing

/// What the screen adds to the core's texts, whose words the vectors show.
@MainActor @Suite struct TextTests {
    @Test func allThatIsSaidIsInTheLanguageOfTheModel() async throws {
        let stage = try await Stage.start()
        defer { stage.stop() }
        let screen = try await PayerScreen.ready(stage)
        let model = screen.model
        let cases: [(Language, String, String)] = [
            (.english, "390\u{a0}som", "Pay 390\u{a0}som"), (.russian, "390\u{a0}сом", "Оплатить 390\u{a0}сом"),
            (.kyrgyz, "390\u{a0}сом", "390\u{a0}сом төлөө"),
        ]
        for (language, amount, pay) in cases {
            model.language = language
            #expect(model.labels == CheckoutLabels.of(language))
            #expect(model.texts == CheckoutTexts.of(model.state, mayHavePaid: false, in: language))
            #expect(model.amountText == amount && model.payText == pay)
            #expect(model.phoneHint == model.labels.phoneExample)
        }
    }

    @Test func beforeTheAmountIsKnownTheButtonPays() throws {
        // Nobody listens there.
        let model = try CheckoutModel(serverURL: "http://127.0.0.1:9", clientToken: "ct_none", language: .russian)
        defer { model.close() }
        #expect(model.amountText == nil && model.payText == "Оплатить")
    }

    @Test func eachFieldHasANameOfItsOwn() {
        for language in Language.allCases {
            let labels = CheckoutLabels.of(language)
            let names = CheckoutField.allCases.map(labels.name(of:))
            #expect(Set(names).count == CheckoutField.allCases.count && names.allSatisfy { !$0.isEmpty }, "\(language)")
        }
    }

    @Test func wordsAreSpokenFromWhatIsNewToWhatIsKnown() {
        let texts = CheckoutTexts(
            title: "Enter the code", explanation: "Attempts left: 2", cost: "You pay 255 som", message: "Not accepted", reason: "Wrong")
        #expect(texts.spoken == "Not accepted. Wrong. Enter the code. You pay 255 som. Attempts left: 2")
        #expect(CheckoutTexts(title: "Paid").spoken == "Paid")
    }
}
