// A stand-in for Apple's UIKit: it declares what the views of this package use, with the signatures of Apple's (iOS 17, Xcode 16), and does
// nothing. scripts/swift/check-views type-checks the views against it where there is no Mac. It is never part of a program.

@_exported import struct Foundation.CGFloat
@_exported import struct Foundation.Data
@_exported import struct Foundation.URL

/// In place of that of Foundation for Linux: Apple's is of Objective-C, so a class of the main actor may override its initializer.
@MainActor open class NSObject: Hashable {
    public init() {}

    public nonisolated static func == (one: NSObject, other: NSObject) -> Bool { one === other }

    public nonisolated func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

@MainActor open class UIApplication: NSObject {
    public struct OpenExternalURLOptionsKey: Hashable, Sendable {
        public static let universalLinksOnly = OpenExternalURLOptionsKey()
    }

    public class var shared: UIApplication { fatalError() }

    public var connectedScenes: Set<UIScene> { fatalError() }

    @discardableResult
    public func open(_ url: URL, options: [OpenExternalURLOptionsKey: Any] = [:]) async -> Bool { fatalError() }
}

@MainActor open class UIScene: NSObject {
    public enum ActivationState: Int, Sendable {
        case unattached = -1
        case foregroundActive
        case foregroundInactive
        case background
    }

    public var activationState: ActivationState { fatalError() }
}

@MainActor open class UIWindowScene: UIScene {
    public var keyWindow: UIWindow? { fatalError() }

    public var screen: UIScreen { fatalError() }
}

@MainActor open class UIScreen: NSObject {
    public var brightness: CGFloat = 0
}

@MainActor open class UIWindow: NSObject {}

public final class UIImage: Sendable {
    public init?(data: Data) { return nil }
}

public struct UITextContentType: Hashable, Sendable {
    public static let telephoneNumber = UITextContentType()
    public static let oneTimeCode = UITextContentType()
    public static let creditCardNumber = UITextContentType()
    public static let creditCardExpiration = UITextContentType()
    public static let creditCardSecurityCode = UITextContentType()
    public static let creditCardName = UITextContentType()
}

public enum UIKeyboardType: Int, Sendable {
    case `default`
    case numberPad
    case phonePad
}
