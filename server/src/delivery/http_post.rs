//! Events over HTTP.

use std::time::Duration;

use reqwest::{Client, Url};

use super::{Notice, Post, headers};
use crate::{
    spans,
    surroundings::{Boxed, http_client, is_loopback},
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
        if url.scheme() != "https" && !(url.scheme() == "http" && is_loopback(&url)) {
            return Err(refused());
        }
        Ok(Self { client: http_client(DEADLINE)?, url })
    }
}

impl Post for HttpPost {
    fn post(&self, notice: Notice) -> Boxed<'_, Result<(), String>> {
        let request = self
            .client
            .post(self.url.clone())
            .header("content-type", "application/json")
            .header(headers::ID, notice.id)
            .header(headers::TIMESTAMP, notice.timestamp.to_string())
            .header(headers::SIGNATURE, notice.signature)
            .body(notice.body);
        Box::pin(async move {
            match request.headers(spans::headers()).send().await {
                Ok(answer) if answer.status().is_success() => Ok(()),
                Ok(answer) => Err(format!("it answered {}", answer.status().as_u16())),
                // Its address may hold a secret of the shop's.
                Err(problem) => Err(problem.without_url().to_string()),
            }
        })
    }
}
