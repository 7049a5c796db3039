import Foundation

/// The appearance of the screen: the merchant's colours and font if given, otherwise the system's.
///
/// ```swift
/// let honey = CheckoutColour(0xF2A900)
/// let appearance = CheckoutAppearance(accentColour: honey, cornerRadius: 12)  // what stands on honey is black
/// ```
public struct CheckoutAppearance: Hashable, Sendable {
    /// Light or dark; as the system unless given.
    public var theme: CheckoutTheme
    /// The colour of the buttons that matter, such as that which pays; the app's accent colour unless given.
    public var accentColour: CheckoutColour?
    /// The colour of text on ``accentColour``. If it is not given or not readable there (WCAG contrast below 3 to 1), it is black or
    /// white, whichever is more readable.
    public var onAccentColour: CheckoutColour?
    /// The corners of those buttons in points, from 0 to 32; those of the system unless given.
    public var cornerRadius: Double?
    /// The name of a font that the app brings along, as `UIFont` knows it. The size stays the one that the payer has set.
    public var font: String?

    /// The system's own, unless given.
    public init(
        theme: CheckoutTheme = .system, accentColour: CheckoutColour? = nil, onAccentColour: CheckoutColour? = nil,
        cornerRadius: Double? = nil, font: String? = nil
    ) {
        self.theme = theme
        self.accentColour = accentColour
        self.onAccentColour = onAccentColour
        self.cornerRadius = cornerRadius
        self.font = font
    }

    /// The colour of what stands on the accent colour; nil if the system's are taken for both.
    var readableOnAccent: CheckoutColour? {
        guard let accentColour else { return nil }
        if let onAccentColour, accentColour.contrast(to: onAccentColour) >= leastContrast { return onAccentColour }
        return accentColour.readable
    }

    /// What a button can have, which is about twice as high.
    var shownCornerRadius: Double? { cornerRadius.flatMap { $0.isNaN ? nil : min(max($0, 0), largestRadius) } }
}

/// Whether a screen is light or dark.
public enum CheckoutTheme: String, Hashable, Sendable, CaseIterable {
    /// As the system is set.
    case system
    /// Light, however the system is set.
    case light
    /// Dark, however the system is set.
    case dark
}

/// A colour by its components, each from 0 to 1, in sRGB.
public struct CheckoutColour: Hashable, Sendable {
    /// The part of red.
    public let red: Double
    /// The part of green.
    public let green: Double
    /// The part of blue.
    public let blue: Double

    /// By its components. What is below 0 or above 1 is cut off.
    public init(red: Double, green: Double, blue: Double) {
        (self.red, self.green, self.blue) = (component(red), component(green), component(blue))
    }

    /// As the web writes it: `0xF2A900`. What is above six digits is cut off.
    public init(_ hex: UInt32) {
        func part(_ shift: UInt32) -> Double { Double((hex >> shift) & 0xFF) / 255 }
        self.init(red: part(16), green: part(8), blue: part(0))
    }

    /// Black or white, whichever has the higher contrast to it.
    var readable: CheckoutColour {
        let (white, black) = (CheckoutColour(0xFFFFFF), CheckoutColour(0))
        return contrast(to: white) >= contrast(to: black) ? white : black
    }

    /// By WCAG, from 1 to 21.
    func contrast(to other: CheckoutColour) -> Double {
        (max(luminance, other.luminance) + 0.05) / (min(luminance, other.luminance) + 0.05)
    }

    /// By WCAG, from 0 to 1.
    private var luminance: Double { 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue) }
}

/// Of large text and of what can be tapped, by WCAG.
private let leastContrast = 3.0

/// In points.
private let largestRadius = 32.0

/// What is no number counts as nothing.
private func component(_ value: Double) -> Double { value.isNaN ? 0 : min(max(value, 0), 1) }

/// A component without the curve of sRGB.
private func linear(_ component: Double) -> Double {
    component <= 0.04045 ? component / 12.92 : pow((component + 0.055) / 1.055, 2.4)
}
