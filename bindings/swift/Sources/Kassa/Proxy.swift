internal import KassaGenerated

/// The way to the gateway: direct, or through a proxy. The URL of a proxy may hold a user and a password, so it is never printed.
public struct Proxy: Sendable {
    let core: KassaGenerated.Proxy

    init(core: KassaGenerated.Proxy) {
        self.core = core
    }

    /// No proxy, whatever the environment says. The default.
    public static let direct = Proxy(core: .direct())

    /// The proxies that the environment names (`HTTPS_PROXY` and the like). A gateway with plain http, on this machine, is reached
    /// past them.
    public static let environment = Proxy(core: .environment())

    /// A proxy by its http or https URL. The gateway's base URL has to be https: plain http is for a gateway on this machine alone,
    /// and goes past any proxy.
    public static func url(_ url: String) -> Proxy {
        Proxy(core: .fromUrl(url: url))
    }
}

extension Proxy: CustomStringConvertible, CustomReflectable {
    /// Which way, without the URL.
    public var description: String { core.asText() }

    /// Nothing of what is inside.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
