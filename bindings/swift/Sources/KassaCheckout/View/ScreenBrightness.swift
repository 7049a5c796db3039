#if canImport(UIKit)
    import UIKit

    /// The light of the screen while a QR code is shown on it: another phone reads a bright one better.
    @available(iOS 17, *)
    @MainActor final class ScreenBrightness {
        private var screen: UIScreen?
        private var before: CGFloat = 0

        /// Brightens the app's screen, or restores its brightness. A brightness that the payer set meanwhile is kept, but the screen is
        /// brightened again when the app becomes active, as after Control Center.
        func brighten(_ isBright: Bool) {
            if isBright { up() } else { back() }
        }

        private func up() {
            guard screen == nil else { return }
            let scenes = UIApplication.shared.connectedScenes.compactMap { $0 as? UIWindowScene }
            screen = scenes.first { $0.activationState == .foregroundActive }?.screen
            before = screen?.brightness ?? 0
            screen?.brightness = 1
        }

        private func back() {
            // It is read back less exactly than it was set.
            if let screen, screen.brightness > 0.99 { screen.brightness = before }
            screen = nil
        }
    }
#endif
