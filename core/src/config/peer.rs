//! The other side of a line, and how it is reached: the payment gateway, or the merchant's own server.

use std::time::Duration;

use url::{ParseError, Url};

use crate::{
    config::{address::is_https_or_loopback, proxy::Way},
    error::PaymentError,
    secret::Secret,
};

/// What transport needs to know of it.
pub(crate) struct Peer<'a> {
    /// What is made with it, for errors.
    pub(crate) name: &'static str,
    /// The base address, which ends in a slash.
    pub(crate) base_url: Url,
    /// Login and password for HTTP Basic authentication, as a header carries them; nothing where each request says who asks.
    pub(crate) basic_token: Option<Secret>,
    pub(crate) way: &'a Way,
    pub(crate) extra_root_certificates: &'a [String],
    pub(crate) connect_timeout: Duration,
    pub(crate) user_agent_suffix: Option<&'a str>,
}

/// A base address, checked, ending in a slash so that paths can be joined to it.
pub(crate) fn checked_base_url(field: &str, text: &str) -> Result<Url, PaymentError> {
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
    if !is_https_or_loopback(&url) {
        return wrong("must be https, or http to a loopback address".to_owned());
    }
    if !url.path().ends_with('/') {
        url.set_path(&format!("{}/", url.path()));
    }
    Ok(url)
}
