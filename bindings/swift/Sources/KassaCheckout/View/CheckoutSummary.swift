#if canImport(SwiftUI)
    import Kassa
    import SwiftUI

    /// What is paid for, and where it stands.
    @available(iOS 17, macOS 14, *)
    struct CheckoutSummary: View {
        let model: CheckoutModel

        var body: some View {
            if let details = model.details {
                Section {
                    Text(model.amountText ?? "").font(.largeTitle)
                    Text(details.description)
                    LabeledContent(model.labels.order, value: details.reference)
                }
            }
            Section {
                Text(model.texts.title).font(.headline).accessibilityAddTraits(.isHeader)
                if let explanation = model.texts.explanation { Text(explanation) }
                if let message = model.texts.message { Label(message, systemImage: "exclamationmark.circle") }
                if let reason = model.texts.reason { Text("\(model.labels.reason): \(reason)").font(.footnote) }
            }
        }
    }
#endif
