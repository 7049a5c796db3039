//! Events over HTTP.

use std::time::Duration;

use reqwest::{Client, Url};

use super::{NotTaken, Notice, Post, headers};
use crate::{
    spans,
    surroundings::{Boxed, http_client, is_loopback},
    values::{
        error::ServerError,
        violation::{Rule, Violation},
    },
};

/// The answers that refuse an event for what it is. 401, 403, 404, 405, 410 and 429 are about the address or the whole shop.
const REFUSALS: [u16; 6] = [400, 406, 409, 415, 422, 501];

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
    fn post(&self, notice: Notice) -> Boxed<'_, Result<(), NotTaken>> {
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
                Ok(answer) => {
                    let status = answer.status().as_u16();
                    Err(NotTaken { why: format!("it answered {status}"), is_refusal: REFUSALS.contains(&status) })
                }
                // Its address may hold a secret of the shop's.
                Err(problem) => Err(NotTaken::failed(problem.without_url().to_string())),
            }
        })
    }
}
