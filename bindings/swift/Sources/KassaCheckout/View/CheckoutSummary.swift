#if canImport(SwiftUI)
    import Kassa
    import SwiftUI

    /// What is paid for, and where it stands.
    @available(iOS 17, macOS 14, *)
    struct CheckoutSummary: View {
        let model: CheckoutModel

        var body: some View {
            if model.title != nil || model.details != nil {
                Section {
                    if let title = model.title { Text(title).font(model.appearance.titleFont) }
                    if let details = model.details {
                        Text(model.amountText ?? "").font(model.appearance.amountFont)
                        Text(details.description)
                        LabeledContent(model.labels.order, value: details.reference)
                    }
                }
            }
            Section {
                CheckoutTitle(model: model)
                if let explanation = model.texts.explanation { Text(explanation) }
                if let message = model.texts.message { Label(message, systemImage: "exclamationmark.circle") }
                if let reason = model.texts.reason { Text(reason).font(model.appearance.hintFont) }
            }
        }
    }
#endif
