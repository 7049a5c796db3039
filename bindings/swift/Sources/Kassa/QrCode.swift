import Foundation
internal import KassaGenerated

/// How much of a QR code may be unreadable. More costs modules.
public enum QrLevel: String, Hashable, Sendable, CaseIterable, CustomStringConvertible {
    /// 7 %.
    case low
    /// 15 %.
    case medium
    /// 25 %.
    case quartile
    /// 30 %.
    case high

    /// Its name.
    public var description: String { rawValue }
}

/// A QR code, the smallest that holds its text.
///
/// ```swift
/// let picture = try QrCode("https://pay.example.kg/q/17").png()
/// ```
public struct QrCode: Sendable {
    /// The default side of a picture in pixels, as in the gateway's own.
    public static let pngSide = 400

    let core: KassaGenerated.QrCode

    /// Encodes a text.
    ///
    /// - Throws: ``PaymentError/invalid(violations:)`` if the text is empty or too long for a code of this level.
    public init(_ text: String, level: QrLevel = .medium) throws {
        core = try translated { try .encode(text: checked(text, "text"), level: level.core) }
    }

    /// The rows of modules, true for dark, without the light border.
    public func modules() -> [[Bool]] { core.modules() }

    /// A black and white PNG of `px` by `px` pixels.
    ///
    /// All modules have the same whole number of pixels, and the white border is at least four modules wide, so that scanners can read
    /// it.
    ///
    /// - Throws: ``PaymentError/invalid(violations:)`` if `px` is too small for the code, or larger than 10,000.
    public func png(px: Int = QrCode.pngSide) throws -> Data {
        try translated { try core.png(px: UInt32(clamping: px)) }
    }

    /// An SVG picture.
    public func svg() -> String { core.svg() }

    /// The code in half-block characters for a terminal with a dark background, including the border.
    public func text() -> String { core.text() }
}

extension QrCode: CustomStringConvertible, CustomReflectable {
    /// How many modules it has.
    public var description: String {
        let side = modules().count
        return "QrCode(\(side)x\(side) modules)"
    }

    /// Its modules.
    public var customMirror: Mirror { Mirror(self, children: ["modules": modules()]) }
}

extension QrLevel {
    var core: KassaGenerated.QrLevel {
        switch self {
        case .low: .low
        case .medium: .medium
        case .quartile: .quartile
        case .high: .high
        }
    }
}
