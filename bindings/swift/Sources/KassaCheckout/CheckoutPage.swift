import Foundation
import Kassa

/// Pages of the gateway's, and the ways out of the app and back.
@available(iOS 17, macOS 14, *)
extension CheckoutModel {
    /// The page that is to be opened **now, without a tap**: the payer has just asked for it. Open it, and call
    /// ``pageOpened(isAway:)``.
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

    /// The scheme of the deep link that leads back from a page to the app; nil where the shop leads back to a web address, or before the
    /// server has answered.
    public var returnScheme: String? {
        guard let scheme = details.flatMap({ URL(string: $0.returnURL)?.scheme?.lowercased() }) else { return nil }
        return ["http", "https"].contains(scheme) ? nil : scheme
    }

    /// The page was opened, or could not be: ``pageToOpen`` is nil from now on.
    ///
    /// - Parameter isAway: Whether the payer is there now. Only then ``onEvent`` is told.
    public func pageOpened(isAway: Bool = true) {
        if isAway && !isClosed && page != nil { tell(.pageOpened) }
        checkout.pageOpened()
        refresh()
    }

    /// The payer came back from a page, by a deep link or by closing it. What the link says is not believed, so it is not even asked for.
    public func cameBack() {
        checkout.cameBack()
        refresh()
    }

    /// The app came to the front: the gateway is asked at once, and what waits for the network is tried again. Where the app was in the
    /// background for five minutes, card fields and code are empty.
    public func cameToFront() {
        endAbsence()
        checkout.checkNow()
    }

    /// The app went to the background. Card fields and code stay for five minutes, so that the payer can look them up in another app, and are
    /// forgotten then. The chosen way and the phone stay. Hide the screen meanwhile: the system photographs it.
    public func wentToBackground() {
        beginAbsence()
    }
}
