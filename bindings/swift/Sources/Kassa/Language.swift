internal import KassaGenerated

/// A language in which violations, advice and a checkout's messages speak: ``Violation/textIn(_:)``, ``CheckoutMessage/textIn(_:)``.
public enum Language: String, Hashable, Sendable, CaseIterable, CustomStringConvertible {
    /// English.
    case english = "en"
    /// Russian.
    case russian = "ru"
    /// Kyrgyz.
    case kyrgyz = "ky"

    /// The language of a tag, as devices name it: `ru-KG`, `ky_KG`, `kir`, `Locale.current.identifier`. Any other is English.
    public init(tag: String) {
        guard tag.utf8.count <= longestText else {
            self = .english
            return
        }
        self =
            switch languageFromTag(tag: tag) {
            case .english: .english
            case .russian: .russian
            case .kyrgyz: .kyrgyz
            }
    }

    /// The tag, the same in every language.
    public var description: String { rawValue }

    var core: KassaGenerated.Language {
        switch self {
        case .english: .english
        case .russian: .russian
        case .kyrgyz: .kyrgyz
        }
    }
}
