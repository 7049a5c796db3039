//! The settings of the HTTP interface.

use std::time::Duration;

use url::Url;

use crate::{net::Proxies, values::Hidden};

/// The settings of [`router`](super::router).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HttpSettings {
    /// The address under which others reach the server, such as `https://pay.shop.example.kg`.
    pub public_url: String,
    /// The time that a request to begin or confirm a payment waits for its outcome. After that, the response is 202, and the app polls.
    pub answer_within: Duration,
    /// The longest that a long poll may wait.
    pub longest_wait: Duration,
    /// The deadline of receiving a body.
    pub body_deadline: Duration,
    /// The largest body, in bytes.
    pub largest_body: usize,
    /// The proxies before the server, whose `X-Forwarded-For` is trusted.
    pub proxies: Proxies,
    /// The most requests a second of an address, with a client token or without any key. Thousands of phones share one address.
    pub per_address: u32,
    /// The most requests a second for a client token's checkout, and for its hosted page.
    pub per_token: u32,
    /// The most requests a second of an API key.
    pub per_key: u32,
    /// Whether responses contain the URL of a checkout's hosted page: true if [`pay_router`](crate::pay_router) is merged in.
    pub has_pay_page: bool,
}

/// The path of a public address, such as `/kassa`; usually empty. The proxy before the server strips it from requests, and every
/// address in a page begins with it.
pub(crate) fn path_prefix(public_url: &str) -> String {
    Url::parse(public_url).map(|url| url.path().trim_end_matches('/').to_owned()).unwrap_or_default()
}

impl HttpSettings {
    /// The URL of the hosted page with this secret. It is a capability: only the shop's responses contain it.
    pub(crate) fn page_url(&self, secret: &Hidden) -> String {
        format!("{}/pay/{}", self.public_url.trim_end_matches('/'), secret.expose())
    }

    /// The default settings, for a server at this public address.
    pub fn new(public_url: impl Into<String>) -> Self {
        Self {
            public_url: public_url.into(),
            answer_within: Duration::from_secs(10),
            longest_wait: Duration::from_secs(30),
            body_deadline: Duration::from_secs(10),
            largest_body: 64 * 1024,
            proxies: Proxies::default(),
            per_address: 200,
            per_token: 10,
            per_key: 2000,
            has_pay_page: false,
        }
    }
}
