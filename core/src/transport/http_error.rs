//! Errors of the HTTP client: whether a retry can help, and their text in one line.

use std::{error::Error, io};

use rustls::{CertificateError, InvalidMessage};

use super::Failure;
use crate::{
    config::peer::{Peer, ProxyRoute},
    transport::connection::Stage,
};

/// The text about a certificate that is not valid yet by the clock, which a payer can correct.
pub(crate) const NOT_VALID_YET: &str = "is not valid yet";

/// The peer, as errors name it. Redaction: only host and port of its URL, which are not secret.
pub(super) struct Target {
    /// Host and port.
    address: String,
    /// The host name to look up (DNS).
    host_name: String,
    /// The route, which is added to the address.
    way: &'static str,
    /// The setting with its URL.
    url_setting: &'static str,
    /// The setting with the trusted certificates.
    roots_setting: &'static str,
}

impl Target {
    pub(super) fn of(peer: &Peer<'_>) -> Self {
        let host = peer.base_url.host_str().unwrap_or_default();
        let port = peer.base_url.port_or_known_default();
        let (host_name, way) = match peer.way {
            ProxyRoute::Direct => (format!("the host name {host}"), ""),
            ProxyRoute::Environment => (
                format!("the host name {host}, or that of a proxy,"),
                ", directly or through a proxy of the environment,",
            ),
            ProxyRoute::Url(_) => ("the host name of the proxy".to_owned(), " through the proxy"),
        };
        let (url_setting, roots_setting) = match peer.name {
            "gateway" => ("base_url (KASSA_URL)", "extra_root_certificates (KASSA_ROOT_CERTIFICATES)"),
            _ => ("server_url", "extra_root_certificates"),
        };
        Self {
            address: port.map_or_else(|| host.to_owned(), |port| format!("{host}:{port}")),
            host_name,
            way,
            url_setting,
            roots_setting,
        }
    }

    /// Why no response arrived, by whether the gateway may have seen the request.
    pub(super) fn failure(&self, problem: &reqwest::Error, sent: bool, stage: Stage) -> Failure {
        if sent {
            return Failure::Lost { detail: causes(problem) };
        }
        match self.what_cannot_work(problem) {
            Some(detail) => Failure::Misconfigured { detail },
            None => Failure::NotConnected { detail: self.not_connected(problem, stage) },
        }
    }

    /// Permanent errors: they repeat until a person changes a setting, a certificate or a clock.
    fn what_cannot_work(&self, problem: &reqwest::Error) -> Option<String> {
        let side = self.side(problem);
        chain(problem).find_map(|cause| {
            // The HTTP client has no public type for it.
            if cause.to_string().ends_with("proxy authorization required") {
                return Some("the proxy wants a user and a password: put them into its URL".to_owned());
            }
            match tls_error(cause)? {
                rustls::Error::InvalidCertificate(why) => Some(self.certificate(side, why)),
                rustls::Error::InvalidMessage(
                    InvalidMessage::InvalidContentType | InvalidMessage::UnknownProtocolVersion,
                ) => Some(format!("{side} does not speak TLS (is it http?): check {}", self.url_setting)),
                _ => None,
            }
        })
    }

    /// The problem with a certificate, and which one is needed.
    fn certificate(&self, side: &str, why: &CertificateError) -> String {
        let Self { roots_setting, url_setting, .. } = self;
        let clock = "check the date and the time of this machine; if they are right, the other side needs a new one";
        match why {
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
                format!("the certificate of {side} has expired: {clock}")
            }
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
                format!("the certificate of {side} {NOT_VALID_YET}: {clock}")
            }
            CertificateError::UnknownIssuer => format!(
                "the certificate of {side} is not signed by a trusted authority: add the certificate of the \
                 authority that signed it (CA, PEM) to {roots_setting}"
            ),
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                format!("the certificate of {side} is for another host: check {url_setting} ({why})")
            }
            // The verifier has no public variant for it.
            other if format!("{other:?}").contains("CaUsedAsEndEntity") => format!(
                "the certificate of {side} is that of an authority (CA) and not of a server: the server needs one that the \
                 authority has signed, and the authority's own belongs into {roots_setting}"
            ),
            other => format!("the certificate of {side} cannot be used: {other}"),
        }
    }

    fn not_connected(&self, problem: &reqwest::Error, stage: Stage) -> String {
        let Self { address, host_name, way, .. } = self;
        let Some(root) = chain(problem).last().filter(|_| problem.is_connect()) else { return causes(problem) };
        if problem.is_timeout() && stage == Stage::LookingUp {
            format!("looking up {host_name} did not end in time")
        } else if problem.is_timeout() {
            format!("no connection to {address}{way} was made in time")
        } else if problem.is_dns() {
            format!("{host_name} could not be looked up: {}", words(root))
        } else if let Some(error) = chain(problem).find_map(tls_error) {
            format!("TLS with {} failed: {error}", self.side(problem))
        } else if is_of_proxy(problem) {
            format!("could not connect to the proxy on the way to {address}: {}", words(root))
        } else {
            format!("could not connect to {address}{way}: {}", words(root))
        }
    }

    /// The side that caused a connection error.
    fn side(&self, problem: &reqwest::Error) -> &str {
        if is_of_proxy(problem) { "the proxy" } else { &self.address }
    }
}

