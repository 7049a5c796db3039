import Foundation
import Kassa

/// The saved state of a payment screen for a scene: the chosen method and the phone. It holds no card, no code and no token.
///
/// Its raw value is a text, so a `SceneStorage` can hold it:
///
/// ```swift
/// @SceneStorage("checkout") private var draft = CheckoutDraft()
/// ```
public struct CheckoutDraft: Hashable, Sendable, RawRepresentable, CustomStringConvertible, CustomReflectable {
    /// The chosen way to pay.
    public var method: PaymentMethod?
    /// The phone as typed so far.
    public var phone: String

    /// An empty one, unless given.
    public init(method: PaymentMethod? = nil, phone: String = "") {
        (self.method, self.phone) = (method, phone)
    }

    /// Reads the saved text; nil if it is invalid.
    public init?(rawValue: String) {
        let parts = rawValue.split(separator: "|", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].isEmpty || PaymentMethod(rawValue: String(parts[0])) != nil else { return nil }
        self.init(method: PaymentMethod(rawValue: String(parts[0])), phone: String(parts[1]))
    }

    /// It as a text.
    public var rawValue: String { "\(method?.rawValue ?? "")|\(phone)" }

    /// The chosen way; the phone is not printed.
    public var description: String { "CheckoutDraft(\(method?.rawValue ?? "nothing chosen"))" }

    /// The same as ``description``.
    public var customMirror: Mirror { Mirror(self, children: ["method": method as Any]) }
}
