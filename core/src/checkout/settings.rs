//! How a checkout connects to the merchant's server: its settings, and the client token.

use std::{sync::Arc, time::Duration};

use crate::{
    config::{
        gateway_config::check_time,
        peer::{Peer, Proxy, checked_base_url},
    },
    error::PaymentError,
    i18n::Language,
    secret::Secret,
};

/// How a [`Checkout`](crate::Checkout) connects to the merchant's server. The defaults suit most apps.
///
/// ```
/// use std::time::Duration;
/// use kassa::CheckoutSettings;
///
/// let settings = CheckoutSettings::default().with_user_agent_suffix("my-shop/1.2");
/// assert_eq!(settings.connect_timeout, Duration::from_secs(10));
/// ```
#[cfg_attr(feature = "uniffi", derive(uniffi::Record))]
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CheckoutSettings {
    /// How the server is reached. Default: direct; proxies in the environment are used only on request. Objects come first in records that
    /// cross the language boundary (`docs/adr/0002-runtime-and-boundary.md`).
    pub(crate) proxy: Arc<Proxy>,
    /// The connect timeout: how long making a connection may take, TLS included. Default: 10 s.
    pub connect_timeout: Duration,
    /// Certificates (PEM) to trust in addition to Mozilla's roots; one string may hold several.
    pub extra_root_certificates: Vec<String>,
    /// Added to the user agent, such as `my-shop/1.2`.
    pub user_agent_suffix: Option<String>,
    /// The payer's language, for the page on which a card payment is confirmed (3DS). Default: the server's choice.
    pub language: Option<Language>,
}

impl Default for CheckoutSettings {
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(10),
            extra_root_certificates: Vec::new(),
            proxy: Arc::default(),
            user_agent_suffix: None,
            language: None,
        }
    }
}

impl CheckoutSettings {
    /// Sets the connect timeout.
    #[must_use]
    pub fn with_connect_timeout(self, connect_timeout: Duration) -> Self {
        Self { connect_timeout, ..self }
    }

    /// Adds certificates (PEM) to trust in addition to those already trusted; one string may hold several.
    #[must_use]
    pub fn with_extra_root_certificates(mut self, pem: impl Into<String>) -> Self {
        self.extra_root_certificates.push(pem.into());
        self
    }

    /// Sets how the server is reached: directly, or through a proxy.
    #[must_use]
    pub fn with_proxy(self, proxy: Proxy) -> Self {
        Self { proxy: proxy.into(), ..self }
    }

    /// Sets an addition to the user agent, such as `my-shop/1.2`.
    #[must_use]
    pub fn with_user_agent_suffix(self, suffix: impl Into<String>) -> Self {
        Self { user_agent_suffix: Some(suffix.into()), ..self }
    }

    /// Sets the payer's language.
    #[must_use]
    pub fn with_language(self, language: Language) -> Self {
        Self { language: Some(language), ..self }
    }

    /// How the server is reached.
    pub fn proxy(&self) -> &Proxy {
        &self.proxy
    }

    /// The server, as the peer of a connection.
    pub(super) fn peer(&self, server_url: &str) -> Result<Peer<'_>, PaymentError> {
        check_time("connect_timeout", self.connect_timeout)?;
        let base_url = checked_base_url("server_url", server_url, &[])?;
        // The routes are appended to it and already begin with this path.
        if base_url.path().ends_with("/v1/") || base_url.path().contains("/v1/checkout") {
            let rule = "server_url must be the server's own address, without a route (/v1)";
            return Err(PaymentError::misconfigured(rule));
        }
        Ok(Peer {
            name: "checkout",
            way: self.proxy.way_to(&base_url)?,
            base_url,
            basic_token: None,
            extra_root_certificates: &self.extra_root_certificates,
            connect_timeout: self.connect_timeout,
            user_agent_suffix: self.user_agent_suffix.as_deref(),
        })
    }
}

// Validates a client token when it is set: a text that cannot be one is an error, and is not sent.

/// The prefix of every client token.
const PREFIX: &str = "ct_";

const ORIGIN: &str =
    "the shop's back end gets one for each checkout from the server (POST /v1/checkouts/{checkout}/tokens)";

/// The token, or the rule that it breaks. The error does not show the text: it may be the shop's own secret.
pub(super) fn checked_token(token: &str) -> Result<Secret, String> {
    let begins_with = |prefix: &str| token.trim_start().starts_with(prefix);
    let rule = if token.is_empty() {
        "must not be empty"
    } else if begins_with("ak_") {
        "must begin with ct_; this is an API key of the shop's (ak_), which no app may hold: revoke it"
    } else if begins_with("sk_") {
        "must begin with ct_; this is the key of one of the shop's people (sk_), which no app may hold: revoke it"
    } else if !token.starts_with(PREFIX) {
        "must begin with ct_"
    } else if !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        "must have no space, no line break and no character beyond ASCII in it"
    } else {
        return Ok(Secret::new(token));
    };
    Err(format!("client_token {rule}; {ORIGIN}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_client_token_error_hides_its_value() {
        for (token, rule) in [
            ("", "must not be empty"),
            (" ", "must begin with ct_; the shop"),
            ("ak_7_swordfish", "an API key"),
            ("\n ak_7_swordfish", "an API key"),
            ("sk_7_swordfish", "one of the shop's people"),
            ("swordfish", "must begin with ct_; the shop"),
            ("CT_swordfish", "must begin with ct_; the shop"),
            (" ct_swordfish", "must begin with ct_; the shop"),
            ("ct_swordfish\n", "no line break"),
            ("ct_sword fish", "no space"),
            ("ct_sw\u{43e}rdfish", "beyond ASCII"),
        ] {
            let said = checked_token(token).unwrap_err();
            assert!(said.starts_with("client_token ") && said.contains(rule), "{token:?}: {said}");
            assert!(!said.contains("fish"), "{said}");
        }
        assert_eq!(checked_token("ct_swordfish").unwrap().expose(), "ct_swordfish");
    }
}
