import Foundation
import Kassa

/// The QR code, and the ways in which it gets into the app of a bank.
@available(iOS 17, macOS 14, *)
extension CheckoutModel {
    /// The address by which the QR code opens an app of a bank on this phone; nil where the code is no link that begins with `https://`.
    /// Where there are ``bankLinks``, offer those instead.
    public var qrLink: URL? {
        guard case .showQr(let text, _, _) = state, text.lowercased().hasPrefix("https://") else { return nil }
        return URL(string: text)
    }

    /// The links that open a QR code in ELQR in the app of a bank on this phone: any bank first, then one bank each. Open a link in an app, and
    /// in a browser where no app takes it. Empty where the state has no code, and where the code is in another format or damaged.
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

    /// What the payer can do instead, where no app of a bank was found on this device; nil where nothing has to be said.
    public var bankAppNotice: String? { isBankAppMissing ? labels.noBankApp : nil }

    /// Whether a button can save ``qrPicture`` among the payer's pictures (`labels.savePicture`): where the app's Info.plist says why it adds some
    /// (`NSPhotoLibraryAddUsageDescription`).
    public var canSavePicture: Bool { qrPicture != nil && photosPurpose?.contains { !$0.isWhitespace } == true }

    /// Whether ``qrPicture`` was saved. What was saved before another code is shown says nothing about that one.
    public func pictureSaved(_ isSaved: Bool) {
        if qrPicture != nil { isPictureSaved = isSaved }
    }

    /// What became of saving it; nil where nothing has to be said.
    public var pictureNotice: String? { isPictureSaved.map { $0 ? labels.pictureSaved : labels.pictureNotSaved } }
}
