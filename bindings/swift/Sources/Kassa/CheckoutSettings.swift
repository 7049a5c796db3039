internal import KassaGenerated

/// How a ``Checkout`` reaches the merchant's server. The defaults are right for most apps.
public struct CheckoutSettings: Sendable {
    /// The time limit of connecting, including TLS.
    public var connectTimeout: Duration
    /// Certificates (PEM) to trust in addition to Mozilla's roots; one text may hold several.
    public var extraRootCertificates: [String]
    /// The proxy to the server; those of the environment are used only on request.
    public var proxy: Proxy
    /// Added to the user agent, such as `my-shop/1.2`.
    public var userAgentSuffix: String?
    /// The payer's language, for the page on which a payment by card is confirmed (3DS). The server's choice unless set.
    public var language: Language?

    /// Settings. Nothing is checked here, but by ``Checkout/init(serverURL:clientToken:settings:renewToken:)``.
    public init(
        connectTimeout: Duration = .seconds(10), extraRootCertificates: [String] = [], proxy: Proxy = .direct,
        userAgentSuffix: String? = nil, language: Language? = nil
    ) {
        self.connectTimeout = connectTimeout
        self.extraRootCertificates = extraRootCertificates
        self.proxy = proxy
        self.userAgentSuffix = userAgentSuffix
        self.language = language
    }
}

extension CheckoutSettings: CustomStringConvertible, CustomReflectable {
    /// The settings, secrets masked.
    public var description: String { described(self) }

    /// The settings, secrets masked.
    public var customMirror: Mirror {
        let children: KeyValuePairs<String, Any> = [
            "connectTimeout": connectTimeout, "extraRootCertificates": extraRootCertificates.count, "proxy": proxy,
            "userAgentSuffix": userAgentSuffix as Any, "language": language as Any,
        ]
        return Mirror(self, children: children, displayStyle: .struct)
    }
}

extension CheckoutSettings {
    var core: KassaGenerated.CheckoutSettings {
        KassaGenerated.CheckoutSettings(
            proxy: proxy.core, connectTimeout: connectTimeout.core, extraRootCertificates: extraRootCertificates,
            userAgentSuffix: userAgentSuffix, language: language?.core)
    }
}
