//! Allowlist of addresses: TLS everywhere, plain HTTP to this machine alone.

use url::{Host, Url};

/// True for the only addresses that money, credentials and payers are sent to.
pub(crate) fn is_https_or_loopback(url: &Url) -> bool {
    match url.scheme() {
        "https" => url.has_host(),
        "http" => is_loopback(url),
        _ => false,
    }
}

/// The same for a text, which may be anything.
pub(crate) fn is_https_or_loopback_text(text: &str) -> bool {
    Url::parse(text).is_ok_and(|url| is_https_or_loopback(&url))
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
