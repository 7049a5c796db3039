internal import KassaGenerated

/// How a ``Gateway`` reaches the payment gateway.
public struct GatewayConfig: Sendable {
    /// The gateway's base URL; a path prefix is allowed. Plain `http` is refused unless the host is loopback, or one of
    /// ``plainHTTPHosts``.
    public var baseURL: String
    /// The merchant's login and password.
    public var credentials: Credentials
    /// The time limit of connecting, including TLS.
    public var connectTimeout: Duration
    /// The time limit of a whole call that moves money: connecting, sending, the response, and all retries. A payment that reaches it may
    /// still have happened.
    public var paymentDeadline: Duration
    /// The time limit of every other call: status queries, pay-forms and QR codes.
    public var queryDeadline: Duration
    /// How often a failed query is retried within the deadline. A payment is retried as often, but only if no connection was made; a
    /// pay-form or a QR code is never retried. From 0 to 4294967295.
    public var queryRetries: Int
    /// How the fields of a status query are sent.
    public var statusQuery: StatusQueryForm
    /// How to read the gateway's responses.
    public var dialect: Dialect
    /// Certificates (PEM) to trust in addition to Mozilla's roots; one text may hold several.
    public var extraRootCertificates: [String]
    /// The proxy to the gateway; those of the environment are used only on request.
    public var proxy: Proxy
    /// Added to the user agent, such as `my-shop/1.2`.
    public var userAgentSuffix: String?
    /// Refuse card numbers with a wrong check digit before they are sent.
    public var checkLuhn: Bool
    /// Hosts that may be called by plain `http`, as machines in a network of your own: whoever listens there reads the credentials and the
    /// cards. None by default; loopback needs no name.
    public var plainHTTPHosts: [String]

    /// A configuration. Nothing is checked here, but by ``Gateway/init(_:journal:)``.
    public init(
        baseURL: String, credentials: Credentials, connectTimeout: Duration = .seconds(10),
        paymentDeadline: Duration = .seconds(60), queryDeadline: Duration = .seconds(30), queryRetries: Int = 2, statusQuery: StatusQueryForm = .jsonBody, dialect: Dialect = Dialect(),
        extraRootCertificates: [String] = [], proxy: Proxy = .direct, userAgentSuffix: String? = nil, checkLuhn: Bool = false,
        plainHTTPHosts: [String] = []
    ) {
        self.baseURL = baseURL
        self.credentials = credentials
        self.connectTimeout = connectTimeout
        self.paymentDeadline = paymentDeadline
        self.queryDeadline = queryDeadline
        self.queryRetries = queryRetries
        self.statusQuery = statusQuery
        self.dialect = dialect
        self.extraRootCertificates = extraRootCertificates
        self.proxy = proxy
        self.userAgentSuffix = userAgentSuffix
        self.checkLuhn = checkLuhn
        self.plainHTTPHosts = plainHTTPHosts
    }
}

extension GatewayConfig {
    /// The configuration from environment variables. Settings without a variable have their default, and can be set afterwards; an empty
    /// variable counts as not set.
    ///
    /// | Variable | |
    /// |---|---|
    /// | `KASSA_URL` | the gateway's base address |
    /// | `KASSA_LOGIN`, `KASSA_PASSWORD` | the merchant's login and password |
    /// | `KASSA_DIALECT` (optional) | a known dialect, such as `finipay`, or the path of a dialect's JSON file |
    /// | `KASSA_PROXY` (optional) | the URL of a proxy, or `environment` for those that `HTTPS_PROXY` and the like name |
    /// | `KASSA_ROOT_CERTIFICATES` (optional) | the path of a PEM file with certificates to trust beside Mozilla's roots |
    /// | `KASSA_PLAIN_HTTP_HOSTS` (optional) | ``plainHTTPHosts``, with commas between them |
    ///
    /// - Throws: ``PaymentError/misconfigured(detail:httpStatus:code:body:)``, once, naming every variable that is missing or invalid,
    ///   without their values.
    public static func fromEnvironment() throws -> GatewayConfig {
        let core = try translated { try configFromEnvironment() }
        return GatewayConfig(
            baseURL: core.baseUrl, credentials: Credentials(core: core.credentials), dialect: Dialect(core: core.dialect),
            extraRootCertificates: core.extraRootCertificates, proxy: Proxy(core: core.proxy),
            plainHTTPHosts: core.plainHttpHosts)
    }
}

/// How the fields of `GET /api/v1.1.0/status` are sent.
public enum StatusQueryForm: String, Hashable, Sendable, CaseIterable, CustomStringConvertible {
    /// As a JSON body, as the interface requires.
    case jsonBody = "json_body"
    /// As a query string, for a proxy that drops the body of a GET.
    case queryString = "query_string"

    /// Its name, the same in every language.
    public var description: String { rawValue }
}

extension GatewayConfig: CustomStringConvertible, CustomReflectable {
    /// The settings, secrets masked.
    public var description: String { described(self) }

    /// The settings, secrets masked: an address that holds credentials is refused later, but it can be printed before.
    public var customMirror: Mirror {
        let isPlain = !baseURL.contains { "@?#".contains($0) }
        let children: KeyValuePairs<String, Any> = [
            "baseURL": isPlain ? baseURL : "(not usable)", "credentials": credentials, "connectTimeout": connectTimeout,
            "paymentDeadline": paymentDeadline, "queryDeadline": queryDeadline, "queryRetries": queryRetries, "statusQuery": statusQuery, "dialect": dialect,
            "extraRootCertificates": extraRootCertificates.count, "proxy": proxy, "userAgentSuffix": userAgentSuffix as Any,
            "checkLuhn": checkLuhn, "plainHTTPHosts": plainHTTPHosts,
        ]
        return Mirror(self, children: children, displayStyle: .struct)
    }
}

extension GatewayConfig {
    /// As the core takes it; what it cannot even be handed is refused here, in its words.
    func core() throws -> KassaGenerated.GatewayConfig {
        guard let retries = UInt32(exactly: queryRetries) else {
            throw PaymentError.misconfigured(detail: "query_retries must be from 0 to \(UInt32.max)")
        }
        return KassaGenerated.GatewayConfig(
            credentials: credentials.core, dialect: dialect.core, proxy: proxy.core, baseUrl: baseURL, connectTimeout: connectTimeout.core,
            paymentDeadline: paymentDeadline.core, queryDeadline: queryDeadline.core, queryRetries: retries,
            statusQuery: statusQuery.core, extraRootCertificates: extraRootCertificates, userAgentSuffix: userAgentSuffix,
            checkLuhn: checkLuhn, plainHttpHosts: plainHTTPHosts)
    }
}

extension StatusQueryForm {
    var core: KassaGenerated.StatusQueryForm {
        switch self {
        case .jsonBody: .jsonBody
        case .queryString: .queryString
        }
    }
}
