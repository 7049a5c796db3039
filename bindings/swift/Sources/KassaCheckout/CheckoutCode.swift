import Foundation
import Kassa

/// The QR code, and the ways in which it gets into the app of a bank.
@available(iOS 17, macOS 14, *)
extension CheckoutModel {
    /// The URL that opens the QR code in a bank's app on this phone; nil if the code is not a link that begins with `https://`. If there
    /// are ``bankLinks``, offer those instead.
    public var qrLink: URL? {
        guard case .showQr(let text, _, _) = state, text.lowercased().hasPrefix("https://") else { return nil }
        return URL(string: text)
    }

    /// The links that open an ELQR code in a bank's app on this phone: first for any bank, then one per bank. Open a link in an app, or
    /// in a browser if no app handles it. Empty if the state has no code, or the code has another format or is damaged.
    public var bankLinks: [BankLink] {
        guard case .showQr(let text, _, _) = state else { return [] }
        return Self.bankLinks(of: text)
    }

    /// There are none for a damaged code, nor for one with elements that a link would leave out.
    static func bankLinks(of text: String) -> [BankLink] {
        (try? Elqr(text).bankLinks()) ?? []
    }

    /// Whether ``qrLink`` or one of ``bankLinks`` was opened. Open ``qrLink`` in apps alone (`universalLinksOnly`), and never in a browser.
    public func bankAppOpened(_ isOpened: Bool) {
        if case .showQr = state { isBankAppMissing = !isOpened }
    }

    /// The hint what to do if no bank's app was found on this device; nil if there is nothing to say.
    public var bankAppNotice: String? { isBankAppMissing ? labels.noBankApp : nil }

    /// Whether a button can save ``qrPicture`` to the payer's photos (`labels.savePicture`): only if the app's Info.plist gives the
    /// reason (`NSPhotoLibraryAddUsageDescription`).
    public var canSavePicture: Bool { qrPicture != nil && photosPurpose?.contains { !$0.isWhitespace } == true }

    /// Whether ``qrPicture`` was saved. It is reset when another code is shown.
    public func pictureSaved(_ isSaved: Bool) {
        if qrPicture != nil { isPictureSaved = isSaved }
    }

    /// The result of saving it; nil if there is nothing to say.
    public var pictureNotice: String? { isPictureSaved.map { $0 ? labels.pictureSaved : labels.pictureNotSaved } }
}
