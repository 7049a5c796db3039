import Foundation
import Kassa
import KassaCheckout
import KassaStage
import Observation
import Testing

// The README's programs, which are shown there as they are here.

#if canImport(SwiftUI)
import KassaCheckout
import SwiftUI

struct Payment: View {
    let serverURL: String
    let newToken: @Sendable () async throws -> String  // asks the shop's back end
    @State private var model: CheckoutModel?

    var body: some View {
        if let model {
            KassaCheckoutView(model) { result in self.model = nil }  // .paid, .notPaid, .stillOpen, .personNeeded
        } else {
            Button("Pay") {
                Task { model = try? CheckoutModel(serverURL: serverURL, clientToken: await newToken(), renewToken: newToken) }
            }
        }
    }
}
#endif

@MainActor func follow(_ model: CheckoutModel, show: @escaping @MainActor (CheckoutTexts) -> Void) {
    show(
        withObservationTracking {
            model.texts
        } onChange: {
            Task { @MainActor in follow(model, show: show) }
        })
}

/// As the README shows it, where the app has the model.
@MainActor func dress(_ model: CheckoutModel) {
    model.appearance = CheckoutAppearance(theme: .light, accentColour: CheckoutColour(0xF2A900), cornerRadius: 12, font: "Inter-Regular")
}

@MainActor @Test(.timeLimit(.minutes(60))) func readmesScreenShowsAPaymentToItsEnd() async throws {
    let stage = try await Stage.start()
    defer { stage.stop() }
    let screen = try await PayerScreen.ready(stage)
    let (titles, title) = AsyncStream.makeStream(of: String.self)
    follow(screen.model) { title.yield($0.title) }
    screen.model.choose(.qr)
    screen.model.pay()
    try await screen.until("show_qr")
    _ = try await screen.scene.step("approve")
    var shown: [String] = []
    for await title in titles {
        shown.append(title)
        if title == "Paid" { break }
    }
    #expect(shown.first == "How would you like to pay?")
}

@Test func readmeShowsWhatIsHere() throws {
    let here = URL(filePath: #filePath)
    let readme = try String(contentsOf: here.appending(path: "../../../README.md").standardized, encoding: .utf8)
    let source = try String(contentsOf: here, encoding: .utf8)
    let shown = readme.matches(of: #/```swift\n((?:import KassaCheckout\n|@MainActor func |model\.appearance = ).+?)```/#.dotMatchesNewlines())
    #expect(shown.count == 3)
    for program in shown { #expect(source.contains(program.1)) }
}
