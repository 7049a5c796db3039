// A stand-in for Apple's Photos: it declares what the views of this package use, with the signatures of Apple's (iOS 17, Xcode 16), and does
// nothing. scripts/swift/check-views type-checks the views against it where there is no Mac. It is never part of a program.

@_exported import UIKit

public enum PHAccessLevel: Int, Sendable {
    case addOnly = 1
    case readWrite
}

public enum PHAuthorizationStatus: Int, Sendable {
    case notDetermined
    case restricted
    case denied
    case authorized
    case limited
}

public enum PHAssetResourceType: Int, Sendable {
    case photo = 1
}

public final class PHAssetResourceCreationOptions {}

public final class PHPhotoLibrary: Sendable {
    public class func shared() -> PHPhotoLibrary { fatalError() }

    public class func requestAuthorization(for accessLevel: PHAccessLevel) async -> PHAuthorizationStatus { fatalError() }

    public func performChanges(_ changeBlock: @escaping @Sendable () -> Void) async throws {}
}

public final class PHAssetCreationRequest {
    public class func forAsset() -> PHAssetCreationRequest { fatalError() }

    public func addResource(with type: PHAssetResourceType, data: Data, options: PHAssetResourceCreationOptions?) {}
}
