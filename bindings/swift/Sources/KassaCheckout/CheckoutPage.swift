import Foundation
import Kassa

/// Pages of the gateway, and the switch between them and the app.
@available(iOS 17, macOS 14, *)
extension CheckoutModel {
    /// The page to open **now, without a tap**: the payer has just requested it. Open it, and call ``pageOpened(isAway:)``.
    public var pageToOpen: URL? {
        if case .openPage(let url, true, _, _) = state { URL(string: url) } else { nil }
    }

    /// The page that a button opens: the payer has been there, or it was begun on another device or before the app was killed.
    public var page: URL? {
        switch state {
        case .openPage(let url, _, _, _): URL(string: url)
        case .waiting(let url, _, _): url.flatMap { URL(string: $0) }
        case .opening, .ready, .sending, .enterOtp, .showQr, .paid, .notPaid, .personNeeded, .expired, .tokenExpired: nil
        }
    }

    /// The scheme of the deep link that leads back from a page to the app; nil if the shop uses a web URL, or until the server has
    /// answered.
    public var returnScheme: String? {
        guard let scheme = details.flatMap({ URL(string: $0.returnURL)?.scheme?.lowercased() }) else { return nil }
        return ["http", "https"].contains(scheme) ? nil : scheme
    }

    /// The page was opened, or could not be: ``pageToOpen`` is nil from now on.
    ///
    /// - Parameter isAway: Whether the payer is there now. Only then ``onEvent`` is called.
    public func pageOpened(isAway: Bool = true) {
        if isAway && !isClosed && page != nil { tell(.pageOpened) }
        checkout.pageOpened()
        refresh()
    }

    /// The payer came back from a page, by a deep link or by closing it. The link's content is not trusted, so it is not a parameter.
    public func cameBack() {
        checkout.cameBack()
        refresh()
    }

    /// The app came to the foreground: queries the gateway at once, and retries what waits for the network. After five minutes in the
    /// background, card fields and code are empty.
    public func cameToFront() {
        endAbsence()
        checkout.checkNow()
    }

    /// The app went to the background. Card fields and code are kept for five minutes, so that the payer can look them up in another app.
    /// The chosen method and the phone stay. Hide the screen meanwhile: the system takes a snapshot of it.
    public func wentToBackground() {
        beginAbsence()
    }
}
