internal import KassaGenerated

/// The way to the gateway: direct, or through a proxy. The URL of a proxy may hold a user and a password, so it is never printed.
public struct Proxy: Sendable {
    let core: KassaGenerated.Proxy

    init(core: KassaGenerated.Proxy) {
        self.core = core
    }

    /// No proxy, even if the environment names one. The default.
    public static let direct = Proxy(core: .direct())

    /// The proxies that the environment names (`HTTPS_PROXY` and the like). They are not used for a plain http gateway on this machine.
    public static let environment = Proxy(core: .environment())

    /// A proxy by its http or https URL. The gateway's base URL must be https: plain http is only for a gateway on this machine, which
    /// bypasses any proxy.
    public static func url(_ url: String) -> Proxy {
        Proxy(core: .fromUrl(url: url))
    }
}

extension Proxy: CustomStringConvertible, CustomReflectable {
    /// Which way, without the URL.
    public var description: String { core.asText() }

    /// A mask: nothing of the content.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
