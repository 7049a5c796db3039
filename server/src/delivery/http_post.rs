//! The HTTP client of events: no redirects and no proxy, as an event goes to the shop's address alone.

use std::{sync::Arc, time::Duration};

use reqwest::{Client, Url, redirect};
use rustls::{ClientConfig, RootCertStore, crypto::ring};

use super::{Notice, Post};
use crate::{
    surroundings::Boxed,
    values::{
        error::ServerError,
        violation::{Rule, Violation},
    },
};

/// After which time a shop that has not answered has failed.
const DEADLINE: Duration = Duration::from_secs(15);

/// Delivers events to one address of the shop's.
pub struct HttpPost {
    client: Client,
    url: Url,
}

impl HttpPost {
    /// To this address: https, or http to a loopback address.
    ///
    /// # Errors
    /// [`ServerError::Invalid`] for another address, [`ServerError::Unavailable`] where TLS cannot be set up.
    pub fn to(url: &str) -> Result<Self, ServerError> {
        let sentence = "must be an https address, or http on a loopback address";
        let refused = || ServerError::invalid(Violation::new("events_url", Rule::Url, sentence));
        let url = Url::parse(url).map_err(|_| refused())?;
        let is_loopback = match url.host() {
            Some(url::Host::Domain(name)) => name == "localhost",
            Some(url::Host::Ipv4(address)) => address.is_loopback(),
            Some(url::Host::Ipv6(address)) => address.is_loopback(),
            None => false,
        };
        if url.scheme() != "https" && !(url.scheme() == "http" && is_loopback) {
            return Err(refused());
        }
        Ok(Self { client: client()?, url })
    }
}

fn client() -> Result<Client, ServerError> {
    let broken = |problem: &dyn std::fmt::Display| ServerError::unavailable(format!("the client of events: {problem}"));
    let roots = RootCertStore::from_iter(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    let tls = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|problem| broken(&problem))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Client::builder()
        .tls_backend_preconfigured(tls)
        .timeout(DEADLINE)
        .redirect(redirect::Policy::none())
        .no_proxy()
        .user_agent(concat!("kassa-server/", env!("CARGO_PKG_VERSION")))
        .build()
        .map_err(|problem| broken(&problem))
}

impl Post for HttpPost {
    fn post(&self, notice: Notice) -> Boxed<'_, Result<(), String>> {
        let request = self
            .client
            .post(self.url.clone())
            .header("content-type", "application/json")
            .header("webhook-id", notice.id)
            .header("webhook-timestamp", notice.timestamp.to_string())
            .header("webhook-signature", notice.signature)
            .body(notice.body);
        Box::pin(async move {
            match request.send().await {
                Ok(answer) if answer.status().is_success() => Ok(()),
                Ok(answer) => Err(format!("it answered {}", answer.status().as_u16())),
                // Its address may hold a secret of the shop's.
                Err(problem) => Err(problem.without_url().to_string()),
            }
        })
    }
}
