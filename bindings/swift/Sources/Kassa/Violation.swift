internal import KassaGenerated

/// A broken rule of one input field. An error has all of them.
///
/// The value itself is never part of it, so it is safe to log.
public struct Violation: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The field, by its name in the gateway's interface, such as `callbackURL` of a pay-form.
    public let field: String
    /// The rule that is broken.
    public let rule: Rule
    /// The rule's limit, if it has one, such as `3` or `13 to 20`.
    public let limit: String?
    /// One sentence that names the field and the rule, in English; ``textIn(_:)`` has other languages.
    public let text: String

    /// For tests of your own code.
    public init(field: String, rule: Rule, limit: String? = nil, text: String) {
        self.field = field
        self.rule = rule
        self.limit = limit
        self.text = text
    }

    /// The text for the payer in a language: fields that a payer types have a translated name (card number, expiry, CVC, holder's name,
    /// phone, code from the SMS), others their own name.
    public func textIn(_ language: Language) -> String {
        canBeHandedOn([field, limit ?? "", text]) ? core.textIn(language: language.core) : text
    }

    /// The sentence.
    public var description: String { text }
}

/// The rules that an input can break.
public enum Rule: String, Hashable, Sendable, Codable, CaseIterable, CustomStringConvertible {
    /// The field must be given and not be blank.
    case required
    /// The field must have an exact number of characters (or of digits).
    case length
    /// The amount must not be under a minimum.
    case minimum
    /// Only the digits 0 to 9 are allowed.
    case digits
    /// Only the letters A to Z are allowed.
    case letters
    /// A month is written `01` to `12`.
    case month
    /// An absolute http or https URL is needed.
    case httpURL = "http_url"
    /// An absolute URI is needed (a deep link will do), but not one of a scheme that a browser would run or read from.
    case returnURI = "return_uri"
    /// An IPv4 or IPv6 address is needed.
    case ipAddress = "ip_address"
    /// The value must be one of a few.
    case oneOf = "one_of"
    /// The check digit of the card number is wrong. Checked only if the configuration enables it.
    case luhn
    /// The text does not have the required format.
    case format
    /// The signature must be one that this key made for this purpose.
    case signature
    /// The value cannot be sent or converted without rounding: it has too many decimals, or is too large.
    case exact
    /// The card's expiry is in the past. A violation only in a ``CardInput``; for a payment it is advice.
    case expired
    /// The action does not fit the state of its ``Checkout``.
    case state

    /// Its name, the same in every language.
    public var description: String { rawValue }
}

/// A recommendation of the interface, or something that will probably be declined. It blocks nothing.
public struct Advice: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The field, by its name in the gateway's interface.
    public let field: String
    /// The topic.
    public let topic: AdviceTopic
    /// One sentence, in English; ``textIn(_:)`` has other languages.
    public let text: String

    /// For tests of your own code.
    public init(field: String, topic: AdviceTopic, text: String) {
        self.field = field
        self.topic = topic
        self.text = text
    }

    /// The text for the payer in a language. Fields are named as in ``Violation/textIn(_:)``.
    public func textIn(_ language: Language) -> String {
        canBeHandedOn([field, text]) ? core.textIn(language: language.core) : text
    }

    /// The sentence.
    public var description: String { text }
}

/// The topic of advice.
public enum AdviceTopic: String, Hashable, Sendable, Codable, CaseIterable, CustomStringConvertible {
    /// The order number has characters other than A-Z a-z 0-9 - _, which can fail in transmission, storage or encryption.
    case orderNumberCharacters = "order_number_characters"
    /// A pay-form under 5 KGS will not offer MegaPay.
    case megaPayMinimum = "mega_pay_minimum"
    /// The check digit of the card number is wrong: probably a mistyped digit.
    case cardNumberMistyped = "card_number_mistyped"
    /// The card's expiry is in the past.
    case cardExpired = "card_expired"
    /// The phone number is not a number of Kyrgyzstan (`996XXXXXXXXX`), as the interface's test numbers are.
    case phoneFormat = "phone_format"
    /// The return URL has a `#`: the gateway may add its parameters after it, where servers do not see them.
    case returnURLFragment = "return_url_fragment"
    /// The dialect leaves a setting open, or does not find a value in a response.
    case dialect

    /// Its name, the same in every language.
    public var description: String { rawValue }
}

extension Violation {
    init(_ core: KassaGenerated.Violation) {
        self.init(field: core.field, rule: Rule(core.rule), limit: core.limit, text: core.text)
    }

    var core: KassaGenerated.Violation {
        KassaGenerated.Violation(field: field, rule: rule.core, limit: limit, text: text)
    }
}

extension Rule {
    init(_ core: KassaGenerated.Rule) {
        self =
            switch core {
            case .required: .required
            case .length: .length
            case .minimum: .minimum
            case .digits: .digits
            case .letters: .letters
            case .month: .month
            case .httpUrl: .httpURL
            case .returnUri: .returnURI
            case .ipAddress: .ipAddress
            case .oneOf: .oneOf
            case .luhn: .luhn
            case .format: .format
            case .signature: .signature
            case .exact: .exact
            case .expired: .expired
            case .state: .state
            }
    }

    var core: KassaGenerated.Rule {
        switch self {
        case .required: .required
        case .length: .length
        case .minimum: .minimum
        case .digits: .digits
        case .letters: .letters
        case .month: .month
        case .httpURL: .httpUrl
        case .returnURI: .returnUri
        case .ipAddress: .ipAddress
        case .oneOf: .oneOf
        case .luhn: .luhn
        case .format: .format
        case .signature: .signature
        case .exact: .exact
        case .expired: .expired
        case .state: .state
        }
    }
}

extension Advice {
    init(_ core: KassaGenerated.Advice) {
        self.init(field: core.field, topic: AdviceTopic(core.topic), text: core.text)
    }

    var core: KassaGenerated.Advice {
        KassaGenerated.Advice(field: field, topic: topic.core, text: text)
    }
}

extension AdviceTopic {
    init(_ core: KassaGenerated.AdviceTopic) {
        self =
            switch core {
            case .orderNumberCharacters: .orderNumberCharacters
            case .megaPayMinimum: .megaPayMinimum
            case .cardNumberMistyped: .cardNumberMistyped
            case .cardExpired: .cardExpired
            case .phoneFormat: .phoneFormat
            case .returnUrlFragment: .returnURLFragment
            case .dialect: .dialect
            }
    }

    var core: KassaGenerated.AdviceTopic {
        switch self {
        case .orderNumberCharacters: .orderNumberCharacters
        case .megaPayMinimum: .megaPayMinimum
        case .cardNumberMistyped: .cardNumberMistyped
        case .cardExpired: .cardExpired
        case .phoneFormat: .phoneFormat
        case .returnURLFragment: .returnUrlFragment
        case .dialect: .dialect
        }
    }
}
