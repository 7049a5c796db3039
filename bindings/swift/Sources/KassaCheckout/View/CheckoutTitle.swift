#if canImport(SwiftUI)
    import Kassa
    import SwiftUI

    /// What the screen is about, with its mark. Whoever hears the screen hears both as one.
    @available(iOS 17, macOS 14, *)
    struct CheckoutTitle: View {
        let model: CheckoutModel

        var body: some View {
            HStack {
                if let mark = model.mark { picture(mark) }
                Text(model.texts.title).font(model.appearance.titleFont)
            }
            .accessibilityElement(children: .ignore)
            .accessibilityLabel(model.texts.title)
            .accessibilityAddTraits(.isHeader)
        }

        @ViewBuilder private func picture(_ mark: CheckoutMark) -> some View {
            if let symbol = mark.symbol {
                Image(systemName: symbol).font(model.appearance.amountFont).foregroundStyle(color(mark))
            } else {
                ProgressView()
            }
        }

        private func color(_ mark: CheckoutMark) -> Color {
            switch mark {
            case .paid: .green
            case .notPaid: .red
            case .progress, .unknown: .orange
            }
        }
    }
#endif
