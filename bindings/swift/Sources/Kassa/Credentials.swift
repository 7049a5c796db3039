internal import KassaGenerated

/// The merchant's login and password, issued by the service's administrator. Never printed.
///
/// They also open the merchant's dashboard, so **they do not belong inside a mobile app**: let a back end create pay-forms for it.
public struct Credentials: Sendable {
    let core: KassaGenerated.Credentials

    init(core: KassaGenerated.Credentials) {
        self.core = core
    }

    /// Credentials for HTTP Basic authentication.
    public init(login: String, password: String) {
        core = .basic(login: login, password: password)
    }
}

extension Credentials: CustomStringConvertible, CustomReflectable {
    /// A mask.
    public var description: String { "Credentials(***)" }

    /// A mask: nothing of the content.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
