//! The peer of a connection, the payment gateway or the merchant's own server: its address, and the proxy to it.

use std::{fmt, time::Duration};

use url::{Host, ParseError, Url};

use crate::{error::PaymentError, secret::Secret};

/// The peer, as the transport needs it.
pub(crate) struct Peer<'a> {
    /// The name of the object that uses it, for errors.
    pub(crate) name: &'static str,
    /// The base address, which ends in a slash.
    pub(crate) base_url: Url,
    /// Login and password for HTTP Basic authentication, in the form of the header; `None` if each request has its own credentials.
    pub(crate) basic_token: Option<Secret>,
    pub(crate) way: &'a ProxyRoute,
    pub(crate) extra_root_certificates: &'a [String],
    pub(crate) connect_timeout: Duration,
    pub(crate) user_agent_suffix: Option<&'a str>,
}

/// A base address, checked, ending in a slash so that paths can be joined to it. Plain http is allowed only to a loopback address, or to
/// one of these hosts.
pub(crate) fn checked_base_url(field: &str, text: &str, plain_http_hosts: &[String]) -> Result<Url, PaymentError> {
    let wrong = |what: String| Err(PaymentError::misconfigured(format!("{field} {what}")));
    let mut url = match Url::parse(text) {
        // `pay.example.kg` has no scheme, and that of `pay.example.kg:8443` would be `pay.example.kg`.
        Err(ParseError::RelativeUrlWithoutBase) => return wrong("must begin with https://".to_owned()),
        Ok(url) if url.cannot_be_a_base() => return wrong("must begin with https://".to_owned()),
        Ok(url) => url,
        Err(problem) => return wrong(format!("is not a URL: {problem}")),
    };
    if !url.username().is_empty() || url.password().is_some() {
        return wrong("must not hold credentials; they have a setting of their own".to_owned());
    }
    if url.query().is_some() || url.fragment().is_some() {
        return wrong("must not have a query or a fragment".to_owned());
    }
    let is_named = url.scheme() == "http" && is_one_of(&url, plain_http_hosts);
    if !is_https_or_loopback(&url) && !is_named {
        let named = if field == "base_url" { ", or to a host that plain_http_hosts names" } else { "" };
        return wrong(format!("must be https, or http to a loopback address{named}"));
    }
    if !url.path().ends_with('/') {
        url.set_path(&format!("{}/", url.path()));
    }
    Ok(url)
}

// Allowlist of addresses: TLS everywhere, plain HTTP only to this machine.

/// True for the only addresses that money, credentials and payers are sent to.
pub(crate) fn is_https_or_loopback(url: &Url) -> bool {
    match url.scheme() {
        "https" => url.has_host(),
        "http" => is_loopback(url),
        _ => false,
    }
}

/// The same for an arbitrary text.
pub(crate) fn is_https_or_loopback_text(text: &str) -> bool {
    Url::parse(text).is_ok_and(|url| is_https_or_loopback(&url))
}

/// Whether the host of a URL is one of these, as a whole: there are no wildcards.
fn is_one_of(url: &Url, hosts: &[String]) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    hosts.iter().any(|named| named.trim_matches(['[', ']']).eq_ignore_ascii_case(host))
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        // Not `x.localhost`: some systems resolve such names by DNS, which could lead anywhere.
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

// HTTP proxies.

/// How the gateway is reached: directly, or through a proxy.
///
/// A proxy carries TLS, and sees only the gateway's host and port. Plain http, which is for a gateway on this machine (loopback) or a host
/// that [`GatewayConfig::with_plain_http_hosts`] names, is never sent to a proxy: the proxy, and anyone on the network path to it, could
/// read card numbers and credentials.
///
/// [`GatewayConfig::with_plain_http_hosts`]: crate::GatewayConfig::with_plain_http_hosts
///
/// The URL of a proxy may hold a user and a password, so it is never printed.
///
/// ```
/// use kassa::Proxy;
/// assert_eq!(format!("{:?}", Proxy::url("http://me:secret@proxy.example:3128")), "Proxy(url, ***)");
/// ```
#[cfg_attr(feature = "uniffi", derive(uniffi::Object))]
#[derive(Clone, Default)]
pub struct Proxy(pub(crate) ProxyRoute);

/// The possible routes.
#[derive(Clone, Default)]
pub(crate) enum ProxyRoute {
    #[default]
    Direct,
    Environment,
    Url(Secret),
}

impl Proxy {
    /// No proxy, whatever the environment says. The default.
    pub fn direct() -> Self {
        Self(ProxyRoute::Direct)
    }

    /// The proxies in `HTTPS_PROXY` and similar variables. A gateway with plain http is called directly.
    pub fn environment() -> Self {
        Self(ProxyRoute::Environment)
    }

    /// A proxy by its http or https URL. The gateway's base URL must be https: with plain http, creating a gateway
    /// fails with [`PaymentError::Misconfigured`].
    pub fn url(url: impl Into<String>) -> Self {
        Self(ProxyRoute::Url(Secret::new(url)))
    }

    /// The route to a gateway: plain http, which never leaves this machine or its network, bypasses every proxy.
    pub(crate) fn way_to(&self, base_url: &Url) -> Result<&ProxyRoute, PaymentError> {
        let is_plain = base_url.scheme() != "https";
        match &self.0 {
            ProxyRoute::Url(url) if !is_proxy(url.expose()) => Err(unusable_proxy()),
            ProxyRoute::Url(_) if is_plain => {
                Err(PaymentError::misconfigured("proxy needs an https base_url: plain http goes past any proxy"))
            }
            ProxyRoute::Environment if is_plain => Ok(&ProxyRoute::Direct),
            way => Ok(way),
        }
    }
}

/// The HTTP client ignores a proxy of another scheme, and would connect to the gateway directly.
pub(crate) fn is_proxy(url: &str) -> bool {
    Url::parse(url).is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
}

/// Redaction: the URL is not quoted, as it may hold the proxy's password.
pub(crate) fn unusable_proxy() -> PaymentError {
    PaymentError::misconfigured("proxy must be the http or https URL of a proxy")
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            ProxyRoute::Direct => "Proxy(direct)",
            ProxyRoute::Environment => "Proxy(environment)",
            ProxyRoute::Url(_) => "Proxy(url, ***)",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_http_goes_past_every_proxy() {
        let way = |proxy: &Proxy, base_url: &str| match proxy.way_to(&Url::parse(base_url).unwrap()) {
            Ok(ProxyRoute::Direct) => "direct",
            Ok(ProxyRoute::Environment) => "environment",
            Ok(ProxyRoute::Url(_)) => "url",
            Err(_) => "refused",
        };
        let given = Proxy::url("http://proxy.example:3128");
        for (base_url, ways) in [
            ("https://pay.example.kg", ["direct", "environment", "url"]),
            ("https://127.0.0.1:1", ["direct", "environment", "url"]),
            ("http://127.0.0.1:1", ["direct", "direct", "refused"]),
            ("http://localhost", ["direct", "direct", "refused"]),
            ("http://sandbox:8400", ["direct", "direct", "refused"]),
        ] {
            let found = [&Proxy::direct(), &Proxy::environment(), &given].map(|proxy| way(proxy, base_url));
            assert_eq!(found, ways, "{base_url}");
        }
    }
}
