//! A shop on axum: [`shop`] at kassa-server, [`direct`] by the SDK alone, and the [`orders`] of both. `docs/frameworks/axum.md` shows it.
//! Its items are explained on that page.

#![allow(missing_docs)]

pub mod direct;
pub mod orders;
pub mod shop;

use axum::{
    http::StatusCode,
    response::{IntoResponse, Response},
};

// docs: begin failed
/// An error inside the shop. The answer is 503: the payer tries again, and the server sends its event again.
pub struct Failed(Box<dyn std::error::Error + Send + Sync>);

impl<E: Into<Box<dyn std::error::Error + Send + Sync>>> From<E> for Failed {
    fn from(error: E) -> Self {
        Self(error.into())
    }
}

impl IntoResponse for Failed {
    fn into_response(self) -> Response {
        eprintln!("failed: {}", self.0); // for the log alone: the answer does not say why
        StatusCode::SERVICE_UNAVAILABLE.into_response()
    }
}
// docs: end failed

/// A setting from the environment. It must be there.
pub(crate) fn setting(name: &str) -> Result<String, String> {
    std::env::var(name).map_err(|_| format!("the environment variable {name} is not set"))
}
