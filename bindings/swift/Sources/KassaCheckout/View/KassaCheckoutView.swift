#if canImport(SwiftUI)
    import Kassa
    import SwiftUI

    /// The payment screen: a view of a ``CheckoutModel``. It opens the gateway's page automatically, and reports the result when the
    /// payer closes it.
    ///
    /// ```swift
    /// KassaCheckoutView(model) { result in shown = result }
    /// ```
    ///
    /// It receives deep links that its scene gets. The payer's input is hidden while the app is in the background.
    ///
    /// **It has never run**: it was written without a Mac, so its types are checked against stand-ins for Apple's modules. All decisions
    /// are in the model, which is tested.
    @available(iOS 17, macOS 14, *)
    public struct KassaCheckoutView: View {
        @Bindable private var model: CheckoutModel
        @State private var opener = PageOpener()
        #if canImport(UIKit)
            @State private var brightness = ScreenBrightness()
        #endif
        @SceneStorage("dev.kassa.checkout") private var draft = CheckoutDraft()
        @Environment(\.scenePhase) private var scenePhase
        @Environment(\.font) private var font
        private let closed: (CheckoutResult) -> Void

        /// - Parameters:
        ///   - model: The screen's model, which the app holds as long as the view is there.
        ///   - closed: Called once with the result, when the payer closes the screen.
        public init(_ model: CheckoutModel, closed: @escaping (CheckoutResult) -> Void) {
            self.model = model
            self.closed = closed
        }

        /// The screen.
        public var body: some View {
            NavigationStack {
                Form {
                    CheckoutSummary(model: model)
                    CheckoutControls(model: model) { open($0) }
                }
                .navigationTitle(model.labels.title)
                .toolbar { Button(model.closeText) { closed(model.close()) } }
            }
            .font(model.appearance.textFont ?? font)
            .preferredColorScheme(model.appearance.colorScheme)
            .privacySensitive()
            // A sheet that is swiped away would tell nobody how it stands.
            .interactiveDismissDisabled()
            // What the system photographs for the app switcher.
            .overlay { if scenePhase != .active { Cover(text: model.labels.covered) } }
            .onAppear { model.restore(draft) }
            .onChange(of: model.draft) { draft = model.draft }
            .onChange(of: model.pageToOpen, initial: true) { if let page = model.pageToOpen { open(page) } }
            .onChange(of: model.page) { if model.page == nil { opener.close() } }
            .onChange(of: model.texts) { AccessibilityNotification.Announcement(model.texts.spoken).post() }
            .onChange(of: model.bankAppNotice) {
                if let notice = model.bankAppNotice { AccessibilityNotification.Announcement(notice).post() }
            }
            .onChange(of: model.pictureNotice) {
                if let notice = model.pictureNotice { AccessibilityNotification.Announcement(notice).post() }
            }
            .onChange(of: isBright, initial: true) { brighten(isBright) }
            .onDisappear { brighten(false) }
            .onChange(of: scenePhase) {
                switch scenePhase {
                case .active: model.cameToFront()
                case .background: model.wentToBackground()
                default: break
                }
            }
            .onOpenURL { _ in model.cameBack() }
        }

        /// While a code is shown to whoever scans it.
        private var isBright: Bool { model.qrPicture != nil && scenePhase == .active }

        private func brighten(_ isBright: Bool) {
            #if canImport(UIKit)
                brightness.brighten(isBright)
            #endif
        }

        private func open(_ page: URL) {
            let isAway = opener.open(page, returnScheme: model.returnScheme) { model.cameBack() }
            model.pageOpened(isAway: isAway)
        }
    }

    /// Hides the screen.
    @available(iOS 17, macOS 14, *)
    private struct Cover: View {
        let text: String

        var body: some View {
            ZStack {
                Rectangle().fill(.background).ignoresSafeArea()
                Label(text, systemImage: "lock.fill").padding()
            }
        }
    }
#endif
