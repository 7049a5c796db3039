import Foundation
import Kassa

/// The QR code, and the ways in which it gets into the app of a bank.
@available(iOS 17, macOS 14, *)
extension CheckoutModel {
    /// The address by which the QR code opens an app of a bank on this phone; nil where the code is no link.
    public var qrLink: URL? {
        guard case .showQr(let text, _, _) = state, text.lowercased().hasPrefix("https://") else { return nil }
        return URL(string: text)
    }

    /// Whether ``qrLink`` was opened in an app. Open it in apps alone (`universalLinksOnly`), and never in a browser.
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
