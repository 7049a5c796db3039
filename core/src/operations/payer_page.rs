//! Validation of pages for the payer: an address out of a response is checked before anybody opens it.

use url::Url;

use crate::{
    config::address::is_https_or_loopback,
    response::reader::{NotAnAnswer, ResponseReader},
};

/// A page that the gateway wants the payer to open. Only https (or loopback) is allowed, because what the payer enters
/// on another page could be read on its way; and no secret in the address, because servers log addresses. What counts as
/// one there: `docs/outcomes.md#secrets-in-responses`.
pub(super) fn payer_page(name: &str, text: &str, response: &ResponseReader<'_>) -> Result<Url, NotAnAnswer> {
    let page = Url::parse(text).ok().filter(is_https_or_loopback);
    let page = page.ok_or_else(|| NotAnAnswer::because(format!("the response's {name} is not an https URL")))?;
    if response.is_clean_page(&page) {
        Ok(page)
    } else {
        Err(NotAnAnswer::because(format!("the response's {name} holds a secret")))
    }
}

/// Deserialization (serde): a page that would not have been taken from a response is not read either.
#[cfg(feature = "serde")]
pub(super) fn read<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    use serde::{Deserialize as _, de::Error as _};

    let text = String::deserialize(deserializer)?;
    let is_page = crate::config::address::is_https_or_loopback_text(&text);
    is_page.then_some(text).ok_or_else(|| D::Error::custom("a page for the payer is an https URL"))
}
