#if canImport(AuthenticationServices)
    import AuthenticationServices

    #if canImport(UIKit)
        import UIKit
    #endif

    /// Opens a page of the gateway in the system's browser sheet, where the payer sees whose page it is, and which the app cannot read.
    ///
    /// **It has never run**: it was written without a Mac, so its types are checked against stand-ins for Apple's modules.
    @available(iOS 17, macOS 14, *)
    @MainActor public final class PageOpener: NSObject, ASWebAuthenticationPresentationContextProviding {
        private var session: ASWebAuthenticationSession?

        /// Nothing is opened yet.
        public override init() {}

        /// Opens a page. One that is open is closed before.
        ///
        /// - Parameters:
        ///   - page: The page, https or http.
        ///   - returnScheme: The scheme of the deep link that leads back: the sheet closes itself there. Without one the payer closes it.
        ///   - cameBack: Called when the payer is back in any way. **The link's content is not passed on**: the gateway is queried.
        /// - Returns: Whether it was opened.
        @discardableResult
        public func open(_ page: URL, returnScheme: String?, cameBack: @escaping @MainActor () -> Void) -> Bool {
            close()
            let session = ASWebAuthenticationSession(url: page, callbackURLScheme: returnScheme) { @Sendable _, _ in
                Task { @MainActor in cameBack() }
            }
            session.presentationContextProvider = self
            // No cookies of the payer's browser are needed, and nothing has to be asked before.
            session.prefersEphemeralWebBrowserSession = true
            self.session = session
            return session.start()
        }

        /// Closes the page that is open, if any.
        public func close() {
            session?.cancel()
            session = nil
        }

        /// The window over which the system shows the sheet.
        public func presentationAnchor(for session: ASWebAuthenticationSession) -> ASPresentationAnchor {
            #if canImport(UIKit)
                let scenes = UIApplication.shared.connectedScenes.compactMap { $0 as? UIWindowScene }
                return scenes.first { $0.activationState == .foregroundActive }?.keyWindow ?? ASPresentationAnchor()
            #else
                return NSApplication.shared.keyWindow ?? ASPresentationAnchor()
            #endif
        }
    }
#endif
