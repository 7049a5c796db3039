#if canImport(UIKit) && canImport(Photos)
    import Photos

    /// Adds a picture to the payer's, after the system has asked them. Whether it is there. **Only where the app's Info.plist says why**
    /// (``CheckoutModel/canSavePicture``): the system ends any other app.
    @available(iOS 17, *)
    func savesPicture(_ png: Data) async -> Bool {
        guard await PHPhotoLibrary.requestAuthorization(for: .addOnly) == .authorized else { return false }
        do {
            // Photos calls it on a queue of its own.
            try await PHPhotoLibrary.shared().performChanges { @Sendable in
                PHAssetCreationRequest.forAsset().addResource(with: .photo, data: png, options: nil)
            }
            return true
        } catch {
            return false
        }
    }
#endif
