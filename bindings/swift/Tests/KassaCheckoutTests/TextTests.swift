import Foundation
import Kassa
@testable import KassaCheckout
import Testing

// The module has types of these names beside those of `Kassa`.
typealias CheckoutTexts = KassaCheckout.CheckoutTexts
typealias CheckoutLabels = KassaCheckout.CheckoutLabels

@Suite struct TextTests {
    /// Every kind of state, with and without ways to pay.
    private func states(_ message: CheckoutMessage) -> [CheckoutState] {
        [
            .opening(message: message), .ready(methods: [], message: message), .ready(methods: [.qr], message: message),
            .ready(methods: [.qr], message: message, canKeepMethod: true),
            .sending(message: message), .enterOtp(attemptsLeft: 2, message: message),
            .enterOtp(attemptsLeft: 2, message: message, phoneLast2: "01", canChangeMethod: true),
            .openPage(url: "https://pay.example.kg", begunHere: true, methods: [], message: message),
            .showQr(text: "text", message: message), .waiting(methods: [], message: message), .paid(amount: 1, currency: "KGS"),
            .notPaid(reason: message), .personNeeded(message: message), .expired, .tokenExpired,
        ]
    }

    @Test func everyStateAndTopicIsToldInEveryLanguage() {
        var kinds: Set<String> = []
        for topic in MessageTopic.allCases {
            for state in states(CheckoutMessage(topic: topic, reason: "Karta bloklangan")) {
                kinds.insert(state.kind)
                for mayHavePaid in [true, false] {
                    let told = Language.allCases.map { StateTexts.of($0).texts(of: state, mayHavePaid: mayHavePaid, $0) }
                    for part in [\CheckoutTexts.title, \.explanation.orNone, \.message.orNone] as [KeyPath<CheckoutTexts, String>] {
                        expectThreeLanguages(told.map { $0[keyPath: part] }, "\(state.kind) \(topic)")
                    }
                    #expect(Set(told.map(\.reason)).count == 1)  // as it came
                    let isForDeveloper = topic == .tokenNotRenewed
                    #expect(!isForDeveloper || told.allSatisfy { !$0.spoken.contains("Karta") }, "\(state.kind)")
                }
            }
        }
        #expect(kinds.count == 12)
    }

    /// What is in the way of reaching the server is told for developers.
    @Test func onlyWordsForPayersAreShown() {
        for topic in MessageTopic.allCases {
            let forDevelopers: [MessageTopic] = [.noNetwork, .serverBusy, .notTheServer, .wrongClock, .tokenNotRenewed]
            let message = CheckoutMessage(topic: topic, reason: "HTTP 503")
            let told = StateTexts.of(.english).texts(of: .sending(message: message), mayHavePaid: false, .english)
            #expect(told.reason == (forDevelopers.contains(topic) ? nil : "HTTP 503"), "\(topic)")
        }
    }

    @Test func everyLabelIsThereInEveryLanguage() {
        let all = Language.allCases.map { texts(CheckoutLabels.of($0)) }
        #expect(all.allSatisfy { $0.count == all[0].count && $0.count > 20 })
        for name in all[0].keys where name != "mbank" {
            let (english, russian, kyrgyz) = (all[0][name] ?? "", all[1][name] ?? "", all[2][name] ?? "")
            #expect(!english.isEmpty && english != russian && english != kyrgyz && isCyrillic(russian) && isCyrillic(kyrgyz), "\(name)")
            // These two words are the same.
            #expect(russian != kyrgyz || ["qr", "card"].contains(name), "\(name)")
        }
        let labels = CheckoutLabels.of(.kyrgyz)
        #expect(Set(CheckoutField.allCases.map(labels.name(of:))).count == CheckoutField.allCases.count)
        #expect(Set(PaymentMethod.allCases.flatMap { [labels.name(of: $0), labels.hint(of: $0)] }).count == 8)
    }

    @Test func everySentenceAboutAStateIsThereInEveryLanguage() {
        let all = Language.allCases.map { texts(StateTexts.of($0)) }
        for name in all[0].keys { expectThreeLanguages(all.map { $0[name] ?? "" }, name) }
    }

    @Test(arguments: [
        ("390", "390 som", "390 сом"), ("390.5", "390.50 som", "390,50 сом"), ("1000", "1,000 som", "1 000 сом"),
        ("12345678.09", "12,345,678.09 som", "12 345 678,09 сом"), ("0.05", "0.05 som", "0,05 сом"), ("100000", "100,000 som", "100 000 сом"),
    ])
    func amountsAreWrittenAsPeopleDo(amount: String, english: String, others: String) throws {
        let told = try Language.allCases.map { try amountText(Decimal(exactly: amount), "KGS", $0) }
        #expect(told.map { $0.replacing("\u{a0}", with: " ") } == [english, others, others])
        #expect(!told.joined().contains(" "))
        #expect(amountText(7, "USD", .russian) == "7\u{a0}USD")
    }

    /// All texts of a table, by their names.
    private func texts(_ table: Any) -> [String: String] {
        let pairs = Mirror(reflecting: table).children.compactMap { child in
            child.label.flatMap { label in (child.value as? String).map { (label, $0) } }
        }
        return Dictionary(uniqueKeysWithValues: pairs)
    }

    /// Either nothing in any language, or something else in each.
    private func expectThreeLanguages(_ told: [String], _ about: String) {
        if told.allSatisfy(\.isEmpty) { return }
        #expect(Set(told).count == 3 && told.allSatisfy { !$0.isEmpty } && isCyrillic(told[1]) && isCyrillic(told[2]), "\(about): \(told)")
        #expect(!told[0].unicodeScalars.contains { isCyrillicLetter($0) }, "\(about)")
    }

    /// Nothing of it is English but names.
    private func isCyrillic(_ text: String) -> Bool {
        let rest = ["MBank", "QR", "CVC"].reduce(text) { $0.replacing($1, with: "") }
        return rest.unicodeScalars.contains { isCyrillicLetter($0) } && !rest.contains { $0.isASCII && $0.isLetter }
    }

    private func isCyrillicLetter(_ letter: Unicode.Scalar) -> Bool { (0x400...0x52F).contains(letter.value) }
}

extension Optional<String> {
    fileprivate var orNone: String { self ?? "" }
}
