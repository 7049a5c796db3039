//! The HTTP client of callbacks: no redirects, no proxy and no connection pool, as a kept connection that the receiver
//! just closed would cost an attempt.

use std::{error::Error, sync::Arc, time::Duration};

use reqwest::{Client, redirect};
use rustls::{ClientConfig, RootCertStore, crypto::ring};

use crate::settings::SandboxError;

/// The client for callbacks. It follows no redirect and uses no proxy: a callback goes to its target alone.
pub(crate) fn client(timeout: Duration, roots: RootCertStore) -> Result<Client, SandboxError> {
    let tls = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| SandboxError::System(error.to_string()))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Client::builder()
        .tls_backend_preconfigured(tls)
        .timeout(timeout)
        .redirect(redirect::Policy::none())
        .no_proxy()
        // A kept connection that the receiver just closed would cost an attempt.
        .pool_max_idle_per_host(0)
        .user_agent(concat!("kassa-sandbox/", env!("CARGO_PKG_VERSION")))
        .build()
        .map_err(|error| SandboxError::System(describe(&error)))
}

/// An error with its causes: the outermost alone says nothing of use.
pub(super) fn describe(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}
