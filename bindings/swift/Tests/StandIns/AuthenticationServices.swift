// A stand-in for Apple's AuthenticationServices: it declares what the views of this package use, with the signatures of Apple's (iOS 17,
// Xcode 16), and does nothing. scripts/swift/check-views type-checks the views against it where there is no Mac. It is never part of a
// program.

@_exported import UIKit

public typealias ASPresentationAnchor = UIWindow

@MainActor public protocol ASWebAuthenticationPresentationContextProviding: AnyObject {
    func presentationAnchor(for session: ASWebAuthenticationSession) -> ASPresentationAnchor
}

public final class ASWebAuthenticationSession {
    public init(url: URL, callbackURLScheme: String?, completionHandler: @escaping (URL?, (any Error)?) -> Void) {}

    public weak var presentationContextProvider: (any ASWebAuthenticationPresentationContextProviding)?

    public var prefersEphemeralWebBrowserSession = false

    @discardableResult
    public func start() -> Bool { fatalError() }

    public func cancel() {}
}