/// Whether the proxy itself could not be reached. The HTTP client has no public type for it.
fn is_of_proxy(problem: &reqwest::Error) -> bool {
    chain(problem).any(|cause| cause.source().is_some() && cause.to_string().starts_with("tunnel error:"))
}

/// The TLS error inside I/O errors: an I/O error does not report a wrapped error as its source, and may wrap another I/O error.
fn tls_error<'a>(cause: &'a (dyn Error + 'static)) -> Option<&'a rustls::Error> {
    match cause.downcast_ref::<io::Error>() {
        Some(io) => tls_error(io.get_ref()?),
        None => cause.downcast_ref(),
    }
}

/// The text of a cause, without the system's error number.
fn words(cause: &(dyn Error + 'static)) -> String {
    use io::ErrorKind::{
        AddrNotAvailable, ConnectionAborted, ConnectionRefused, ConnectionReset, HostUnreachable, NetworkDown,
        NetworkUnreachable, PermissionDenied, TimedOut,
    };
    match cause.downcast_ref::<io::Error>().map(io::Error::kind) {
        Some(
            kind @ (AddrNotAvailable | ConnectionAborted | ConnectionRefused | ConnectionReset | HostUnreachable
            | NetworkDown | NetworkUnreachable | PermissionDenied | TimedOut),
        ) => kind.to_string(),
        _ => cause.to_string(),
    }
}

/// The whole chain in one line, without the URL: its query contains identifiers.
pub(super) fn causes(problem: &reqwest::Error) -> String {
    let kind = if problem.is_timeout() {
        "timed out"
    } else if problem.is_connect() {
        "no connection"
    } else {
        "the exchange failed"
    };
    chain(problem).skip(1).fold(kind.to_owned(), |line, cause| format!("{line}: {cause}"))
}

fn chain(problem: &reqwest::Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
    let mut next = Some(problem as &(dyn Error + 'static));
    std::iter::from_fn(move || {
        let cause = next?;
        next = cause.source();
        Some(cause)
    })
}

#[cfg(test)]
mod tests {
    use std::{sync::Arc, time::Duration};

    use rustls::{OtherError, pki_types::UnixTime};
    use url::Url;

    use super::*;

    fn target(name: &'static str, base_url: &str) -> Target {
        Target::of(&Peer {
            name,
            base_url: Url::parse(base_url).unwrap(),
            basic_token: None,
            way: &ProxyRoute::Direct,
            extra_root_certificates: &[],
            connect_timeout: Duration::from_secs(10),
            user_agent_suffix: None,
        })
    }

    #[test]
    fn target_is_named_by_host_and_port_alone() {
        for (base_url, address) in [
            ("https://pay.example.kg/token-of-a-tenant/", "pay.example.kg:443"),
            ("http://127.0.0.1:8400/", "127.0.0.1:8400"),
            ("https://[::1]:8443/", "[::1]:8443"),
        ] {
            assert_eq!(target("gateway", base_url).address, address);
        }
    }

    #[test]
    fn certificate_that_fails_says_what_to_do() {
        let at = |seconds| UnixTime::since_unix_epoch(Duration::from_secs(seconds));
        let old = CertificateError::ExpiredContext { time: at(2), not_after: at(1) };
        let young = CertificateError::NotValidYetContext { time: at(1), not_before: at(2) };
        let authority = CertificateError::Other(OtherError(Arc::new(io::Error::other("CaUsedAsEndEntity"))));
        let roots = "extra_root_certificates (KASSA_ROOT_CERTIFICATES)";
        for (why, words) in [
            (&old, ["has expired", "the date and the time of this machine"]),
            (&young, ["is not valid yet", "the date and the time of this machine"]),
            (&CertificateError::UnknownIssuer, ["not signed by a trusted authority", roots]),
            (&CertificateError::NotValidForName, ["is for another host", "base_url (KASSA_URL)"]),
            (&authority, ["that of an authority (CA)", roots]),
            (&CertificateError::Revoked, ["cannot be used", "Revoked"]),
        ] {
            let said = target("gateway", "https://pay.example.kg").certificate("pay.example.kg:443", why);
            assert!(said.starts_with("the certificate of pay.example.kg:443 "), "{said}");
            assert!(words.iter().all(|word| said.contains(word)), "{said}");
            let of_checkout = target("checkout", "https://shop.example.kg").certificate("shop.example.kg:443", why);
            assert!(!of_checkout.contains("KASSA_"), "a checkout has no variables: {of_checkout}");
        }
    }
}
