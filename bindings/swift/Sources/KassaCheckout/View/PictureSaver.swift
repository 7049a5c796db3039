#if canImport(UIKit) && canImport(Photos)
    import Photos

    /// Adds a picture to the payer's photos, after the system's permission prompt. Returns whether it was added. **Call it only if the
    /// app's Info.plist gives the reason** (``CheckoutModel/canSavePicture``): the system terminates any other app.
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
