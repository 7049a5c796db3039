#if canImport(SwiftUI)
    import SwiftUI

    /// A button that matters, in the merchant's colours.
    @available(iOS 17, macOS 14, *)
    struct CheckoutMainButton: View {
        let title: String
        let appearance: CheckoutAppearance
        let action: @MainActor () -> Void
        @Environment(\.isEnabled) private var isEnabled

        var body: some View {
            // Without a tint of its own it has that of the app.
            if let accent = appearance.accentColour { button.tint(Color(accent)) } else { button }
        }

        private var button: some View {
            Button(action: action) {
                // Where it cannot be pressed, the system draws no accent colour behind it.
                if isEnabled, let color = appearance.readableOnAccent { label.foregroundStyle(Color(color)) } else { label }
            }
            .buttonStyle(.borderedProminent)
            .buttonBorderShape(shape)
        }

        private var label: some View { Text(title).frame(maxWidth: .infinity) }

        private var shape: ButtonBorderShape {
            guard let radius = appearance.shownCornerRadius else { return .automatic }
            return .roundedRectangle(radius: CGFloat(radius))
        }
    }

    @available(iOS 17, macOS 14, *)
    extension CheckoutAppearance {
        /// Nil if the system decides.
        var colorScheme: ColorScheme? {
            switch theme {
            case .system: nil
            case .light: .light
            case .dark: .dark
            }
        }

        /// The amount.
        var amountFont: Font { font.map { Font.custom($0, size: 34, relativeTo: .largeTitle) } ?? .largeTitle }

        /// What the screen is about.
        var titleFont: Font { font.map { Font.custom($0, size: 17, relativeTo: .headline).bold() } ?? .headline }

        /// Hints.
        var hintFont: Font { font.map { Font.custom($0, size: 13, relativeTo: .footnote) } ?? .footnote }

        /// Everything else; nil if the app's is taken.
        var textFont: Font? { font.map { Font.custom($0, size: 17, relativeTo: .body) } }
    }

    @available(iOS 17, macOS 14, *)
    extension Color {
        /// For the screen.
        init(_ color: CheckoutColour) {
            self.init(red: color.red, green: color.green, blue: color.blue)
        }
    }
#endif
