//! The payment methods, and small readers of JSON values and page URLs.

use std::time::Duration;

use serde_json::Value;
use url::Url;

/// No step of the server or the sandbox takes longer; only a bug reaches it.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A payment method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PayMethod {
    PayForm,
    Qr,
    Mbank,
}

impl PayMethod {
    pub(crate) const ALL: [Self; 3] = [Self::PayForm, Self::Qr, Self::Mbank];

    /// The name of the method at the server.
    pub(crate) fn method(self) -> &'static str {
        match self {
            Self::PayForm => "pay_form",
            Self::Qr => "qr",
            Self::Mbank => "mbank",
        }
    }

    /// The method in the name of a scenario.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::PayForm => "form",
            Self::Qr => "qr",
            Self::Mbank => "mbank",
        }
    }
}

/// A string without quotes, and anything else as JSON.
pub(crate) fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The gateway's number in the address of one of its pages.
pub(crate) fn token_of(page: &str) -> Option<String> {
    let url = Url::parse(page).ok()?;
    url.query_pairs().find(|(name, _)| name == "token").map(|(_, token)| token.into_owned())
}
