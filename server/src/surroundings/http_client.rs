//! The HTTP client for what the server itself calls beside the gateway.

use std::{sync::Arc, time::Duration};

use reqwest::{Client, Url, redirect};
use rustls::{ClientConfig, RootCertStore, crypto::ring};

use crate::values::error::ServerError;

/// An address on this machine, which no one else hears.
pub(crate) fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(url::Host::Domain(name)) => name == "localhost",
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// Without redirects and proxies: what is sent goes to the address that was set, and to no other.
pub(crate) fn http_client(deadline: Duration) -> Result<Client, ServerError> {
    let broken = |problem: &dyn std::fmt::Display| ServerError::unavailable(format!("the HTTP client: {problem}"));
    let roots = RootCertStore::from_iter(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    let tls = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|problem| broken(&problem))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Client::builder()
        .tls_backend_preconfigured(tls)
        .timeout(deadline)
        .redirect(redirect::Policy::none())
        .no_proxy()
        .user_agent(concat!("kassa-server/", env!("CARGO_PKG_VERSION")))
        .build()
        .map_err(|problem| broken(&problem))
}
